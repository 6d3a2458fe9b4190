/** `nccl-trace merge`: rank files in, one Perfetto trace and a short honest report out. */

import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { OutputError } from '../base/errors.js';
import { merge, type Progress } from '../merge.js';
import { reason } from '../merge/output.js';
import type { MergeReport } from '../merge/report.js';
import { addClockOptions } from './clock_options.js';
import { ExitCode } from './exit.js';
import { mergeReportText } from './merge_report.js';

interface Options {
  readonly output: string;
  readonly force?: true;
  readonly strict?: true;
  readonly summary?: string;
  readonly jobs?: number;
  readonly quiet?: true;
  readonly clock?: 'auto' | 'realtime';
  readonly clockAlike?: number;
}

const EXAMPLES = `Examples:
  $ nccl-trace merge rank*.bin -o run.pftrace        all ranks of a run, open it in ui.perfetto.dev
  $ nccl-trace merge nccl-trace/ -o run.pftrace.gz   a directory, compressed to be attached or mailed (or .zst)
  $ nccl-trace merge DIR -o - | gzip > run.gz        to the standard output
`;

export function mergeCommand(setExit: (code: ExitCode) => void): Command {
  const command = new Command('merge')
    .description('Merge the rank files of one run into one Perfetto trace.')
    .argument('<paths...>', 'rank files, or directories that hold them')
    .option(
      '-o, --output <file>',
      'the trace: .pftrace, .pftrace.gz, .pftrace.zst, or - for the standard output',
      'nccl.pftrace',
    )
    .option('-f, --force', 'replace an existing trace')
    .option('--strict', 'fail on a file that cannot be used; exit with 1 if the report names any problem')
    .option('--summary <file>', 'write what was found as JSON, - for the standard output (schemas/trace.md)')
    .option(
      '-j, --jobs <n>',
      'files worked on at once (default: by size, up to the processors there are)',
      positiveInteger,
    )
    .option('-q, --quiet', 'no report, no progress');
  return addClockOptions(command)
    .addHelpText('beforeAll', EXAMPLES)
    .action(async (paths: string[], options: Options) => {
      setExit(await run(paths, options));
    });
}

/** A job killed from outside, or Ctrl-C, takes what was in the making along. */
function interrupts(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      controller.abort();
    });
  }
  // Unhandled, the kernel ends us at a file size limit; handled, the write fails with EFBIG and is reported.
  process.on('SIGXFSZ' as NodeJS.Signals, () => undefined);
  return controller.signal;
}

async function run(inputs: readonly string[], options: Options): Promise<ExitCode> {
  const report = await merge({
    ...options,
    alike: options.clockAlike,
    inputs,
    stdout: process.stdout,
    interrupt: interrupts(),
    onProgress: options.quiet ? undefined : showProgress(),
  });
  if (!options.quiet) process.stderr.write(mergeReportText(report));
  if (options.summary !== undefined) await writeSummary(options.summary, report);
  return options.strict && hasProblems(report) ? ExitCode.problems : ExitCode.ok;
}

function hasProblems(report: MergeReport): boolean {
  const lossy = report.ranks.some(
    (rank) => rank.problems.length > 0 || Object.values(rank.lost).some((slots) => slots > 0),
  );
  return report.problems.length > 0 || report.missingRanks.length > 0 || lossy;
}

async function writeSummary(path: string, report: MergeReport): Promise<void> {
  const text = `${JSON.stringify(report, null, 2)}\n`;
  if (path === '-') {
    process.stdout.write(text);
    return;
  }
  try {
    await writeFile(path, text);
  } catch (error) {
    throw new OutputError(path, reason(error), 'the trace itself was written', { cause: error });
  }
}

/** One line that is rewritten, only where a person watches. */
function showProgress(): ((progress: Progress) => void) | undefined {
  if (!process.stderr.isTTY) return undefined;
  return ({ stage, done, total }) => {
    const last = stage === 'convert' && done === total;
    process.stderr.write(`\r\x1b[K${last ? '' : `${stage} ${done}/${total}`}`);
  };
}

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError('must be a whole number from 1 up.');
  return value;
}
