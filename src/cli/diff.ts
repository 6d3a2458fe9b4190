/** `nccl-trace diff`: compares two runs, before and after a change, and prints what got slower or faster by more than noise. */

import { InvalidArgumentError, type Command } from 'commander';
import { commandWith } from './help.js';
import { UsageError } from '../base/errors.js';
import { diffOf, type RunDiff } from '../report/diff.js';
import { diffText } from '../report/diff_text.js';
import { addClockOptions } from './clock_options.js';
import { ExitCode } from './exit.js';
import { print, tellProblems } from './streams.js';
import { examineAny } from './study_input.js';
import type { StudyFlags } from './study_options.js';
import { addMemoryOption } from './memory_option.js';
import { addVerdictOptions } from './verdict_options.js';
import { watched } from './watching.js';

interface Options extends StudyFlags {
  readonly before?: string;
  readonly after?: string;
  readonly failOn?: number;
  readonly json?: true;
  readonly quiet?: true;
}

const EXAMPLES = `Examples:
  $ nccl-trace diff before/ after/                 what got slower or faster by more than noise
  $ nccl-trace diff before/ after/ --fail-on 10%   for a pipeline: exit with 1 if a number got worse by 10 %
`;

export function diffCommand(setExit: (code: ExitCode) => void): Command {
  const command = commandWith('diff', EXAMPLES)
    .description('Compare two runs: what got slower or faster by more than noise.')
    .argument('<before>', 'rank file, directory of rank files, or .study')
    .argument('<after>', 'the same for the run to compare with it')
    .option('--before <name>', 'which run of the first directory (default: the newest)')
    .option('--after <name>', 'which run of the second directory (default: the newest)')
    .option(
      '--fail-on <percent>',
      'exit with 1 if a number got worse by this much, beyond the noise',
      percentage,
    )
    .option('--json', 'one JSON object (schemas/report.md)')
    .option('--redact', 'replace names of hosts, communicators and files (host-1, comm-2...)')
    .option('-q, --quiet', 'print errors only: the exit code tells (--fail-on)');
  return addMemoryOption(addVerdictOptions(addClockOptions(command))).action(
    async (before: string, after: string, options: Options) => {
      setExit(await run(before, after, options));
    },
  );
}

function percentage(text: string): number {
  const value = /^(\d+(?:\.\d+)?) ?%?$/.exec(text)?.[1];
  if (value === undefined || Number(value) <= 0)
    throw new InvalidArgumentError('must be a percentage, as 5%.');
  return Number(value) / 100;
}

async function run(before: string, after: string, options: Options): Promise<ExitCode> {
  const diff = await watched(options.quiet, async (about) => {
    const of = (path: string, run: string | undefined) =>
      examineAny([path], { ...options, ...(run !== undefined && { run }) }, about);
    const first = await of(before, options.before);
    const second = await of(after, options.after);
    for (const { report } of [first, second]) tellProblems(report, options.quiet);
    return diffOf(first, second);
  });
  if (String(diff.before.files) === String(diff.after.files))
    throw new UsageError('both are the same run; --before and --after choose among the runs of a directory');
  if (options.json) await print(`${JSON.stringify(diff, null, 1)}\n`);
  else if (!options.quiet) await print(diffText(diff));
  return hasFailed(diff, options.failOn) ? ExitCode.problems : ExitCode.ok;
}

const hasFailed = ({ differences }: RunDiff, limit: number | undefined): boolean =>
  limit !== undefined &&
  differences.some(({ isWorse, change }) => isWorse && Math.abs(change ?? Infinity) >= limit);
