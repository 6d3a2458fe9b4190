/** All evidence for the judge, and what is commonly derived from it. */

import { hex64 } from '../base/hex.js';
import type { TraceNs } from '../base/time.js';
import type { Comparable } from '../clocks/comparable.js';
import type { ComparedLink, Stops } from '../cluster/connections.js';
import type { LinkFault } from '../cluster/link_faults.js';
import type { ClusterComm, Collective } from '../cluster/collective_view.js';
import type { PendingWork } from '../model/pending.js';
import type { Communicator } from '../model/recording.js';
import type { RankWitness } from './file_facts.js';
import type { CallName, Evidence, Mismatch, ProcessState } from './types.js';

/** What is known of the run. */
export interface Facts extends Comparable {
  readonly comms: readonly ClusterComm[];
  /** By file. */
  readonly ranks: readonly RankWitness[];
  readonly linkFaults: readonly LinkFault[];
  /** By connection. */
  readonly longestSends: readonly LongestSend[];
  /** Every rank of the job has a file, as far as the number of ranks is known. */
  readonly isWholeJob: boolean;
  /** Age from which a stall of live ranks is a hang, ns; null: 30 s, or twice its communicator's longest time. */
  readonly hungAfter: number | null;
}

/** The send of a connection that was on the wire longest. */
export interface LongestSend extends Pick<
  ComparedLink,
  'commId' | 'file' | 'source' | 'peerFile' | 'channel'
> {
  readonly from: TraceNs;
  readonly to: TraceNs;
  readonly step: number;
  /** ns: half of its sends took longer. */
  readonly medianNs: number;
  readonly stops: Stops;
}

/** With the state of each file. */
export interface Case extends Facts {
  readonly processes: readonly ProcessState[];
  /** Silent ranks without which the others went on in another communicator. */
  readonly leftBehind: ReadonlySet<number>;
}

/** Keeps the result for each key, because such a function is called often and reads the whole run. */
export function cached<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    let found = known.get(key);
    if (!found) known.set(key, (found = { value: make(key) }));
    return found.value;
  };
}

export function endOfRun(ranks: readonly RankWitness[]): TraceNs {
  return lastSignOf(
    ranks.map((_, file) => file),
    ranks,
  );
}

/** Files may have been copied one after the other while the job ran, so each only covers its own time. */
export function lastSignOf(files: readonly number[], ranks: readonly RankWitness[]): TraceNs {
  let end = 0;
  for (const file of files) {
    const { life, pace } = ranks[file]!;
    for (const at of [life.lastSign ?? 0, ...pace.lastMove.values()]) end = Math.max(end, at);
  }
  return end as TraceNs;
}

/** Time up to which the stall is known: rings outside a file were copied before its newest heartbeat. */
export function knownUntilOf(files: readonly number[], ranks: readonly RankWitness[]): TraceNs {
  let end = 0;
  for (const file of files) {
    const { life, reach, pace } = ranks[file]!;
    for (const at of [Math.min(life.lastSign ?? 0, reach.knownUntil), ...pace.lastMove.values()])
      end = Math.max(end, at);
  }
  return end as TraceNs;
}

/** ns: NCCL sets up a communicator on all ranks together. Its ranks report it within this time. */
const SET_UP_WITHIN = 1e9;

/**
 * ns: how much later `until` of `file` is than `at` of `other`, at least. If no clock relates the two, both times count from the set-up of
 * a communicator they share. -Infinity: not known.
 */
export function laterBy(
  [file, until]: readonly [number, number],
  [other, at]: readonly [number, number],
  { ranks, comparable, clockBound }: Facts,
): number {
  if (comparable([file, other])) return until - at - clockBound(file, other, at as TraceNs);
  const its = setUps(ranks[other]!);
  for (const [commId, own] of setUps(ranks[file]!)) {
    const since = its.get(commId);
    if (since !== undefined) return until - own - (at - since) - SET_UP_WITHIN;
  }
  return -Infinity;
}

/** Communicator → when it was set up. */
const setUps = cached(
  ({ communicators }: RankWitness): ReadonlyMap<bigint, TraceNs> =>
    new Map(
      [...communicators.values()].flatMap(({ commId, init }) =>
        commId === 0n || init === null ? [] : [[commId, init] as const],
      ),
    ),
);

export function commOf(rank: RankWitness, { comm }: PendingWork): Communicator<TraceNs> | null {
  return comm === null ? null : (rank.communicators.get(comm) ?? null);
}

export function callName(
  { file, work }: { readonly file: number; readonly work: PendingWork },
  ranks: readonly RankWitness[],
): CallName & Evidence {
  const comm = commOf(ranks[file]!, work);
  return {
    commId: comm === null || comm.commId === 0n ? null : hex64(comm.commId),
    comm: comm?.name ?? '',
    func: work.func,
    seq: work.seq,
    replay: work.seq === null ? 0 : work.ordinal,
    file,
    record: work.record,
    at: work.start,
  };
}

/** `call`: its number on the communicator, if it is known. */
export const mismatchOn = (
  { commId, name, nRanks }: { readonly commId: bigint; readonly name: string; readonly nRanks: number },
  what: Mismatch['what'],
  ways: Mismatch['ways'],
  call: number | null = null,
): Mismatch => ({ commId: hex64(commId), comm: name, nRanks, what, call, ways });

/** As this file called it. */
export const collectiveName = (
  { commId, name }: ClusterComm,
  { func, seq, ordinal }: Collective,
  file: number,
  ranks: readonly RankWitness[],
): CallName & Omit<Evidence, 'at'> => ({
  ...{ commId: hex64(commId), comm: name, func, seq, replay: ordinal, file },
  record: ranks[file]!.calls.entered(commId, { func, seq, ordinal })?.record ?? '',
});

/** 0: it never moved. */
export function lastMoveIn(commId: bigint, { communicators, pace }: RankWitness): number {
  let latest = 0;
  for (const [number, comm] of communicators)
    if (comm.commId === commId) latest = Math.max(latest, pace.lastMove.get(number) ?? 0);
  return latest;
}
