/**
 * Slots as lines, and back: one line per record; one per slot where the record is incomplete, of an unknown kind or has bits that no layout
 * has; and one per torn slot. An empty slot has no line. schemas/rank-text.md has the forms.
 */

import { MAX_PARTS, POSITION_MASK, SLOT_BYTES } from '../format/constants.js';
import { metaHigh, metaLow, slotCheck, word3High } from '../format/slot.js';
import { LineFault } from './line.js';
import { type Names, recordLine, type Words } from './record_text.js';

/** Slots side by side, as eight halves of words each. */
export const halvesOf = (bytes: Uint8Array): Uint32Array =>
  new Uint32Array(Uint8Array.from(bytes).buffer, 0, Math.floor(bytes.length / SLOT_BYTES) * 8);

/** Where a slot would be valid: at `position`, if its check says so. */
export type Places = (index: number, stored: number) => number;

/** The place of a ring's or table's slot, from 24 stored bits and the head. */
export function placesOfArea(capacity: number, head: number): Places {
  return (index, stored) => {
    const distance = (stored - (head % 2 ** 24) + 2 ** 24) % 2 ** 24;
    const position = head + (distance >= 2 ** 23 ? distance - 2 ** 24 : distance);
    return position % capacity === index ? position : -1;
  };
}

/** In place of a position. */
const EMPTY = -1;
const TORN = -2;

export function positionsOf(slots: Uint32Array, places: Places): Float64Array {
  return Float64Array.from({ length: slots.length / 8 }, (_, index) => {
    const words = slots.subarray(index * 8, index * 8 + 8);
    if (words.every((half) => half === 0)) return EMPTY;
    const position = places(index, (words[6]! >>> 16) | ((words[7]! & 0xff) << 16));
    return position >= 0 && position < 2 ** 48 && isWhole(words, position) ? position : TORN;
  });
}

function isWhole(words: Uint32Array, position: number): boolean {
  const low = words[6]!;
  if ((low & 0xff) === 0 || ((low >>> 8) & 15) >= ((low >>> 12) & 15)) return false;
  const [, high] = sealed(words, low & 0xff, (low >>> 8) & 15, (low >>> 12) & 15, position);
  return words[7] === high;
}

/** The halves of word 3. */
export function sealed(
  w: ArrayLike<number>,
  kind: number,
  part: number,
  parts: number,
  position: number,
): [low: number, high: number] {
  const low = metaLow(kind, part, parts, position % 0x10000);
  const high = metaHigh(position);
  return [low, word3High(slotCheck(w[0]!, w[1]!, w[2]!, w[3]!, w[4]!, w[5]!, low, high), position)];
}

/** Puts other texts in place of those that a record has. */
export type Hide = (kind: number, text: string) => string;

/** `isIn`: whether the slot at an index is to be shown. */
export function* slotLines(
  slots: Uint32Array,
  positions: Float64Array,
  names: Names,
  hide: Hide | null,
  isIn: (index: number) => boolean = () => true,
): Generator<string> {
  const order = Array.from(positions.keys()).filter((index) => positions[index]! >= 0 && isIn(index));
  order.sort((a, b) => positions[a]! - positions[b]!);
  for (let i = 0; i < order.length;) {
    const parts = wholeRecord(slots, positions, order, i);
    const line = parts === 0 ? null : recordLine(recordAt(slots, order, i, parts), names, hide);
    const position = positions[order[i]!]!;
    if (line !== null) yield `${position} ${line}`;
    else
      for (const index of order.slice(i, i + Math.max(1, parts)))
        yield slotLine(slots, positions, index, hide);
    i += Math.max(1, parts);
  }
  for (let index = 0; index < positions.length; index++)
    if (positions[index] === TORN) yield `torn ${index} ${wordsText(slots, index, 4, hide)}`;
}

/** The parts of the record that begins at `order[i]`; 0: there is no whole one. */
function wholeRecord(
  slots: Uint32Array,
  positions: Float64Array,
  order: readonly number[],
  i: number,
): number {
  const first = order[i]!;
  const low = slots[first * 8 + 6]! & 0xffff;
  const parts = (low >>> 12) & 15;
  for (let part = 0; part < parts; part++) {
    const index = order[i + part];
    if (index === undefined || positions[index] !== positions[first]! + part) return 0;
    if ((slots[index * 8 + 6]! & 0xffff) !== ((low & 0xf0ff) | (part << 8))) return 0;
  }
  return parts;
}

function recordAt(slots: Uint32Array, order: readonly number[], i: number, parts: number): Words {
  const all = order
    .slice(i, i + parts)
    .flatMap((index) => [0, 1, 2].map((word) => wordAt(slots, index, word)));
  return { kind: slots[order[i]! * 8 + 6]! & 0xff, words: all };
}

const wordAt = (slots: Uint32Array, index: number, word: number): bigint =>
  (BigInt(slots[index * 8 + word * 2 + 1]!) << 32n) | BigInt(slots[index * 8 + word * 2]!);

function slotLine(slots: Uint32Array, positions: Float64Array, index: number, hide: Hide | null): string {
  const low = slots[index * 8 + 6]!;
  const place = `kind=0x${(low & 0xff).toString(16)} part=${(low >>> 8) & 15} parts=${(low >>> 12) & 15}`;
  // Word 0 of a record's first slot is its time.
  const shown = ((low >>> 8) & 15) === 0 ? 0 : 3;
  return `slot ${positions[index]!} ${place} ${wordsText(slots, index, 3, hide, shown)}`;
}

/** Words that nobody understands may be a piece of a name, so they are hidden where names are. */
function wordsText(slots: Uint32Array, index: number, count: number, hide: Hide | null, shown = 3): string {
  return Array.from({ length: count }, (_, word) =>
    hide === null || word === shown ? `0x${wordAt(slots, index, word).toString(16)}` : '0x1',
  ).join(' ');
}

/** Slots of a text: their places and halves of words. */
export class SlotList {
  private halves = new Uint32Array(64);
  private places: number[] = [];

  /** One past the highest position. Torn slots have none. */
  newest = 0;

  /** `position` of a record's first slot. */
  addRecord({ kind, words }: Words, position: number): void {
    const parts = words.length / 3;
    for (let part = 0; part < parts; part++)
      this.addSlot(kind, part, parts, position + part, words.slice(part * 3, part * 3 + 3));
  }

  addSlot(kind: number, part: number, parts: number, position: number, words: readonly bigint[]): void {
    if (!(position >= 0 && position <= POSITION_MASK)) throw new LineFault(`${position} is no position`);
    if (!(kind > 0 && kind < 256 && part >= 0 && part < parts && parts <= MAX_PARTS))
      throw new LineFault(`part ${part} of ${parts} of kind ${kind} is no slot`);
    const halves = halvesFrom(words);
    this.add(position, [...halves, ...sealed(halves, kind, part, parts, position)]);
    this.newest = Math.max(this.newest, position + 1);
  }

  /** A slot whose check fails, at an index. */
  addTorn(index: number, words: readonly bigint[]): void {
    this.add(-1 - index, halvesFrom(words));
  }

  private add(place: number, halves: readonly number[]): void {
    const at = this.places.length * 8;
    if (at === this.halves.length) {
      const larger = new Uint32Array(2 * at);
      larger.set(this.halves);
      this.halves = larger;
    }
    this.halves.set(halves, at);
    this.places.push(place);
  }

  /** Slots of these positions go to the other list, too. */
  copyTo(other: SlotList, from: number, end: number): void {
    this.places.forEach((position, i) => {
      if (position < from || position >= end) return;
      other.add(position, [...this.halves.subarray(i * 8, i * 8 + 8)]);
      other.newest = Math.max(other.newest, position + 1);
    });
  }

  /** Smallest and largest tick of the records that begin here; 0: none does. */
  ticks(): { first: bigint; last: bigint } {
    let [first, last] = [0n, 0n];
    this.places.forEach((position, i) => {
      if (position < 0 || ((this.halves[i * 8 + 6]! >>> 8) & 15) !== 0) return;
      const tick = wordAt(this.halves, i, 0);
      if (first === 0n || tick < first) first = tick;
      if (tick > last) last = tick;
    });
    return { first, last };
  }

  /** Slots that lie side by side. `indexOf`: a position's index among `count`. Throws LineFault if it is none of them. */
  *runs(
    count: number,
    indexOf: (position: number) => number,
  ): Generator<{ index: number; bytes: Uint8Array }> {
    const indexes = this.places.map((place) => {
      const index = place < 0 ? -1 - place : indexOf(place);
      if (index < 0 || index >= count)
        throw new LineFault(`there is no place for slot ${place < 0 ? index : place}`);
      return index;
    });
    const order = Array.from(indexes.keys()).sort((a, b) => indexes[a]! - indexes[b]!);
    for (let i = 0, from = 0; i < order.length; i++) {
      const next = order[i + 1];
      if (next !== undefined && indexes[next]! <= indexes[order[i]!]! + 1) continue;
      const first = indexes[order[from]!]!;
      const run = new Uint32Array((indexes[order[i]!]! + 1 - first) * 8);
      for (const slot of order.slice(from, i + 1))
        run.set(this.halves.subarray(slot * 8, slot * 8 + 8), (indexes[slot]! - first) * 8);
      yield { index: first, bytes: new Uint8Array(run.buffer) };
      from = i + 1;
    }
  }
}

const halvesFrom = (words: readonly bigint[]): number[] =>
  words.flatMap((word) => [Number(word & 0xffff_ffffn), Number((word >> 32n) & 0xffff_ffffn)]);
