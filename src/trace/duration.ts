import { maxOf } from '../base/extremes.js';
import { traceTimeOf, type ClockSolution } from '../clocks/domains.js';
import type { Run } from '../runs/run.js';

/** ns from the trace's start to the last record or heartbeat of any rank. */
export function runDuration(run: Run, clocks: ClockSolution): number {
  const ends = run.members.map(({ scan }, file) => {
    const last = Math.max(0, scan.lastTick ?? 0, scan.heartbeat?.tick ?? 0);
    return traceTimeOf(clocks, file)(last);
  });
  return maxOf(ends, 0);
}
