/** The rank that all others waited for most, if it is always the same one and cost enough to be worth a word. */

import type { ClusterComm, Collective } from '../cluster/types.js';
import { hex64 } from '../base/hex.js';
import type { TraceNs } from '../base/time.js';
import type { Case } from './case.js';
import type { Slowness } from './types.js';

/** Fewer collectives tell nothing of a habit. */
const FEWEST = 4;
/**
 * A rank is slow when all others waited for it alone for this share of the time, and the more the fewer were seen. Its longest wait
 * does not count: once is no habit.
 */
const shareOf = (collectives: number): number => 0.05 + 0.5 / collectives;
/** Besides, when most of what they waited for anyone's last steps was for it, */
const MOST_OF_WAITING = 0.5;
/** and when it came last more often than not. */
const MOST_OF_COLLECTIVES = 0.5;

interface Wait {
  readonly one: Collective;
  readonly from: number;
  readonly to: number;
  readonly bound: number;
}

interface Lateness {
  readonly slow: Slowness | null;
  /** The same as if the clocks were exact. */
  readonly nominal: Slowness | null;
}

/** `unresolved`: slow if the clocks were exact, and not by what they can tell. */
export function slowest(evidence: Case): { slow: Slowness | null; unresolved: Slowness | null } {
  const { comms, comparable } = evidence;
  const candidates = comms
    .filter(({ files }) => comparable(files))
    .flatMap((comm) => latenessIn(comm, evidence) ?? []);
  const costliest = (pick: (one: Lateness) => Slowness | null): Slowness | null =>
    candidates.reduce<Slowness | null>((a, one) => {
      const b = pick(one);
      return b !== null && (a === null || b.cost > a.cost) ? b : a;
    }, null);
  const slow = costliest((one) => one.slow);
  return { slow, unresolved: slow === null ? costliest((one) => one.nominal) : null };
}

function latenessIn(comm: ClusterComm, evidence: Case): Lateness | null {
  // Before the first one the ranks start up and connect, each in its own time.
  const size = sizeOf(comm, evidence);
  const whole = comm.collectives.filter((one) => isWhole(one, size)).slice(1);
  if (whole.length < FEWEST) return null;
  const bounds = boundsOf(comm, evidence.clockBound);
  return {
    slow: slownessOf(whole, comm, evidence, (one) => waitFor(one, bounds(one))),
    nominal: slownessOf(whole, comm, evidence, (one) => waitFor(one, 0)),
  };
}

/** Up to interface v3 NCCL does not tell it: then all that have files, if none is missing. Infinity: not known. */
function sizeOf({ nRanks, files, commId }: ClusterComm, { ranks, isWholeJob }: Case): number {
  if (nRanks > 0) return nRanks;
  const entries = files.flatMap((file) => [...ranks[file]!.communicators.values()]);
  return isWholeJob ? entries.filter((comm) => comm.commId === commId).length : Infinity;
}

/** By how much the last arrival can be misplaced against all others. Clocks are looked at piece by piece, not one by one. */
function boundsOf({ files }: ClusterComm, clockBound: Case['clockBound']): (one: Collective) => number {
  return ({ lastFile, lastArrival }) =>
    Math.max(0, ...files.map((file) => clockBound(file, lastFile, lastArrival)));
}

/** A rank is late by itself only while it has nothing under way: a collective's last ranks begin the next one last. */
function waitFor(one: Collective, bound: number): Wait {
  const { lastArrival, lastButOneArrival, lastIdle } = one;
  const from = Math.max(lastButOneArrival + bound, lastIdle.from);
  return { one, from, to: Math.max(from, Math.min(lastArrival, lastIdle.to)), bound };
}

/** By these clocks somebody was last. */
const isResolved = ({ one, bound }: Wait): boolean =>
  bound === 0 || one.lastButOneArrival + bound < one.lastArrival;

function slownessOf(
  whole: readonly Collective[],
  { name, commId, nRanks }: ClusterComm,
  { ranks }: Case,
  waitIn: (one: Collective) => Wait,
): Slowness | null {
  const byFile = new Map<number, Wait[]>();
  for (const one of whole) {
    const wait = waitIn(one);
    if (!isResolved(wait)) continue;
    byFile.set(one.lastFile, [...(byFile.get(one.lastFile) ?? []), wait]);
  }
  const latecomers = [...byFile].map(([file, waits]) => ({ file, waits, cost: inAll(waits) }));
  if (latecomers.length === 0) return null;
  const total = latecomers.reduce((sum, one) => sum + one.cost, 0);
  const { file, waits, cost } = latecomers.reduce((a, b) => (b.cost > a.cost ? b : a));
  const span = whole.at(-1)!.end! - whole[0]!.firstArrival;
  const worst = waits.reduce((a, b) => (b.to - b.from > a.to - a.from ? b : a));
  const isSlow =
    cost - (worst.to - worst.from) >= shareOf(whole.length) * span &&
    cost > MOST_OF_WAITING * total &&
    waits.length > MOST_OF_COLLECTIVES * whole.length;
  if (!isSlow) return null;
  const call = { func: worst.one.func, seq: worst.one.seq, ordinal: worst.one.ordinal };
  return {
    comm: name,
    commId: hex64(commId),
    nRanks,
    file,
    late: waits.length,
    of: whole.length,
    cost,
    span,
    worst: {
      commId: hex64(commId),
      comm: name,
      func: call.func,
      seq: call.seq,
      replay: call.ordinal,
      file,
      record: ranks[file]!.calls.entered(commId, call)?.record ?? '',
      at: worst.to as TraceNs,
      by: worst.to - worst.from,
    },
    clockBound: waits.reduce((most, { bound }) => Math.max(most, bound), 0),
  };
}

/** ns. Collectives that were begun together are waited for at the same time: that time counts once. */
function inAll(waits: readonly Wait[]): number {
  let sum = 0;
  let reached = -Infinity;
  for (const { from, to } of [...waits].sort((a, b) => a.from - b.from)) {
    sum += Math.max(0, to - Math.max(from, reached));
    reached = Math.max(reached, to);
  }
  return sum;
}

/** Nobody waits for the last rank of a Broadcast, nor the ranks of a Reduce for each other. */
const isForAll = ({ root }: Collective): boolean => root < 0;

const isWhole = (one: Collective, nRanks: number): boolean =>
  one.arrived === nRanks &&
  one.arrived > 1 &&
  one.end !== null &&
  one.open.length === 0 &&
  one.aborted.length === 0 &&
  isForAll(one);
