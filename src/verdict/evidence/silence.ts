/**
 * Files that fell silent before the run ended: not closed in order, not alive when read, and so old that heartbeats are missing. The
 * process was killed, is stuck, or the file was copied earlier than the others. A trace must not go on to show what the file does not say.
 */

import { domainOfFile, traceTimeOf, type ClockSolution } from '../../clocks/domains.js';
import { SILENT_AFTER } from '../absence.js';
import type { Run } from '../../runs/run.js';

/** By file. The run ends with the last sign of any file whose clock is related to its own. */
export function silentFiles(run: Run, clocks: ClockSolution, alive: readonly boolean[]): boolean[] {
  const domains = run.members.map((_, file) => domainOfFile(clocks, file));
  const signs = run.members.map(({ scan: { lastSign } }, file) =>
    lastSign === null ? -Infinity : traceTimeOf(clocks, file)(lastSign),
  );
  const ends = new Map<number, number>();
  domains.forEach(({ group }, file) => {
    ends.set(group, Math.max(ends.get(group) ?? -Infinity, signs[file]!));
  });
  return run.members.map(({ scan }, file) => {
    const isOver = scan.header.life === 'closed' || alive[file] === true;
    return !isOver && ends.get(domains[file]!.group)! - signs[file]! > SILENT_AFTER;
  });
}
