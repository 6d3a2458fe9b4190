/**
 * Which rank of the job a rank of a communicator is, as far as the files tell: NCCL numbers the ranks of each communicator from 0,
 * people know those of the job.
 */

import type { RankNames } from './tracks/rank_names.js';
import type { Run } from '../runs/run.js';

/**
 * By commId in decimal. Absent: not known. 'same': of all ranks of the job, which have the same numbers in both; by far the most
 * common, and as large as the job. Else rank in it → rank in the job, without those whose files are not here.
 */
export type JobRanks = ReadonlyMap<string, 'same' | ReadonlyMap<number, number>>;

export function jobRanks({ members, worldSize }: Pick<Run, 'members' | 'worldSize'>): JobRanks {
  const known = new Map<string, Map<number, number>>();
  const sizes = new Map<string, number>();
  for (const { scan, rank, ranks } of members) {
    for (const { commId, rank: inComm, nRanks } of scan.communicators) {
      if (commId === 0n) continue; // never told which it is
      const key = String(commId);
      sizes.set(key, nRanks);
      const numbers = known.get(key) ?? new Map<number, number>();
      known.set(key, numbers);
      // Of a process with several GPUs nothing tells which of its ranks this is, unless the communicator has all of the job.
      if (rank !== null && ranks.length === 1) numbers.set(inComm, rank);
    }
  }
  return new Map(
    [...known].map(([key, numbers]) => {
      const isSame = [...numbers].every(([inComm, inJob]) => inComm === inJob);
      return [key, sizes.get(key) === worldSize && isSame ? 'same' : numbers];
    }),
  );
}

export const inJob =
  (ranks: JobRanks): RankNames['inJob'] =>
  ({ commId }, rank) => {
    const numbers = ranks.get(String(commId));
    return numbers === 'same' ? rank : (numbers?.get(rank) ?? null);
  };

/** What one file needs of it. */
export const jobRanksOf = (
  ranks: JobRanks,
  communicators: Iterable<{ readonly commId: bigint }>,
): JobRanks => {
  const keys = new Set([...communicators].map(({ commId }) => String(commId)));
  return new Map([...ranks].filter(([key]) => keys.has(key)));
};
