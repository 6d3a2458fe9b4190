/**
 * Ranks in the names of tracks. The UI shows a pinned track without its process, and the first screen is made of pinned tracks, so
 * each track that may be pinned says whose it is: "rank 6 · ch00 recv from 7". All numbers are ranks of the job, as in the report;
 * where one is not known, the rank in the communicator stands there and is called so.
 */

import type { Communicator } from '../../model/recording.js';

export interface RankNames {
  /** The ranks of this process: "rank 6", "ranks 0-7". */
  readonly own: string;
  /** The rank in the job of a rank of a communicator; null: not known. */
  readonly inJob: (comm: NamedRanks, rank: number) => number | null;
}

type NamedRanks = Pick<Communicator, 'commId'>;

/** "rank 6", "comm rank 2"; of no known communicator whatever the process is called. */
export const rankName = (names: RankNames, comm: (NamedRanks & Pick<Communicator, 'rank'>) | null): string =>
  comm === null ? names.own : withWord(names.inJob(comm, comm.rank), comm.rank);

/** "7", "comm rank 3" */
export function peerName({ inJob }: RankNames, comm: NamedRanks | null, peer: number): string {
  const rank = comm && inJob(comm, peer);
  return rank === null ? `comm rank ${peer}` : String(rank);
}

/** "rank 6 · collectives" */
export const titleOf = (owner: string, name: string): string => `${owner} · ${name}`;

const withWord = (rank: number | null, inComm: number): string =>
  rank === null ? `comm rank ${inComm}` : `rank ${rank}`;
