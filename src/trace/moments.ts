/** When the verdict's findings happened: the times of its slices, and the time shown on the first screen. */

import { maxOf, minOf } from '../base/extremes.js';
import { foldRanks } from '../base/ranks.js';
import { durationText } from '../base/duration.js';
import type { TraceNs } from '../base/time.js';
import type { ClusterComm } from '../cluster/collective_view.js';
import type { Window } from './tracks/selection.js';
import type { VerdictMoment } from './tracks/verdict_track.js';
import type { Lateness, Verdict } from '../verdict/types.js';
import { inJob, jobRanks } from '../runs/job_ranks.js';
import type { Run } from '../runs/run.js';
import { latenessOf, stallOf } from '../verdict/facts/suspects.js';

export interface Moments {
  /** The whole of what the verdict is about, with the headline. */
  readonly whole: VerdictMoment;
  /** A slow rank's longest waits within it, in order of time, without overlap. */
  readonly waits: readonly VerdictMoment[];
  /** The one on the first screen: the longest wait, else the whole. */
  readonly main: VerdictMoment;
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

/** `headline`: of the verdict, always for the whole run. */
export function momentsOf(
  verdict: Verdict,
  headline: string,
  { run, bounds }: { readonly run: Run; readonly bounds: Bounds },
): Moments {
  const [begin, end] = spanOf(verdict, bounds);
  const from = begin > bounds.to ? bounds.from : Math.max(begin, bounds.from);
  const whole = { from: at(from), to: at(Math.max(from, Math.min(end, bounds.to))), headline };
  const late = latenessOf(verdict);
  const longestFirst = late ? waitsFor(late, run, whole) : [];
  const waits = longestFirst.toSorted((a, b) => a.from - b.from);
  return { whole, waits, main: longestFirst[0] ?? whole };
}

/** The longest first. Narrow slices show only the beginning of their text. */
function waitsFor(late: Lateness, run: Run, whole: VerdictMoment): VerdictMoment[] {
  const { file, inComm, commId, taker } = late;
  const rank = inJob(jobRanks(run))({ commId: BigInt(commId) }, inComm);
  const who = `rank ${foldRanks(rank === null ? run.members[file]!.ranks : [rank])}`;
  const whom = taker?.node ? `the node of ${who}` : who;
  return late.longest
    .filter(({ from, to }) => from >= whole.from && to <= whole.to)
    .map(({ from, to, func, seq }) => ({
      ...{ from: at(from), to: at(to) },
      headline: `${durationText(to - from)} for ${whom}, ${func} seq ${seq}`,
    }));
}

const at = (ns: number): TraceNs => Math.round(Math.max(0, ns)) as TraceNs;

/** ns of the trace. A finding without an end lasts to the end of the recording. */
function spanOf(verdict: Verdict, bounds: Bounds): readonly [from: number, to: number] {
  if (verdict.kind !== 'slow') return [beginOf(verdict), bounds.to];
  const { slow } = verdict;
  const { from, to } = slow;
  if (slow.on === 'link') return slow.link.stopped?.times === 1 ? [from, to] : [0, bounds.to];
  const { course } = slow;
  const isFromBegin = course === 'always' || course === 'until';
  const isToEnd = course === 'always' || course === 'since';
  return [isFromBegin ? 0 : from, isToEnd ? bounds.to : to];
}

/** ns of the trace. A moment without a begin lasts all the time. */
function beginOf(verdict: Verdict): number {
  const stall = stallOf(verdict);
  if (stall) return stall.since;
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
  const own = to - from;
  const usual = oldest === undefined ? DEFAULT_BEFORE_NS : from - oldest;
  // As much before a wait as it took. A hang of a minute looks like a minute, with some of what was before.
  const before = Math.min(MOST_BEFORE_NS, Math.max(verdict.kind === 'slow' ? own : own / 10, usual));
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
