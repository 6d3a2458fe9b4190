/**
 * Ranks that called what most others never called, while these go on: they left the communicator, or work elsewhere. Most ranks are right,
 * so the few are the odd ones, not those for which they wait. A process that exits without ncclCommDestroy does not go on: an error may
 * have ended it.
 */

import { leftAt } from './absence.js';
import type { Case } from './case.js';
import { isElsewhere } from './is_hang.js';
import { begunBy, type Stall } from './stall.js';

/** Files; empty: there are none, or it is not known of all others that they did not call it. */
export function aloneIn(stall: Stall, { ranks }: Case): number[] {
  const { collective, inside, absent, partlyAbsent, commId, nRanks } = stall;
  const isTransfer = collective === null && !inside.some(({ call }) => !call.isTransfer);
  const called = new Set([...begunBy(stall).keys(), ...inside.map(({ file }) => file)]);
  const isFew = 2 * called.size < nRanks && called.size + absent.length === nRanks;
  if (isTransfer || !isFew || partlyAbsent.length > 0) return [];
  const goesOn = (file: number): boolean =>
    leftAt(commId, ranks[file]!) !== null || isElsewhere(file, stall, ranks);
  return absent.every(goesOn) ? [...called].sort((a, b) => a - b) : [];
}
