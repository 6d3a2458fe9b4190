/** The verdict without a trace: what `inspect` says of a directory in seconds. */

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRankFiles } from '../reader/index.js';
import type { Verdict } from '../verdict/types.js';
import { withWorkFolder } from './output.js';
import { study } from './study.js';
import { startWorkers } from './workers.js';

export interface Diagnosis {
  readonly verdict: Verdict;
  /** ns since the Unix epoch, decimal. */
  readonly traceStart: string;
  readonly worldSize: number;
  readonly missingRanks: readonly number[];
  /** What the verdict's file numbers mean. */
  readonly ranks: readonly { readonly rank: number | null; readonly host: string; readonly file: string }[];
  /** Files set aside, in whole sentences. */
  readonly problems: readonly string[];
}

/** Throws NoUsableInput. */
export async function diagnose(inputs: readonly string[]): Promise<Diagnosis> {
  const { files } = findRankFiles(inputs);
  const workers = startWorkers(undefined, files);
  try {
    return await withWorkFolder(join(tmpdir(), 'nccl-trace'), undefined, async (folder) => {
      const { run, clocks, verdict } = await study(workers, files, folder, {});
      return {
        verdict,
        traceStart: String(clocks.solution.traceStart),
        worldSize: run.worldSize,
        missingRanks: run.missing,
        ranks: run.members.map(({ scan, rank }) => ({ rank, host: scan.header.hostName, file: scan.path })),
        problems: run.problems,
      };
    });
  } finally {
    await workers.close();
  }
}
