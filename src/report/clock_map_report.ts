/** The clocks of a run as plain data, with their maps: from ticks of a file to times of the trace, with their errors, piece by piece. */

import type { ClockSegment } from '../clocks/clock_map.js';
import type { FoundClocks } from '../clocks/evidence/run_clocks.js';
import type { Run } from '../runs/run.js';
import { reportClocks, reportTraffic } from './clock_report.js';

/** What `nccl-trace clocks --json` prints. */
export type ClocksReport = Readonly<ReturnType<typeof reportAllClocks>>;

export function reportAllClocks(found: FoundClocks, run: Run) {
  return {
    /** ns since the Unix epoch, decimal text. Maps give times after it. */
    traceStart: String(found.solution.traceStart),
    clocks: reportClocks(found, run),
    traffic: reportTraffic(found),
    maps: reportMaps(found, run),
  };
}

/** One per clock domain, in their order. */
function reportMaps({ solution }: FoundClocks, run: Run) {
  return solution.domains.map(({ name, files, map }) => ({
    /** As in `clocks[]`. */
    domain: name,
    /** local = offsetNs + ticks * nsPerTick, ticks counted from the file's tick base. */
    files: files.map((file) => {
      const { offset, nsPerTick } = solution.scales[file]!;
      const { ranks, scan } = run.members[file]!;
      return { ranks, tickBase: String(scan.header.tickBase), offsetNs: offset, nsPerTick };
    }),
    pieces: map.segments.map(pieceOf),
  }));
}

/** Time after the trace's start = local + offsetNs + driftPpm * 1e-6 * (local - fromNs), rounded to whole ns. */
const pieceOf = ({ from, to, offset, drift, hardBound, bound99 }: ClockSegment) => ({
  /** The first piece has no start and the last one no end. */
  fromNs: from,
  /** null: it ends with the recording. */
  toNs: finite(to),
  offsetNs: offset,
  driftPpm: drift * 1e6,
  /** Bound of |error| against the group's domain, ns; null: unbounded. */
  hardBound: finite(hardBound),
  bound99: finite(bound99),
});

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
