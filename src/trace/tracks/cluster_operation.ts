/** What a lane of the cluster group shows, whatever kind of operation it is: a collective, or an AlltoAll of sends and receives. */

import { hex64 } from '../../base/hex.js';
import type { TraceNs } from '../../base/time.js';
import type { ClusterComm, Collective } from '../../cluster/collective_view.js';
import type { Args, ArgValue } from './sink.js';

/** A call whose lane is wanted, and what else is known of it. `seq`: -1: a send or receive. */
export type WantedCall = Pick<ClusterComm, 'commId'> &
  Pick<Collective, 'func' | 'seq' | 'ordinal'> & { readonly args: Args };

/** One slice on a lane. */
export interface Operation {
  readonly from: TraceNs;
  /** null: it stays open. */
  readonly until: TraceNs | null;
  readonly func: string;
  /** The name of an open one has it, too. */
  readonly number: number;
  readonly name: string;
  /** Called when it is drawn. */
  readonly args: () => Args;
  readonly correlation?: number;
  readonly isWanted: (wanted: WantedCall) => boolean;
}

export interface ClusterLabels {
  /** A file's rank in the job, as text. For a process with several ranks: the rank that is `inComm` in a communicator. */
  readonly rankOf: (file: number, inComm?: number, commId?: bigint) => string;
  /** Whether the files are on one clock, exact enough to show skew. */
  readonly comparable: (files: readonly number[]) => boolean;
  /** Error between times of two files near `at` (99 %), ns; 0 on one counter. */
  readonly clockBound: (fileA: number, fileB: number, at: TraceNs) => number;
  /** Whether a file ends although its rank may have gone on. */
  readonly isSilent: (file: number) => boolean;
  /** Ranks of the job, 0: not known. Used if NCCL did not report a communicator's size (before v4). */
  readonly worldSize: number;
}

export function commArgs({
  name,
  commId,
  nRanks,
}: Omit<ClusterComm, 'collectives' | 'files'>): [string, ArgValue][] {
  const args: [string, ArgValue][] = [];
  if (name !== '') args.push(['comm', name]);
  if (commId !== 0n) args.push(['commId', hex64(commId)]);
  if (nRanks > 0) args.push(['commSize', nRanks]);
  return args;
}

/** A number for SQL, except for several ranks or a path. */
export const numberOr = (rank: string): ArgValue => (/^\d+$/.test(rank) ? Number(rank) : rank);
