/** `nccl-trace report`: the whole report of a run, for people and for scripts. */

import { Command } from 'commander';
import { UsageError } from '../base/errors.js';
import { examine } from '../report/examine.js';
import { markdownOf } from '../report/markdown.js';
import { addClockOptions } from './clock_options.js';
import { ExitCode } from './exit.js';
import { interruptible } from './interrupts.js';
import { print } from './output.js';
import { addRunOptions, LIST, runList } from './run_option.js';
import { complain } from './streams.js';
import { addVerdictOptions } from './verdict_options.js';
import { whileWatched } from './watching.js';

interface Options {
  readonly json?: true;
  readonly markdown?: true;
  readonly quiet?: true;
  readonly run?: string;
  readonly redact?: true;
  readonly clock?: 'auto' | 'realtime';
  readonly clockAlike?: number;
  readonly clockWander?: number;
  readonly hungAfter?: number;
}

const EXAMPLES = `Examples:
  $ nccl-trace report RUN --markdown           for a ticket or a chat: at most 60 lines
  $ nccl-trace report RUN --json > run.json    for scripts (schemas/report.md)
`;

export function reportCommand(setExit: (code: ExitCode) => void): Command {
  const command = new Command('report')
    .description('Report on a run: the verdict, and the numbers of its ranks, collectives and links.')
    .argument('<paths...>', 'rank files, or directories that hold them')
    .option('--json', 'one JSON object (schemas/report.md)')
    .option('--markdown', 'for tickets and chats: at most 60 lines')
    .option('-q, --quiet', 'print errors only');
  return addVerdictOptions(addClockOptions(addRunOptions(command)))
    .addHelpText('before', EXAMPLES)
    .action(async (paths: string[], options: Options) => {
      setExit(await run(paths, options));
    });
}

async function run(inputs: readonly string[], options: Options): Promise<ExitCode> {
  if (options.run === LIST) {
    await print(runList(inputs, options));
    return ExitCode.ok;
  }
  if (options.json && options.markdown) throw new UsageError('--json and --markdown exclude each other');
  if (!options.json && !options.markdown) throw new UsageError('name a form: --markdown or --json');
  const note = options.quiet ? undefined : complain;
  const { report } = await interruptible((interrupt) =>
    whileWatched(options.quiet ?? false, (onProgress) =>
      examine(inputs, {
        ...{ run: options.run, redact: options.redact, hungAfter: options.hungAfter },
        ...{ clock: options.clock, alike: options.clockAlike, wander: options.clockWander },
        ...{ interrupt, onProgress, onWait: note },
      }),
    ),
  );
  for (const problem of report.problems) note?.(problem);
  await print(options.json ? `${JSON.stringify(report, null, 1)}\n` : markdownOf(report));
  return ExitCode.ok;
}
