/**
 * Finds clones: machines that were copied while they ran, or started from one snapshot. They have one boot id, nearly the same counter, and
 * different host names. Containers of one host look the same, but share a counter. If a transfer between two of the names would arrive
 * before it was sent, the machines are clones, and each name has its own clock. Clones that send nothing to each other are found if the
 * evidence of the run contradicts itself: with a clock for each name, other hosts show that the clocks differ.
 */

import { ticks, type TraceNs } from '../../base/time.js';
import { bound99At } from '../clock_map.js';
import {
  domainOfFile,
  toLocal,
  traceTimeOf,
  type ClockAxes,
  type ClockSolution,
  type ClockWitness,
} from '../domains.js';
import { STEP_ROW } from '../../scan/step_file.js';
import { isWaited } from './first_look.js';
import { joinTransfers, linksBetween, type StepSource } from './joined_transfers.js';

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
  return withNames(witnesses, domainOf, cloned);
}

/** Domains of several host names that may be clones. */
export function mayBeClones(
  witnesses: readonly ClockWitness[],
  domainOf: ClockAxes['domainOf'],
): ReadonlySet<number> {
  const first = new Map<number, string>();
  return new Set(
    witnesses.flatMap(({ file, header: { hostName }, clone }) => {
      const domain = domainOf[file]!;
      if (!first.has(domain)) first.set(domain, hostName);
      return clone === undefined && first.get(domain) !== hostName ? [domain] : [];
    }),
  );
}

/** Domains whose names have clocks that differ by more than both 99 % bounds. `apart`: solved with a clock for each name. */
export function shownClones(
  witnesses: readonly ClockWitness[],
  domainOf: ClockAxes['domainOf'],
  apart: ClockSolution,
): ReadonlySet<number> {
  const first = new Map<number, ClockWitness>();
  return new Set(
    witnesses.flatMap((witness) => {
      const domain = domainOf[witness.file]!;
      const other = first.get(domain);
      if (!other) first.set(domain, witness);
      return other && differ(witness, other, apart) ? [domain] : [];
    }),
  );
}

/** Whether one value of the counter means two times. */
function differ(a: ClockWitness, b: ClockWitness, solution: ClockSolution): boolean {
  if (domainOfFile(solution, a.file).group !== domainOfFile(solution, b.file).group) return false;
  const middle = a.samples[a.samples.length >> 1]!.tick;
  const base = Number(a.header.tickBase - b.header.tickBase);
  const [atA, atB] = [
    traceTimeOf(solution, a.file)(middle),
    traceTimeOf(solution, b.file)(ticks(middle + base)),
  ];
  const bound = ({ file }: ClockWitness, at: TraceNs): number =>
    bound99At(domainOfFile(solution, file).map)(at);
  return Math.abs(atA - atB) > bound(a, atA) + bound(b, atB);
}

/** With a clock for each host name of these domains. */
export const withNames = (
  witnesses: readonly ClockWitness[],
  domainOf: ClockAxes['domainOf'],
  cloned: ReadonlySet<number>,
): readonly ClockWitness[] =>
  witnesses.map((witness) =>
    cloned.has(domainOf[witness.file]!) ? { ...witness, clone: witness.header.hostName } : witness,
  );
