/**
 * Names of ranks in tables, by their numbers in the job. If a process has several GPUs and the rank is not known, all its ranks are named.
 */

import { foldRanks } from '../base/ranks.js';
import type { Run } from './run.js';
import { jobRanks } from './job_ranks.js';

/** A number: one rank. "0-7": one of these, or all of them. null: not known. */
export type RankLabel = number | string | null;

export interface RankLabels {
  /** The ranks of a file. */
  readonly ofFile: (file: number) => RankLabel;
  /** The rank in the job of a communicator's rank. `file`: its file, if known. A negative rank is not known. */
  readonly inComm: (commId: bigint, rank: number, file: number | null) => RankLabel;
}

export function rankLabels(run: Run): RankLabels {
  const numbers = jobRanks(run);
  const ofFile = (file: number): RankLabel => {
    const { ranks } = run.members[file]!;
    return ranks.length === 1 ? ranks[0]! : ranks.length === 0 ? null : foldRanks(ranks);
  };
  const inComm = (commId: bigint, rank: number, file: number | null): RankLabel => {
    if (rank < 0) return null;
    const known = numbers.get(String(commId));
    const inJob = known === 'same' ? rank : known?.get(rank);
    return inJob ?? (file === null ? null : ofFile(file));
  };
  return { ofFile, inComm };
}
