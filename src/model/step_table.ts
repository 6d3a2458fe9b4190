/**
 * The network transfers (ProxySteps) in flight, as rows of typed arrays. Four of five records are of steps, so a step is never an object. A
 * record finds its step's row by the words of the handle, without a map. The row is reused when the step is over. NONE is the tick of a
 * state that has not happened.
 */

import type { Op, StepPhase } from './types.js';

/** In place of a tick, or of a size that NCCL has not reported. */
export const NONE = -1;

/** NCCL keeps at most this many steps of a connection in flight and names their slots step % 8. A power of two. */
export const NCCL_STEPS = 8;

/** Results of `find`: an unknown step, and a step that ended with its operation. */
export const NO_STEP = -1;
export const ENDED_STEP = -2;

/** Places for handles. NCCL has some hundred steps in flight. A step moves to a map if it is still open after this many later handles. */
const PLACES = 1 << 12;
/** Words of a place; the first is the handle's low word. */
const [HIGH, ROW, USE] = [1, 2, 3];
const FIRST_ROWS = 256;
/** Upper word of a place without a handle: a file's tag is never 0. */
const NO_HANDLE = 0;

/** A repeated start may mean one of this many newest steps of an operation. */
const RECENT_STEPS = 2 * NCCL_STEPS;

export class StepTable {
  op: Op[] = [];
  number = new Int32Array(FIRST_ROWS);
  start = new Float64Array(FIRST_ROWS);
  /** StepPhase. */
  phase = new Uint8Array(FIRST_ROWS);
  /** Start of the current phase. */
  phaseSince = new Float64Array(FIRST_ROWS);
  /** Size of the transfer; NONE until NCCL reports it. */
  bytes = new Float64Array(FIRST_ROWS);
  /** State 20: the newest poll, and the number of polls. */
  lastPoll = new Float64Array(FIRST_ROWS);
  polls = new Float64Array(FIRST_ROWS);
  /** State 11: a receive's data had arrived. */
  arrived = new Float64Array(FIRST_ROWS);
  /** Repeated starts by NCCL (a registered buffer whose kernel had not begun): their number, and the newest. */
  startRepeats = new Float64Array(FIRST_ROWS);
  lastStartRepeat = new Float64Array(FIRST_ROWS);

  /** How often a row was used. A place that names an earlier use is out of date. */
  private use = new Uint32Array(FIRST_ROWS);
  /** The first `freeRows` are free. Neither list gets shorter, because V8 would allocate it again. */
  private readonly free: number[] = [];
  private freeRows = 0;
  /** The first `overRows` are of steps that are over. The rows are not free yet. */
  private readonly over: number[] = [];
  private overRows = 0;
  private rows = 0;

  /** Four words per place, side by side: the handle's low and high word, its row, the row's use. */
  private readonly places = new Uint32Array(4 * PLACES);
  /** Rows of handles whose place was taken by another handle. The key is both words in one number. */
  private readonly displaced = new Map<number, number>();
  /** The keys of `displaced`, by row. */
  private readonly displacedOf = new Map<number, number[]>();

  /** Adds a row for the step of that handle. */
  add(low: number, high: number, op: Op, number: number, at: number): number {
    const row = this.freeRows > 0 ? this.free[--this.freeRows]! : this.newRow();
    this.op[row] = op;
    this.number[row] = number;
    this.start[row] = at;
    this.phase[row] = 0;
    this.phaseSince[row] = at;
    this.bytes[row] = NONE;
    this.lastPoll[row] = NONE;
    this.polls[row] = 0;
    this.arrived[row] = NONE;
    this.startRepeats[row] = 0;
    this.lastStartRepeat[row] = NONE;
    this.name(low, high, row);
    return row;
  }

  /** Adds a handle to a row. */
  name(low: number, high: number, row: number): void {
    const { places } = this;
    const place = placeOf(low, high);
    const before = places[place + ROW]!;
    const isTaken = places[place + HIGH] !== NO_HANDLE && places[place + USE] === this.use[before];
    if (isTaken) this.displace(wordsInOne(places[place]!, places[place + HIGH]!), before);
    places[place] = low;
    places[place + HIGH] = high;
    places[place + ROW] = row;
    places[place + USE] = this.use[row]!;
  }

  /** The row of a handle; NO_STEP, ENDED_STEP. */
  find(low: number, high: number): number {
    const { places } = this;
    const place = placeOf(low, high);
    if (places[place] === low && places[place + HIGH] === high && high !== NO_HANDLE) {
      const row = places[place + ROW]!;
      return places[place + USE] === this.use[row] ? row : ENDED_STEP;
    }
    return this.displaced.size === 0 ? NO_STEP : (this.displaced.get(wordsInOne(low, high)) ?? NO_STEP);
  }

  /** Call it when no more records use this handle. */
  forget(low: number, high: number): void {
    const { places } = this;
    const place = placeOf(low, high);
    if (places[place] === low && places[place + HIGH] === high) places[place + HIGH] = NO_HANDLE;
    else this.displaced.delete(wordsInOne(low, high));
  }

  /** Takes the row from its operation. The row keeps its facts until `reuse`. */
  end(row: number): void {
    removeRow(this.op[row]!.openSteps, row);
    this.use[row]!++;
    this.over[this.overRows++] = row;
    if (this.displacedOf.size === 0) return;
    for (const words of this.displacedOf.get(row) ?? [])
      if (this.displaced.get(words) === row) this.displaced.delete(words);
    this.displacedOf.delete(row);
  }

  /** Frees the rows of steps that are over. */
  reuse(): void {
    for (let i = 0; i < this.overRows; i++) this.free[this.freeRows++] = this.over[i]!;
    this.overRows = 0;
  }

  private displace(words: number, row: number): void {
    this.displaced.set(words, row);
    const known = this.displacedOf.get(row);
    if (known) known.push(words);
    else this.displacedOf.set(row, [words]);
  }

  phaseOf(row: number): StepPhase {
    return this.phase[row] as StepPhase;
  }

  /** The newest step in flight of an operation with that number; NO_STEP. */
  openStepOf({ openSteps }: Op, number: number): number {
    const oldest = Math.max(0, openSteps.length - RECENT_STEPS);
    for (let i = openSteps.length - 1; i >= oldest; i--)
      if (this.number[openSteps[i]!] === number) return openSteps[i]!;
    return NO_STEP;
  }

  private newRow(): number {
    if (this.rows === this.number.length) this.grow();
    return this.rows++;
  }

  private grow(): void {
    const rows = 2 * this.number.length;
    const longer = (old: Float64Array): Float64Array<ArrayBuffer> => {
      const column = new Float64Array(rows);
      column.set(old);
      return column;
    };
    this.start = longer(this.start);
    this.phaseSince = longer(this.phaseSince);
    this.bytes = longer(this.bytes);
    this.lastPoll = longer(this.lastPoll);
    this.polls = longer(this.polls);
    this.arrived = longer(this.arrived);
    this.startRepeats = longer(this.startRepeats);
    this.lastStartRepeat = longer(this.lastStartRepeat);
    const [number, phase, use] = [this.number, this.phase, this.use];
    this.number = new Int32Array(rows);
    this.number.set(number);
    this.phase = new Uint8Array(rows);
    this.phase.set(phase);
    this.use = new Uint32Array(rows);
    this.use.set(use);
  }
}

/** Handles of one ring count up by 2 or more. Those of different rings differ in the upper word. */
const placeOf = (low: number, high: number): number => (((low >>> 1) ^ (high * 0x9e5)) & (PLACES - 1)) * 4;

/** The tag is the same in all handles of a file, so the rest is exact. */
const wordsInOne = (low: number, high: number): number => (high & 0x7fff) * 2 ** 32 + low;

/** No `splice`, because it makes an array. The row is nearly always the oldest. */
function removeRow(rows: number[], row: number): void {
  let at = rows.indexOf(row);
  for (; at < rows.length - 1; at++) rows[at] = rows[at + 1]!;
  rows.pop();
}
