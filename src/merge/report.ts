/**
 * What `merge` did and what the trace does not show, as plain data: the closing report prints it, `--summary` writes it
 * as JSON (schemas/trace.md). Numbers of the trace equal what trace_processor finds in it.
 */

import { hex64 } from '../base/hex.js';
import type { ClockSolution } from '../clocks/domains.js';
import type { BlockCounts } from '../perfetto/counts.js';
import { countArrows } from '../tracks/flow_census.js';
import type { ConvertResult } from './convert.js';
import type { Run, RunMember } from './run.js';
import type { LostSlots, OpenWorkSummary } from './scan.js';

export interface TraceCounts {
  readonly slices: number;
  readonly openSlices: number;
  readonly instants: number;
  readonly counterSamples: number;
  readonly states: number;
  readonly flows: number;
  readonly tracks: number;
  readonly processes: number;
}

export interface RankReport {
  readonly rank: number | null;
  readonly file: string;
  readonly host: string;
  readonly pid: number;
  readonly life: string;
  /** ns since the Unix epoch, decimal; null when no heartbeat was written. */
  readonly lastHeartbeat: string | null;
  readonly records: number;
  /** Repeats counted instead of recorded. */
  readonly folded: number;
  readonly muted: number;
  /** Slots by cause. */
  readonly lost: LostSlots;
  /** Records of events that began before the ring's window. */
  readonly beganBefore: number;
  /** States and stops of stopped or foreign events, and states a step had already left. */
  readonly strayRecords: number;
  readonly unknown: Readonly<Record<string, number>>;
  readonly suspectKernels: number;
  /** Records drawn at the time of a later one that stands before them in their ring. */
  readonly reordered: number;
  readonly work: { readonly complete: number; readonly open: number; readonly notRecorded: number };
  readonly open: readonly OpenWork[];
  readonly problems: readonly string[];
}

export interface OpenWork {
  readonly comm: string;
  readonly func: string;
  readonly seq: number | null;
}

export interface ClockReport {
  readonly domain: string;
  readonly host: string;
  readonly ranks: readonly (number | null)[];
  readonly source: string;
  /** ns; null: unbounded. */
  readonly hardBound: number | null;
  readonly bound99: number | null;
  readonly driftPpm: number;
  readonly realtimeResidualNs: number;
  readonly flags: readonly string[];
}

export interface MergeReport {
  readonly version: 1;
  readonly output: string;
  readonly bytes: number;
  readonly worldSize: number;
  readonly missingRanks: readonly number[];
  /** ns since the Unix epoch, decimal. */
  readonly traceStart: string;
  readonly durationNs: number;
  readonly records: number;
  readonly trace: TraceCounts;
  readonly ranks: readonly RankReport[];
  readonly clocks: readonly ClockReport[];
  /** Whole sentences, files that could not be used first. */
  readonly problems: readonly string[];
}

export function countTrace(blocks: readonly ConvertResult[], cluster: BlockCounts): TraceCounts {
  const sum = (
    field: 'slices' | 'openSlices' | 'instants' | 'counterSamples' | 'states' | 'tracksWithData',
  ): number => blocks.reduce((total, block) => total + block.counts[field], cluster[field]);
  return {
    slices: sum('slices'),
    openSlices: sum('openSlices'),
    instants: sum('instants'),
    counterSamples: sum('counterSamples'),
    states: sum('states'),
    flows: countArrows(blocks.flatMap((block) => block.flows)),
    tracks: sum('tracksWithData'),
    processes: blocks.length,
  };
}

export function reportRank({ scan, rank }: RunMember, block: ConvertResult): RankReport {
  const lost = { overwritten: 0, dropped: 0, torn: 0, copy: 0 };
  let muted = 0;
  for (const ring of scan.rings) {
    lost.overwritten += ring.lost.overwritten;
    lost.dropped += ring.lost.dropped;
    lost.torn += ring.lost.torn;
    lost.copy += ring.lost.copy;
    muted += ring.muted;
  }
  return {
    rank,
    file: scan.path,
    host: scan.header.hostName,
    pid: scan.header.process.pid,
    life: scan.header.life,
    lastHeartbeat: scan.heartbeat?.realtime.toString() ?? null,
    records: scan.records,
    folded: scan.folded,
    muted,
    lost,
    beganBefore: scan.unplaced.beganBefore,
    strayRecords: scan.unplaced.afterStop + scan.unplaced.foreign + scan.unplaced.repeatedStates,
    unknown: Object.fromEntries([
      ...scan.unplaced.unknownStates,
      ...[...scan.unplaced.unknownKinds].map(([kind, count]) => [`record kind ${kind}`, count] as const),
    ]),
    suspectKernels: block.suspectKernels,
    reordered: block.reordered,
    work: countWork(scan.workEnds.map((end) => end.outcome)),
    open: scan.openWork.map(openWork),
    problems: scan.problems.map(({ what, count }) => (count === 1 ? what : `${what} (${count} times)`)),
  };
}

function countWork(outcomes: readonly string[]): RankReport['work'] {
  const complete = outcomes.filter((outcome) => outcome === 'complete').length;
  const open = outcomes.filter((outcome) => outcome === 'open').length;
  return { complete, open, notRecorded: outcomes.length - complete - open };
}

function openWork({ comm, func, seq }: OpenWorkSummary): OpenWork {
  return { comm: comm === null ? 'unknown' : comm.name || hex64(comm.commId), func, seq };
}

export function reportClocks(solution: ClockSolution, run: Run): ClockReport[] {
  return solution.domains.map((domain) => {
    const segment = domain.map.segments[0];
    const finite = (bound: number | undefined): number | null =>
      bound !== undefined && Number.isFinite(bound) ? bound : null;
    return {
      domain: domain.name,
      host: domain.hostName,
      ranks: domain.files.map((file) => run.members[file]?.rank ?? null),
      source: segment?.source ?? 'none',
      hardBound: finite(segment?.hardBound),
      bound99: finite(segment?.bound99),
      driftPpm: (segment?.drift ?? 0) * 1e6,
      realtimeResidualNs: domain.realtimeResidual,
      flags: segment?.flags ?? [],
    };
  });
}
