/**
 * `nccl-trace snapshot`: consistent copies of rank files that are being written, the newest there is, without stopping the
 * job. Also of a job that has died: where its rings are still in /dev/shm they are taken from there.
 */

import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';

import { NoUsableInput, OutputError, RankFileError } from '../base/errors.js';
import { findRankFiles, type Snapshot, takeSnapshot } from '../rankfile/index.js';
import { ExitCode } from './exit.js';
import { printable } from '../report/text.js';

interface Options {
  readonly output: string;
  readonly ringDir?: string;
  readonly strict?: true;
  readonly quiet?: true;
}

const EXAMPLES = `Examples, on the node of the job:
  $ nccl-trace snapshot nccl-trace/ -o snap     all rank files below nccl-trace/, as they are now
  $ nccl-trace merge snap -o run.pftrace
`;

export function snapshotCommand(setExit: (code: ExitCode) => void): Command {
  return new Command('snapshot')
    .description('Copy the rank files of a running or hung job, as they are now, without stopping it.')
    .argument('<paths...>', 'rank files, or directories that hold them')
    .requiredOption('-o, --output <folder>', 'where the copies go; made if it is not there')
    .option('--ring-dir <folder>', "the job's NCCL_TRACE_RING_DIR, if it was set")
    .option('--strict', 'exit with 1 if a file cannot be used or its newest records cannot be reached')
    .option('-q, --quiet', 'no words but errors')
    .addHelpText('before', EXAMPLES)
    .action((paths: string[], options: Options) => {
      setExit(run(paths, options));
    });
}

function run(paths: readonly string[], { output, ringDir, strict, quiet }: Options): ExitCode {
  const copies = paths.flatMap((from) => plan(from, output));
  const bases = ['/dev/shm', ...(ringDir === undefined ? [] : [path.resolve(ringDir)])];
  let done = 0;
  let clean = true;
  for (const { from, to } of copies) {
    try {
      const snapshot = copy(from, to, bases);
      done++;
      clean &&= snapshot.why === null;
      process.stdout.write(`${printable(to)}\n`);
      if (!quiet || (strict && snapshot.why !== null))
        process.stderr.write(`${printable(summary(from, snapshot))}\n`);
    } catch (error) {
      if (!(error instanceof RankFileError)) throw error;
      clean = false;
      process.stderr.write(`nccl-trace: ${printable(error.message)}\n`);
    }
  }
  if (done === 0) throw new NoUsableInput('no rank file could be copied');
  return strict && !clean ? ExitCode.problems : ExitCode.ok;
}

interface Copy {
  readonly from: string;
  readonly to: string;
}

/** Runs in folders stay in folders. */
function plan(input: string, output: string): Copy[] {
  const { files, problems } = findRankFiles([input]);
  for (const problem of problems) process.stderr.write(`nccl-trace: ${printable(problem)}\n`);
  const base = statSync(input).isDirectory() ? input : path.dirname(input);
  return files.map((from) => ({
    from,
    to: path.join(output, path.relative(base, from).replace(/\.rings$/, '')),
  }));
}

/** All of it or nothing. What is there is left alone, but for the beginning of a copy that was not finished. */
function copy(from: string, to: string, bases: readonly string[]): Snapshot {
  if (existsSync(to)) throw new OutputError(to, 'exists', 'name another folder');
  const part = `${to}.part`;
  try {
    mkdirSync(path.dirname(to), { recursive: true, mode: 0o700 });
    const snapshot = takeSnapshot(from, part, bases);
    renameSync(part, to);
    return snapshot;
  } catch (error) {
    rmSync(part, { force: true });
    if (error instanceof RankFileError) throw error;
    throw new OutputError(
      to,
      `cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      'name another folder',
      { cause: error },
    );
  }
}

function summary(from: string, { bytes, rings, why }: Snapshot): string {
  const which =
    why === null ? `rings from its ${rings}` : `rings from the ${rings}, which may be older: ${why}`;
  return `${from}: ${(bytes / 2 ** 20).toFixed(1)} MiB, ${which}`;
}
