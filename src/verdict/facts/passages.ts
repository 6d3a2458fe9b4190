/** How the data of collectives passed through a file's GPUs. */

import type { TraceNs } from '../../base/time.js';
import type { EndTimes } from '../../model/work_end_table.js';
import type { WorkTable } from '../../model/work_table.js';
import type { Passage } from '../file_facts.js';

/**
 * Shows each collective of these communicators of the file, in order of call. Data wait for its GPU only after the sends and receives that the
 * GPU had to finish first, because their number and size differ from rank to rank. One object for all in turn, because a run has millions.
 */
export function eachPassage(
  works: WorkTable,
  ends: EndTimes,
  time: (tick: number) => TraceNs,
  comms: ReadonlySet<number>,
  visit: (passage: Readonly<Passage>) => void,
): void {
  const { comm, seq, ordinal, arrival, func, funcs, plan, plans } = works;
  const areTrees = plans.map((name) => name.startsWith('TREE'));
  const lasting = (begin: number, ticks: number): number =>
    ticks === 0 ? 0 : time(begin + ticks) - time(begin);
  const passage = nothing();
  /** Ticks: when the GPU was done with all else. Infinity: not known. */
  let busy = -Infinity;
  let over = -Infinity;
  for (let row = 0; row < comm.length; row++) {
    if (!comms.has(comm[row]!) || seq[row]! < 0) {
      busy = Math.max(busy, otherEnd(row));
      continue;
    }
    const [begin, to] = [arrival[row]!, ends.heldTo[row]!];
    let others = busy;
    for (let next = row + 1; arrival[next]! < to; next++)
      if (!comms.has(comm[next]!)) others = Math.max(others, otherEnd(next));
    if (busy === Infinity) busy = -Infinity;
    const free = Math.max(begin, over, others);
    if (ends.lastOp[row]! > over) over = ends.lastOp[row]!;
    passage.isTree = areTrees[plan[row]!]!;
    const [sent, received] = [ends.sentSteps[row]!, ends.receivedSteps[row]!];
    if (sent + received === 0 && !passage.isTree) continue;
    passage.sentSteps = sent;
    // Only the mean of the arrivals is known, not which of them found the GPU at other work.
    passage.receivedSteps = others <= begin ? received : 0;
    passage.func = funcs[func[row]!]!;
    passage.seq = seq[row]!;
    passage.ordinal = ordinal[row]!;
    passage.plan = plans[plan[row]!]!;
    const isHeld = !Number.isNaN(to) && others < Infinity;
    passage.heldFrom = isHeld ? time(Math.max(ends.heldFrom[row]!, Math.min(to, others))) : NaN;
    passage.heldTo = isHeld ? time(to) : NaN;
    passage.heldChannel = ends.heldChannel[row]!;
    passage.noRoom = lasting(begin, ends.noRoom[row]!);
    passage.sends = ends.sends[row]!;
    passage.sentAt = time(ends.sentAt[row]!);
    passage.onWire = lasting(begin, ends.onWire[row]!);
    passage.receivedAt = time(ends.receivedAt[row]!);
    if (passage.isTree) {
      passage.freeFrom = free === Infinity ? Infinity : time(free);
      passage.begins = time(ends.step[row]!);
      passage.data = time(ends.data[row]!);
    }
    visit(passage);
  }

  /** Ticks: when a work was over that is no collective of these communicators. Infinity: it is not known how long it took the GPU. */
  function otherEnd(row: number): number {
    const [op, noticed] = [ends.lastOp[row]!, ends.noticed[row]!];
    if (Number.isNaN(op) && Number.isNaN(noticed)) return comms.has(comm[row]!) ? -Infinity : Infinity;
    return Number.isNaN(op) || noticed > op ? noticed : op;
  }
}

const nothing = (): Passage => ({
  func: '',
  seq: 0,
  ordinal: 0,
  plan: '',
  isTree: false,
  heldFrom: NaN,
  heldTo: NaN,
  heldChannel: NaN,
  noRoom: NaN,
  sends: 0,
  sentSteps: 0,
  sentAt: NaN,
  onWire: NaN,
  receivedSteps: 0,
  receivedAt: NaN,
  freeFrom: NaN,
  begins: NaN,
  data: NaN,
});
