/**
 * Which files fell silent before the run ended: not closed in order, not alive when they were read, and without a sign of life for
 * so long that heartbeats are missing. Killed, stuck, or copied earlier than the others: what the file does not tell, a picture
 * must not go on to show.
 */

import { domainOfFile, traceTimeOf, type ClockSolution } from '../../clocks/domains.js';
import { SILENT_AFTER } from '../absence.js';
import type { Run } from '../../runs/run.js';

/** By file. The run ends with the last sign of life of any file whose clock is related to its own. */
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
