/** The clocks of a run as plain data, with their maps: from ticks of a file to times of the trace, with their errors, piece by piece. */

import type { ClockSegment } from '../clocks/clock_map.js';
import type { FoundClocks } from '../clocks/evidence/run_clocks.js';
import type { Run } from '../runs/run.js';
import { reportClocks, reportTraffic, type ClockReport, type TrafficReport } from './clock_report.js';

/** What `nccl-trace clocks --json` prints. */
export interface ClocksReport {
  /** ns since the Unix epoch, decimal text. Maps give times after it. */
  readonly traceStart: string;
  readonly clocks: readonly ClockReport[];
  readonly traffic: TrafficReport | null;
  readonly maps: readonly ClockMapReport[];
}

/** Time after the trace's start = local + offsetNs + driftPpm * 1e-6 * (local - fromNs), rounded to whole ns. */
export interface ClockPiece {
  /** The first piece has no start and the last one no end. */
  readonly fromNs: number;
  /** null: it ends with the recording. */
  readonly toNs: number | null;
  readonly offsetNs: number;
  readonly driftPpm: number;
  /** Bound of |error| against the group's domain, ns; null: unbounded. */
  readonly hardBound: number | null;
  readonly bound99: number | null;
}

export interface ClockMapReport {
  /** As in `clocks[]`. */
  readonly domain: string;
  /** local = offsetNs + ticks * nsPerTick, ticks counted from the file's tick base. */
  readonly files: readonly {
    readonly ranks: readonly number[];
    readonly tickBase: string;
    readonly offsetNs: number;
    readonly nsPerTick: number;
  }[];
  readonly pieces: readonly ClockPiece[];
}

export function reportAllClocks(found: FoundClocks, run: Run): ClocksReport {
  return {
    traceStart: String(found.solution.traceStart),
    clocks: reportClocks(found, run),
    traffic: reportTraffic(found),
    maps: reportMaps(found, run),
  };
}

/** One per clock domain, in their order. */
function reportMaps({ solution }: FoundClocks, run: Run): ClockMapReport[] {
  return solution.domains.map(({ name, files, map }) => ({
    domain: name,
    files: files.map((file) => {
      const { offset, nsPerTick } = solution.scales[file]!;
      const { ranks, scan } = run.members[file]!;
      return { ranks, tickBase: String(scan.header.tickBase), offsetNs: offset, nsPerTick };
    }),
    pieces: map.segments.map(pieceOf),
  }));
}

const pieceOf = ({ from, to, offset, drift, hardBound, bound99 }: ClockSegment): ClockPiece => ({
  fromNs: from,
  toNs: finite(to),
  offsetNs: offset,
  driftPpm: drift * 1e6,
  hardBound: finite(hardBound),
  bound99: finite(bound99),
});

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
