/**
 * Whether the two ends of a transfer describe the same transfer. If an end does not know the work of an operation, the operations before
 * and after decide. If both ends agree on an operation before and on one after, and disagree on none between, they count operations in the
 * same way there.
 */

import { STEP_ROW, SIZE_LOST } from '../../scan/step_file.js';

export type Agreement = 'agree' | 'sizesDiffer' | 'operationsDiffer' | 'sizeLost' | 'unconfirmed';

export function agreementOf(send: Float64Array, receive: Float64Array): Agreement {
  const isKnown = send[STEP_ROW.check] !== 0 && receive[STEP_ROW.check] !== 0;
  if (isKnown && send[STEP_ROW.check] !== receive[STEP_ROW.check]) return 'operationsDiffer';
  if (send[STEP_ROW.bytes] === SIZE_LOST) return 'sizeLost';
  if (!isKnown) return 'unconfirmed';
  return send[STEP_ROW.bytes] === receive[STEP_ROW.bytes] ? 'agree' : 'sizesDiffer';
}

export type Decided = (send: Float64Array, receive: Float64Array, agreement: Agreement) => void;

/** Ends whose neighbours are awaited, at most. */
const MOST_HELD = 4096;

/** Passes pairs on, with their agreement, in about the order in which they come. */
export class Neighbours {
  private held: [send: Float64Array, receive: Float64Array][] = [];
  /** The first and the last operation that agree, since the newest operation that does not agree. */
  private first = Infinity;
  private last = -Infinity;
  private newestDifferent = -Infinity;

  constructor(private readonly decided: Decided) {}

  judge(send: Float64Array, receive: Float64Array, agreement: Agreement): void {
    const ordinal = send[STEP_ROW.ordinal]!;
    if (agreement === 'unconfirmed' && isLike(send, receive)) {
      const isBehind = this.first === Infinity || ordinal > this.first;
      if (isBehind && ordinal < this.last) this.decided(send, receive, 'agree');
      else if (isBehind && this.held.length < MOST_HELD) this.held.push([send.slice(), receive.slice()]);
      else this.decided(send, receive, 'unconfirmed');
      return;
    }
    if (agreement === 'agree' && ordinal > this.newestDifferent) this.agreed(ordinal);
    if (agreement === 'operationsDiffer') this.differed(ordinal);
    this.decided(send, receive, agreement);
  }

  end(): void {
    for (const [send, receive] of this.held) this.decided(send, receive, 'unconfirmed');
    this.held = [];
  }

  private agreed(ordinal: number): void {
    if (ordinal >= this.first && ordinal <= this.last) return;
    this.first = Math.min(this.first, ordinal);
    this.last = Math.max(this.last, ordinal);
    const { held } = this;
    this.held = [];
    for (const [send, receive] of held) this.judge(send, receive, 'unconfirmed');
  }

  private differed(ordinal: number): void {
    if (ordinal <= this.newestDifferent) return;
    this.newestDifferent = ordinal;
    this.first = Infinity;
    this.last = -Infinity;
    this.end();
  }
}

const isLike = (send: Float64Array, receive: Float64Array): boolean =>
  send[STEP_ROW.bytes] === receive[STEP_ROW.bytes] && send[STEP_ROW.steps] === receive[STEP_ROW.steps];
