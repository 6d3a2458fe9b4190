/**
 * `nccl-trace snapshot`: consistent copies of rank files that are being written, with their newest records, without stopping the
 * job. If a job has died and its rings are still in /dev/shm, the copies include them.
 */

import { statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { commandWith } from './help.js';

import { sentenceText } from '../base/sentence.js';
import { NoUsableInput, RankFileError } from '../base/errors.js';
import { findRankFiles, type Snapshot, takeSnapshot } from '../rankfile/index.js';
import { ExitCode } from './exit.js';
import { interruptible } from './interrupts.js';
import { makeRankFile, refuseExisting } from './new_rank_files.js';
import { printable } from '../report/text.js';
import { complain } from './streams.js';

interface Options {
  readonly output: string;
  readonly ringDir?: string;
  readonly strict?: true;
  readonly quiet?: true;
}

const EXAMPLES = `Examples, on the node of the job:
  $ nccl-trace snapshot nccl-trace/ -o snap     all rank files below nccl-trace/
  $ nccl-trace merge snap -o run.pftrace
`;

export function snapshotCommand(setExit: (code: ExitCode) => void): Command {
  return commandWith('snapshot', EXAMPLES)
    .description('Copy the rank files of a running or hung job.')
    .argument('<paths...>', 'rank files, or directories that hold them')
    .requiredOption('-o, --output <folder>', 'folder for the copies; created if it does not exist')
    .option('--ring-dir <folder>', "the job's NCCL_TRACE_RING_DIR, if it was set")
    .option('--strict', 'exit with 1 if a file cannot be used or its newest records cannot be reached')
    .option('-q, --quiet', 'print errors only')
    .action(async (paths: string[], options: Options) => {
      setExit(await interruptible((interrupt) => run(paths, options, interrupt)));
    });
}

async function run(
  paths: readonly string[],
  { output, ringDir, strict, quiet }: Options,
  interrupt: AbortSignal,
): Promise<ExitCode> {
  const copies = paths.flatMap((from) => plan(from, output));
  for (const { to } of copies) refuseExisting(to);
  const bases = ['/dev/shm', ...(ringDir === undefined ? [] : [path.resolve(ringDir)])];
  let done = 0;
  let clean = true;
  for (const { from, to } of copies) {
    try {
      const snapshot = await makeRankFile(to, interrupt, (draft) => takeSnapshot(from, draft, bases));
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
  for (const problem of problems) complain(sentenceText(problem));
  const base = statSync(input).isDirectory() ? input : path.dirname(input);
  return files.map((from) => ({
    from,
    to: path.join(output, path.relative(base, from).replace(/\.rings$/, '')),
  }));
}

function summary(from: string, { bytes, rings, why }: Snapshot): string {
  const which =
    why === null ? `rings from its ${rings}` : `rings from the ${rings}, which may be older: ${why}`;
  return `${from}: ${(bytes / 2 ** 20).toFixed(1)} MiB, ${which}`;
}
