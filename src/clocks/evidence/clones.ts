/**
 * Machines copied while they ran, or started from one snapshot: they have one boot id, nearly one counter, and different host names. So
 * have containers of one host, which share a counter. A transfer between two of those names that would arrive before it was sent proves
 * clones: then each name has its own clock.
 */

import { toLocal, type ClockAxes, type ClockWitness } from '../domains.js';
import { STEP_ROW } from '../../scan/step_file.js';
import { isWaited } from './first_look.js';
import { joinTransfers, linksBetween, type StepSource } from './transfers.js';

/** Sums of ticks are rounded, and rates of two processes measured apart. */
const SURE_NS = 2000;

/** Returns the same witnesses; those of clones have the name of their machine. */
export function nameClones(
  sources: readonly StepSource[],
  witnesses: readonly ClockWitness[],
  { domainOf, scales }: ClockAxes,
): readonly ClockWitness[] {
  const hosts = witnesses.map(({ header }) => header.hostName);
  const links = linksBetween(sources, (a, b) => domainOf[a] === domainOf[b] && hosts[a] !== hosts[b]);
  const cloned = new Set<number>();
  const at = (file: number, tick: number): number => toLocal(scales[file]!, tick);
  joinTransfers(sources, links, ({ sender, receiver }, send, receive, agreement) => {
    if (agreement !== 'agree') return;
    const sent = at(sender, send[STEP_ROW.before]!);
    const isArrival = receive[STEP_ROW.arrives] === 1;
    const arrived = at(receiver, receive[isArrival ? STEP_ROW.seen : STEP_ROW.stop]!);
    const posted = at(receiver, receive[STEP_ROW.before]!);
    const noticed = at(sender, send[STEP_ROW.seen]!);
    const isEarly = arrived < sent - SURE_NS || (isWaited(send) && noticed < posted - SURE_NS);
    if (isEarly) cloned.add(domainOf[sender]!);
  });
  return witnesses.map((witness) =>
    cloned.has(domainOf[witness.file]!) ? { ...witness, clone: witness.header.hostName } : witness,
  );
}
