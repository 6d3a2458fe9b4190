/**
 * Ranks in the names of tracks. The UI shows a pinned track without its process, and the first screen has pinned tracks. So each track that
 * may be pinned names its rank: "rank 6 · ch00 recv from 7". Numbers are ranks of the job, as in the report. If the rank of the job is not
 * known, the name says "comm rank".
 */

import type { Communicator } from '../../model/recording.js';

export interface RankNames {
  /** The ranks of this process: "rank 6", "ranks 0-7". */
  readonly own: string;
  /** The rank in the job of a rank of a communicator; null: not known. */
  readonly inJob: (comm: NamedRanks, rank: number) => number | null;
}

type NamedRanks = Pick<Communicator, 'commId'>;

/** "rank 6", "comm rank 2". If the communicator is not known: the process's name. */
export const rankName = (names: RankNames, comm: (NamedRanks & Pick<Communicator, 'rank'>) | null): string =>
  comm === null ? names.own : withRank(names.inJob(comm, comm.rank), comm.rank);

/** "7", "comm rank 3" */
export function peerName({ inJob }: RankNames, comm: NamedRanks | null, peer: number): string {
  const rank = comm && inJob(comm, peer);
  return rank === null ? `comm rank ${peer}` : String(rank);
}

/** "rank 6 · collectives" */
export const titleOf = (owner: string, name: string): string => `${owner} · ${name}`;

const withRank = (rank: number | null, inComm: number): string =>
  rank === null ? `comm rank ${inComm}` : `rank ${rank}`;
