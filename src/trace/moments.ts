/** When the verdict's findings happened: the times of its slices, and the time shown on the first screen. */

import { maxOf, minOf } from '../base/extremes.js';
import { foldRanks } from '../base/ranks.js';
import { durationText } from '../base/duration.js';
import type { TraceNs } from '../base/time.js';
import { lateSpans } from '../cluster/late_spans.js';
import type { ClusterComm, Collective } from '../cluster/types.js';
import type { Window } from './tracks/selection.js';
import type { VerdictMoment } from './tracks/verdict_track.js';
import type { Slowness, Verdict } from '../verdict/types.js';
import { inJob, jobRanks } from './job_ranks.js';
import type { Run } from '../runs/run.js';
import { stallOf } from '../verdict/evidence/suspects.js';

/** This many of a slow rank's longest waits are drawn. */
const MOST_WAITS = 10;

export interface Moments {
  /** In order of time, without overlap. */
  readonly all: readonly VerdictMoment[];
  /** Index of the moment on the first screen. */
  readonly main: number;
}

/** The requested part of the trace, ns. A budget does not shorten it. */
export interface Bounds {
  readonly from: number;
  readonly to: number;
}

export const boundsOf = ({ window }: { readonly window: Window }, duration: number): Bounds => ({
  from: Math.max(0, window.from),
  to: Math.max(0, Math.min(window.to, duration)),
});

export interface MomentsContext {
  readonly run: Run;
  readonly comms: readonly ClusterComm[];
  readonly bounds: Bounds;
}

/** `headline`: of the verdict, always for the whole run. */
export function momentsOf(
  verdict: Verdict,
  headline: string,
  { run, comms, bounds }: MomentsContext,
): Moments {
  const waits = verdict.kind === 'slow' && !verdict.slow.link ? waitsFor(verdict.slow, comms, bounds) : [];
  if (verdict.kind !== 'slow' || waits.length === 0) {
    const begin = beginOf(verdict);
    const from = begin > bounds.to ? bounds.from : Math.max(begin, bounds.from);
    const to = isOnce(verdict) ? Math.min(verdict.slow.to, bounds.to) : bounds.to;
    return { all: [{ from: at(from), to: at(Math.max(from, to)), headline }], main: 0 };
  }
  const { file, inComm, comm, commId } = verdict.slow;
  const rank = inJob(jobRanks(run))({ commId: BigInt(commId) }, inComm);
  const who = `rank ${foldRanks(rank === null ? run.members[file]!.ranks : [rank])}`;
  const all = waits.map(({ from, to, one }) => ({
    from: at(from),
    to: at(to),
    headline: `${who} late by ${durationText(to - from)} to ${one.func} seq ${one.seq} on ${comm || commId}`,
  }));
  const longest = waits.reduce((a, b, i) => (b.to - b.from > waits[a]!.to - waits[a]!.from ? i : a), 0);
  return { all, main: longest };
}

const at = (ns: number): TraceNs => Math.round(Math.max(0, ns)) as TraceNs;

/** A link stood still once. */
const isOnce = (verdict: Verdict): verdict is Extract<Verdict, { kind: 'slow' }> =>
  verdict.kind === 'slow' && verdict.slow.course === 'once' && verdict.slow.link !== null;

/** ns of the trace. A moment without a begin lasts all the time. */
function beginOf(verdict: Verdict): number {
  const stall = stallOf(verdict);
  if (stall) return stall.since;
  if (isOnce(verdict)) return verdict.slow.from;
  switch (verdict.kind) {
    case 'mismatch':
      return minOf(verdict.mismatch.ways.flatMap(({ entered }) => entered.map((one) => one.at)));
    case 'working':
      return verdict.working.end - verdict.working.stalledFor;
    case 'unclear': {
      const { idle, work, silent } = verdict.unclear;
      return idle?.since ?? work?.at ?? silent[0]?.lastSign ?? 0;
    }
    default:
      return 0;
  }
}

interface Wait {
  readonly from: number;
  readonly to: number;
  readonly one: Collective;
}

/** The longest times when all others waited for that rank alone and it had nothing pending. They do not overlap. */
function waitsFor(
  { file, inComm, commId, clockBound }: Slowness,
  comms: readonly ClusterComm[],
  bounds: Bounds,
): Wait[] {
  const all = comms
    .filter((comm) => comm.commId === BigInt(commId))
    .flatMap(({ collectives }) => collectives)
    .filter((one) => one.root < 0 && one.open.length === 0)
    .flatMap((one) =>
      lateSpans(one, clockBound)
        .filter(({ late }) => late.file === file && late.rank === inComm)
        .map(({ from, to }) => ({ one, from: Math.max(0, from), to })),
    )
    .filter(({ from, to }) => to > from && from >= bounds.from && to <= bounds.to)
    .sort((a, b) => b.to - b.from - (a.to - a.from));
  const longest: Wait[] = [];
  for (const wait of all) {
    if (longest.length === MOST_WAITS) break;
    if (longest.every(({ from, to }) => wait.to <= from || wait.from >= to)) longest.push(wait);
  }
  return longest.sort((a, b) => a.from - b.from);
}

/** Healthy collectives to show before the moment. */
const BEFORE = 8;
const MOST_BEFORE_NS = 60e9;
const DEFAULT_BEFORE_NS = 1e9;

/**
 * The time to show: from well before the moment to shortly after it. null: no such moment, so the whole run is shown. `commId`: the pace of
 * this communicator's collectives decides how long before the moment the view begins.
 */
export function viewAround(
  verdict: Verdict,
  { from, to }: VerdictMoment,
  { comms, commId, bounds }: { comms: readonly ClusterComm[]; commId: bigint | null; bounds: Bounds },
): readonly [from: number, to: number] | null {
  if (from <= bounds.from && to >= Math.round(bounds.to)) return null;
  const begins = comms
    .filter((comm) => commId === null || comm.commId === commId)
    .flatMap(({ collectives }) => collectives.map(({ firstArrival }) => firstArrival as number))
    .filter((begin) => begin < from)
    .sort((a, b) => b - a);
  const oldest = begins[Math.min(BEFORE, begins.length) - 1];
  const own = verdict.kind === 'slow' ? to - from : 0;
  const usual = oldest === undefined ? DEFAULT_BEFORE_NS : from - oldest;
  // Show an ended moment with its end and as much before it. Show the first part of one that lasts to the end of the run.
  const before = Math.min(MOST_BEFORE_NS, Math.max(own, usual));
  const near = signs(verdict).filter((sign) => Math.abs(sign - from) < MOST_BEFORE_NS);
  const first = minOf(
    near.map((sign) => sign - before / 10),
    from - 1.1 * before,
  );
  const last = maxOf(
    near.map((sign) => sign + before / 2),
    from + own + before / 2,
  );
  const view = [Math.max(bounds.from, first), Math.min(bounds.to, last)] as const;
  return view[1] > view[0] ? [Math.floor(view[0]), Math.floor(view[1])] : null;
}

/** The last signs of silent ranks. Heartbeats come once a second, so a last sign may be well before or after the moment. */
function signs(verdict: Verdict): number[] {
  const silent = verdict.kind === 'unclear' ? verdict.unclear.silent : (stallOf(verdict)?.silent ?? []);
  return silent.flatMap(({ lastSign }) => lastSign ?? []);
}
