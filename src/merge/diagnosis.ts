/** The verdict without a trace: what `inspect` says of a directory in seconds. */

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRankFiles } from '../reader/index.js';
import type { Verdict } from '../verdict/types.js';
import { withWorkFolder } from './output.js';
import { severalRanks } from './run.js';
import { study, type RunOptions } from './study.js';
import { startWorkers } from './workers.js';

export interface Diagnosis {
  readonly verdict: Verdict;
  /** ns since the Unix epoch, decimal. */
  readonly traceStart: string;
  readonly worldSize: number;
  readonly missingRanks: readonly number[];
  /** What the verdict's file numbers mean. */
  readonly ranks: readonly {
    readonly rank: number | null;
    /** Of a process with several GPUs: all that it was. */
    readonly ranks?: readonly number[];
    readonly host: string;
    readonly file: string;
  }[];
  /** Files set aside, in whole sentences. */
  readonly problems: readonly string[];
}

export interface DiagnosisOptions extends RunOptions {
  /** Ends it with `Interrupted`; nothing is left behind. */
  readonly interrupt?: AbortSignal | undefined;
  readonly onScanned?: ((total: number) => void) | undefined;
}

/** Throws NoUsableInput, UsageError. */
export async function diagnose(
  inputs: readonly string[],
  options: DiagnosisOptions = {},
): Promise<Diagnosis> {
  const { files } = findRankFiles(inputs);
  const workers = startWorkers(undefined, files, options.interrupt);
  try {
    return await withWorkFolder(join(tmpdir(), 'nccl-trace'), options.interrupt, async (folder) => {
      const { run, clocks, verdict } = await study(workers, files, folder, options);
      return {
        verdict,
        traceStart: String(clocks.solution.traceStart),
        worldSize: run.worldSize,
        missingRanks: run.missing,
        ranks: run.members.map(({ scan, rank, ranks }) => ({
          rank,
          ...severalRanks(ranks),
          host: scan.header.hostName,
          file: scan.path,
        })),
        problems: run.problems,
      };
    });
  } finally {
    await workers.close();
  }
}
