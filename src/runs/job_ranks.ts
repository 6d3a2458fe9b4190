/**
 * Maps a communicator's ranks to ranks of the job, as far as the files show. NCCL numbers each communicator's ranks from 0; people know
 * those of the job.
 */

import { entryOf } from '../base/grouped.js';
import type { Run } from './run.js';

/**
 * By commId in decimal. Absent: not known. 'same': the communicator has all ranks of the job with the same numbers. This is usual, and
 * needs no large map. Else rank in the communicator → rank in the job, for ranks with files.
 */
export type JobRanks = ReadonlyMap<string, 'same' | ReadonlyMap<number, number>>;

export function jobRanks({ members, worldSize }: Pick<Run, 'members' | 'worldSize'>): JobRanks {
  const known = new Map<string, Map<number, number>>();
  const sizes = new Map<string, number>();
  for (const { scan, rank, ranks } of members) {
    for (const { commId, rank: inComm, nRanks } of scan.communicators) {
      if (commId === 0n) continue; // its id is not known
      const key = String(commId);
      sizes.set(key, nRanks);
      const numbers = entryOf(known, key, () => new Map<number, number>());
      // If a process has several GPUs, its rank is not known, unless the communicator has all ranks of the job.
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

/** The rank in the job of a rank of a communicator; null: not known. */
export const inJob =
  (ranks: JobRanks) =>
  ({ commId }: { readonly commId: bigint }, rank: number): number | null => {
    const numbers = ranks.get(String(commId));
    return numbers === 'same' ? rank : (numbers?.get(rank) ?? null);
  };

/** The part that one file needs. */
export const jobRanksOf = (
  ranks: JobRanks,
  communicators: Iterable<{ readonly commId: bigint }>,
): JobRanks => {
  const keys = new Set([...communicators].map(({ commId }) => String(commId)));
  return new Map([...ranks].filter(([key]) => keys.has(key)));
};
