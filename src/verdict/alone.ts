/**
 * Ranks that called what most others never called, while these go on: they left the communicator, or work elsewhere. Most ranks are right,
 * so the few are the odd ones, not those for which they wait. A process that exits without ncclCommDestroy does not go on: an error may
 * have ended it. A single rank is the odd one, too, if all others live and have nothing pending: it made one call too many.
 */

import { leftAt } from './absence.js';
import type { Case } from './case.js';
import { isElsewhere, isHang } from './is_hang.js';
import { begunBy, type Stall } from './stall.js';

/** Files; empty: there are none, or it is not known of all others that they did not call it. */
export function aloneIn(stall: Stall, evidence: Case): number[] {
  const { ranks, processes } = evidence;
  const { collective, inside, absent, partlyAbsent, commId, nRanks } = stall;
  const isTransfer = collective === null && !inside.some(({ call }) => !call.isTransfer);
  const called = new Set([...begunBy(stall).keys(), ...inside.map(({ file }) => file)]);
  const isFew = 2 * called.size < nRanks && called.size + absent.length === nRanks;
  if (isTransfer || !isFew || partlyAbsent.length > 0) return [];
  const goesOn = (file: number): boolean =>
    leftAt(commId, ranks[file]!) !== null || isElsewhere(file, stall, ranks);
  const isDone = (file: number): boolean => {
    const { works, inside: calls } = ranks[file]!.pending;
    return processes[file]!.state === 'alive' && works.length + calls.length === 0;
  };
  const isOneTooMany = called.size === 1 && absent.every(isDone) && isHang(stall, evidence);
  return isOneTooMany || absent.every(goesOn) ? [...called].sort((a, b) => a - b) : [];
}
