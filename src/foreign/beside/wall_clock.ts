/**
 * A host's wall clock (CLOCK_REALTIME) on the trace's axis. Other tools stamp with it. The recorder sampled it beside its own counter, so its
 * steps and slews do not move what others recorded: between two samples the clock is a line.
 */

import { firstIndex } from '../../base/first_index.js';
import { localNs, type TraceNs } from '../../base/time.js';
import { toTrace } from '../../clocks/clock_map.js';
import { domainOfFile, toLocal } from '../../clocks/domains.js';
import type { Study } from '../../study/study.js';

/** `at`: ns of REALTIME after the trace's start. Never decreases when `at` grows. */
export type WallClock = (at: number) => TraceNs;

/** ns: samples that took longer to read say too little. */
const WIDEST = 20_000;

/** The clock of the file's host. */
export function wallClock({ run, clocks: { solution } }: Study, file: number): WallClock {
  const { files, map } = domainOfFile(solution, file);
  const samples = files.flatMap((one) =>
    run.members[one]!.scan.clockSamples.map(({ tick, realtime, width }) => ({
      local: toLocal(solution.scales[one]!, tick),
      real: Number(realtime - solution.traceStart),
      width: width * solution.scales[one]!.nsPerTick,
    })),
  );
  const exact = samples.filter(({ width }) => width <= WIDEST);
  const sorted = (exact.length > 0 ? exact : samples).sort((a, b) => a.local - b.local);
  const points: { real: number; trace: number }[] = [];
  for (const { local, real } of sorted) {
    const trace = toTrace(map, localNs(local));
    const last = points.at(-1);
    // After a step back the same time comes twice. The first is believed.
    if (last === undefined || (real > last.real && trace > last.trace)) points.push({ real, trace });
  }
  return (at) => {
    const next = firstIndex(points.length, (i) => points[i]!.real > at);
    const from = points[Math.max(0, next - 1)]!;
    const to = points[next];
    const isBetween = to !== undefined && to !== from;
    const rate = isBetween ? (to.trace - from.trace) / (to.real - from.real) : 1;
    return Math.round(from.trace + (at - from.real) * rate) as TraceNs;
  };
}
