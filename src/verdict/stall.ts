/** The work that stopped in one communicator: a collective, its sends and receives, or calls that have not returned. */

import type { TraceNs } from '../base/time.js';
import type { Collective } from '../cluster/collective_view.js';
import type { FileWork } from './wait_chains.js';
import { cached, type Case } from './case.js';
import type { InsideCall, PendingWork } from '../model/pending.js';
import type { RankWitness } from './file_facts.js';
import { pausedIn } from './pauses.js';
import type { Hang, InCircle } from './types.js';

/** Times its communicator's longest collective or pause before. */
export const MUCH_LONGER = 2;

/** ns: no communicator waits for so long because its ranks are at work elsewhere. */
const NEVER_SEEN = 300e9;
/** Times what was longest before. */
const FAR_LONGER = 10;

export const farBeyond = (longestBefore: number, { hungAfter: asked }: Pick<Case, 'hungAfter'>): number =>
  Math.max(NEVER_SEEN, FAR_LONGER * longestBefore, asked ?? 0);

export const OTHER_SIDE: Readonly<Record<string, string>> = { Send: 'Recv', Recv: 'Send' };

/** ns, if no send or receive ever ended: a receive may be posted long before its send. */
export const TRANSFER_MAY_TAKE = 5e9;

export interface Stall {
  /** null: not reported. */
  readonly commId: bigint | null;
  readonly name: string;
  readonly nRanks: number;
  /** Files with the communicator, or that may have it (membersOf). */
  readonly files: readonly number[];
  /** null: sends/receives, or collectives of a communicator without an id. */
  readonly collective: Collective | null;
  /** Unfinished works of this collective. */
  readonly works: readonly FileWork[];
  /** Without works: when each rank called it. NCCL reports no more within a node without KernelCh, so all of them may be in it. */
  readonly called?: ReadonlyMap<number, number>;
  /** Threads inside an NCCL call that has not returned: nothing is enqueued yet. */
  readonly inside: readonly Inside[];
  /**
   * Files that never entered, although the call would have been recorded. For sends and receives: the other sides without unfinished work
   * here.
   */
  readonly absent: readonly number[];
  /** Processes of which only some ranks entered, with the ranks that did not. */
  readonly partlyAbsent: readonly { readonly file: number; readonly inComm: readonly number[] }[];
  /** Sends and receives of which the other side is known to have called fewer. */
  readonly unmatched?: Hang['unmatched'];
  /** Sends and receives that wait for each other. */
  readonly circle?: readonly InCircle[];
  /** Ranks that named a wrong peer. */
  readonly strayed?: readonly number[];
  readonly since: TraceNs;
  /** Newest sign of its files: the stall is known up to here. */
  readonly until: TraceNs;
  /** ns: longest finished collective or transfer of its communicator, with all its waiting. */
  readonly mayTake: number;
  /** ns: longest collective or pause of its communicator; likewise of transfers. */
  readonly longestBefore: number;
}

/** ns: how long it stood still, without the time in which its machines did. */
export const ageOf = ({ since, until, files }: Stall, ranks: readonly RankWitness[]): number =>
  until - since - pausedIn(files, since, until, ranks);

export interface Inside {
  readonly file: number;
  readonly call: InsideCall;
  /** The call returned, and its rank did nothing since. */
  readonly hasReturned: boolean;
}

/** Files whose pending work may have ended among the lost records. */
export function filesInDoubt(works: readonly FileWork[]): number[] {
  const surely = new Set(works.filter(({ work }) => work.lostSince === 0).map(({ file }) => file));
  return [...new Set(works.map(({ file }) => file))].filter((file) => !surely.has(file));
}

/** By file, the oldest work. */
export const firstWorks = cached(({ works }: Pick<Stall, 'works'>): ReadonlyMap<number, PendingWork> => {
  const first = new Map<number, PendingWork>();
  for (const { file, work } of works) {
    const known = first.get(file);
    if (!known || work.start < known.start) first.set(file, work);
  }
  return first;
});

/** By file, when it began the oldest work, or called what NCCL reports no work of. */
export const begunBy = cached(
  ({ works, called, inside }: Stall): ReadonlyMap<number, number> =>
    new Map([
      ...(called ?? []),
      ...inside.flatMap(({ file, call, hasReturned }) => (hasReturned ? [[file, call.at] as const] : [])),
      ...[...firstWorks({ works })].map(([file, { start }]) => [file, start] as const),
    ]),
);

/** Data may arrive before the kernel starts, so a receive in flight proves nothing. */
export const hasBegun = ({ blocks, hasMoved }: PendingWork): boolean => hasMoved || (blocks?.begun ?? 0) > 0;
