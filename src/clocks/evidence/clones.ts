/**
 * Finds clones: machines that were copied while they ran, or started from one snapshot. They have one boot id, nearly the same counter, and
 * different host names. Containers of one host look the same, but share a counter. If a transfer between two of the names would arrive
 * before it was sent, the machines are clones, and each name has its own clock.
 */

import { toLocal, type ClockAxes, type ClockWitness } from '../domains.js';
import { STEP_ROW } from '../../scan/step_file.js';
import { isWaited } from './first_look.js';
import { joinTransfers, linksBetween, type StepSource } from './transfers.js';

/** Smaller differences prove nothing, because sums of ticks are rounded and the rates of two processes are measured separately. */
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
