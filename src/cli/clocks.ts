/** `nccl-trace clocks`: how the hosts of a run are aligned, and how large the error can be. Writes no trace. */

import type { Command } from 'commander';
import { commandWith } from './help.js';
import { findClocks } from '../merge.js';
import { studyClocks } from '../shards/study_file.js';
import { clockTable } from '../report/clock_text.js';
import { addClockOptions } from './clock_options.js';
import { ExitCode } from './exit.js';
import { print, tellProblems } from './streams.js';
import { watched } from './watching.js';
import { addMemoryOption } from './memory_option.js';
import { addRunOptions, listsRuns } from './run_option.js';
import { studyIn } from './study_input.js';
import { studyOptions, type StudyFlags } from './study_options.js';

interface Options extends StudyFlags {
  readonly json?: true;
  readonly strict?: true;
  readonly quiet?: true;
}

const EXAMPLES = `Examples:
  $ nccl-trace clocks nccl-trace/            rate, bounds and evidence of each host
  $ nccl-trace clocks nccl-trace/ --json     the same for scripts (schemas/clocks.md)
`;

export function clocksCommand(setExit: (code: ExitCode) => void): Command {
  return addMemoryOption(
    addClockOptions(
      addRunOptions(
        commandWith('clocks', EXAMPLES)
          .description('Show how the hosts of a run are aligned, with the error.')
          .argument('<paths...>', 'rank files, their directories, or a .study')
          .option('--json', 'one JSON object')
          .option('--strict', 'exit with 1 if evidence contradicts itself or a host has none')
          .option('-q, --quiet', 'print the table and errors only'),
      ),
    ),
  ).action(async (paths: string[], options: Options) => {
    setExit(await run(paths, options));
  });
}

async function run(inputs: readonly string[], options: Options): Promise<ExitCode> {
  if (await listsRuns(inputs, options)) return ExitCode.ok;
  const study = studyIn(inputs, options);
  const found =
    study !== null
      ? studyClocks(study)
      : await watched(options.quiet, ({ interrupt, onProgress }) =>
          findClocks({ ...studyOptions(options), inputs, interrupt, onProgress }),
        );
  const { problems, unusable, ...report } = found;
  const { clocks, traffic } = report;
  tellProblems({ problems, unusable }, options.quiet);
  await print(
    options.json
      ? `${JSON.stringify({ version: 2, ...report }, null, 2)}\n`
      : clockTable({ clocks, traffic }),
  );
  const doubtful = (traffic?.leftOut.length ?? 0) > 0 || clocks.some(({ source }) => source === 'realtime');
  return options.strict && (doubtful || problems.length > 0) ? ExitCode.problems : ExitCode.ok;
}
