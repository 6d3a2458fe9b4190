/**
 * Decides whether a foreign file may share the axis of a run, and where its times lie there. All that must hold is here: whose file it is,
 * whose clock it has, and that its NCCL kernels are the rank's collectives. Refusals are a closed list (refusal.ts).
 */

import type { TraceNs } from '../../base/time.js';
import type { Study } from '../../study/study.js';
import { runDuration } from '../../trace/duration.js';
import type { RunMember } from '../../runs/run.js';
import type { ForeignIdentity, ForeignTrace, NcclKernel } from './foreign_trace.js';
import { checkNumbers, remember, type Operations } from './numbered_work.js';
import { ourWorks, type OurWork, type OurWorks } from './our_works.js';
import { Refusal } from './refusal.js';
import { sameWork, type SameWork } from './same_work.js';
import { wallClock } from './wall_clock.js';

/** A file that may share the axis. */
export interface Admitted {
  readonly rank: number;
  /** Index of the rank's file in the run. */
  readonly file: number;
  /** Turns a time of its events (ns) into a time of the trace. */
  readonly time: (at: number) => TraceNs;
  readonly kernels: KernelFit;
  /** What the rank's file has of the same process. */
  readonly works: OurWorks;
  /** Row of an event → the arrow to our work. */
  readonly arrows: ReadonlyMap<number, bigint>;
}

export interface KernelFit extends Omit<SameWork, 'works'> {
  /** What was compared. */
  readonly by: OurWorks['by'];
  /** NCCL's kernels in the file. */
  readonly found: number;
  /** Matched or contradicted kernels that PyTorch numbers (`Seq`, `Comms Id`), and those of which the numbers say another collective. */
  readonly numbered: number;
  readonly contradicted: number;
  /** ns that its times were moved back, because the residual is steady. */
  readonly corrected: number;
}

/** The file is refused if a smaller share of the compared kernels are our works. */
const MOST = 0.9;
/** ns: a smaller residual is left alone. Kernels end some 10 µs before the proxy notices. */
const WORTH_MOVING = 100_000;
/** A residual is steady if half of the kernels are nearer to it than this, absolute and as a part of it. */
const STEADY_NS = 20_000;
const STEADY_PART = 0.1;

/** `path`: for messages. `asRank`: what the command line says. `operations`: of the files before this one. Throws Refusal. */
export function admit(
  path: string,
  trace: ForeignTrace,
  asRank: number | null,
  study: Study,
  operations: Operations,
): Admitted {
  const rank = rankOf(path, trace, asRank, study);
  const file = fileOf(path, trace, rank, study);
  const clock = wallClock(study, file);
  const shift = Number(trace.origin - study.clocks.solution.traceStart);
  const place = (at: number): TraceNs => clock(at + shift);
  checkTime(path, trace, place, study);
  const ours = ourWorks(study, file);
  const { by, works } = ours;
  const kernels = placedKernels(trace, by, place);
  const same = sameWork(kernels, works);
  const { works: matches, numbered, contradicted } = checkNumbers(kernels, same.works, works, operations);
  const { compared, residual, spread } = same;
  const matched = same.matched - contradicted;
  const fit = { by, compared, matched, residual, spread, numbered, contradicted };
  if (fit.matched < MOST * fit.compared) throw otherWork(path, trace, works, fit);
  remember(kernels, matches, works, operations);
  const corrected = fit.residual !== null && isSteady(fit.residual, fit.spread!) ? fit.residual : 0;
  return {
    rank,
    file,
    time: (at) => (place(at) - corrected) as TraceNs,
    kernels: { ...fit, found: trace.kernels.length, corrected },
    works: ours,
    arrows: arrowsOf(kernels, matches, works),
  };
}

/** In order of time. Kernels without a call have no time to compare if calls are compared. */
function placedKernels(
  { kernels, events }: ForeignTrace,
  by: OurWorks['by'],
  place: (at: number) => TraceNs,
): (NcclKernel & { readonly at: number })[] {
  const timed = kernels.flatMap((kernel) => {
    if (by === 'end') return [{ ...kernel, at: place(kernel.end) }];
    return kernel.call === null ? [] : [{ ...kernel, at: place(events.start(kernel.call)) }];
  });
  return timed.sort((a, b) => a.at - b.at);
}

function rankOf(
  path: string,
  { says }: ForeignTrace,
  asRank: number | null,
  { run: { members } }: Study,
): number {
  if (asRank !== null && says.rank !== null && asRank !== says.rank)
    throw new Refusal('rank-differs', {
      path,
      what: 'the file is of another rank',
      ...{ expected: `rank ${asRank}`, found: `rank ${says.rank}` },
      advice: `write --with ${says.rank}=${path}, or leave the rank out`,
    });
  const rank = asRank ?? says.rank;
  if (rank !== null) return rank;
  if (says.pid !== null) {
    const found = members.find((member) => isProcess(member, says));
    if (found?.ranks[0] !== undefined) return found.ranks[0];
    throw new Refusal('rank-unknown', {
      path,
      what: `process ${says.pid} is of no rank file here`,
      expected: members
        .slice(0, 4)
        .map(({ scan }) => scan.header.process.pid)
        .join(', '),
      advice: `say its rank if it is one of this run: --with RANK=${path}`,
    });
  }
  throw new Refusal('rank-unknown', {
    path,
    what: 'the file does not say of which rank it is',
    expected: '"distributedInfo" with "rank"',
    advice: `say it: --with RANK=${path}`,
  });
}

function fileOf(path: string, { says }: ForeignTrace, rank: number, { run }: Study): number {
  const { members, worldSize } = run;
  if (says.worldSize !== null && worldSize > 0 && says.worldSize !== worldSize)
    throw new Refusal('world-differs', {
      path,
      what: 'the file is of a job of another size',
      ...{ expected: `${worldSize} ranks`, found: says.worldSize },
      advice: 'name the files of this run',
    });
  const file = members.findIndex(({ ranks }) => ranks.includes(rank));
  if (file < 0)
    throw new Refusal('rank-absent', {
      path,
      what: `the run has no rank file of rank ${rank}`,
      advice: 'name its rank file, too, or leave this file out',
    });
  const { hostName } = members[file]!.scan.header;
  if (says.host !== null && hostName !== '' && shortHost(says.host) !== shortHost(hostName))
    throw new Refusal('host-differs', {
      path,
      what: `rank ${rank} ran on another host`,
      ...{ expected: hostName, found: says.host },
      advice: 'name the files of this run',
    });
  return file;
}

/** Where processes are numbered anew, as in containers, both tools must have run inside. */
const isProcess = ({ scan: { header } }: RunMember, { pid, host }: ForeignIdentity): boolean =>
  header.process.pid === pid &&
  (host === null || header.hostName === '' || shortHost(host) === shortHost(header.hostName));

const shortHost = (name: string): string => name.split('.')[0]!;

function checkTime(
  path: string,
  { origin, span }: ForeignTrace,
  place: (at: number) => TraceNs,
  { run, clocks: { solution } }: Study,
): void {
  const [from, to] = [place(span.from), place(span.to)];
  const duration = runDuration(run, solution);
  if (to >= 0 && from <= duration) return;
  throw new Refusal('other-time', {
    path,
    what: 'the file is of another time',
    expected: `${instant(solution.traceStart)} to ${instant(solution.traceStart + BigInt(Math.round(duration)))}`,
    found: `${instant(origin + BigInt(span.from))} to ${instant(origin + BigInt(Math.round(span.to)))}`,
    advice: 'name the files of this run',
  });
}

function instant(ns: bigint): string {
  const date = new Date(Number(ns / 1_000_000n));
  return Number.isNaN(date.getTime()) ? `${ns} ns` : date.toISOString();
}

const isSteady = (residual: number, spread: number): boolean =>
  Math.abs(residual) >= WORTH_MOVING && spread <= Math.max(STEADY_NS, STEADY_PART * Math.abs(residual));

function otherWork(
  path: string,
  { kernels }: ForeignTrace,
  works: readonly OurWork[],
  { matched, compared, contradicted }: Pick<KernelFit, 'matched' | 'compared' | 'contradicted'>,
): Refusal {
  const [expected, found] = [counted(works), counted(kernels)];
  return new Refusal('other-work', {
    path,
    what: `of ${compared} NCCL kernels only ${matched} are collectives of this rank, by name and time${contradicted > 0 ? `, ${contradicted} are others by "Seq" or "Comms Id"` : ''}`,
    // Ranks of one job call the same.
    ...(expected === found ? {} : { expected, found }),
    advice: 'name the files of this run, each with its own rank',
  });
}

/** "AllReduce f32 (60), SendRecv (12)" */
function counted(all: readonly { readonly func: string | null; readonly type: string | null }[]): string {
  const counts = new Map<string, number>();
  for (const { func, type } of all) {
    const name = [func ?? 'several', type].filter(Boolean).join(' ');
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, 4);
  return most.map(([name, count]) => `${name} (${count})`).join(', ') || 'none';
}

/** Arrows from calls and kernels to our works. */
function arrowsOf(
  kernels: readonly NcclKernel[],
  matches: SameWork['works'],
  works: readonly OurWork[],
): Map<number, bigint> {
  const arrows = new Map<number, bigint>();
  kernels.forEach(({ row, call }, i) => {
    const work = matches[i];
    const arrow = work === null || work === undefined ? null : works[work]!.arrow;
    if (arrow === null) return;
    arrows.set(row, arrow);
    if (call !== null) arrows.set(call, arrow);
  });
  return arrows;
}
