/** Makes records of checked slots, apart from the kernel. A record may begin in one segment and end in the next. */

import { BugError } from '../../../src/base/assert.js';
import { Kind } from '../../../src/rankfile/format/constants.js';
import { MIN_PARTS } from '../../../src/rankfile/format/layouts.js';
import type { Stretch } from '../../../src/rankfile/slots.js';
import type { TickFrame } from '../../../src/rankfile/tick_frame.js';
import type { RecordColumns } from '../../../src/rankfile/file_types.js';

/** Positions [from, end) without a record; `row`: of the record after it. */
export interface Hole {
  readonly from: number;
  readonly end: number;
  readonly row: number;
}

/** Passed from one segment to the next. */
export interface Carry {
  /** One past the newest record's last slot. */
  readonly covered: number;
  readonly open: OpenRecord | null;
}

export const NOTHING_CARRIED: Carry = { covered: 0, open: null };

/** A record whose first parts were read, but not yet its last. */
interface OpenRecord {
  readonly position: number;
  readonly tick: number;
  /** Meta word of its first slot: kind:8 part:4 parts:4. */
  readonly meta: number;
  readonly word1Low: number;
  readonly word1High: number;
  readonly word2Low: number;
  readonly word2High: number;
  readonly extra: Uint32Array;
}

/** Memory for the records of a segment. A decoder fills it, and the next segment may use it again. */
export interface RecordSpace {
  /** Valid rows. The columns are longer. */
  length: number;
  readonly position: Float64Array;
  readonly tick: Float64Array;
  readonly kind: Uint8Array;
  readonly word1Low: Uint32Array;
  readonly word1High: Uint32Array;
  readonly word2Low: Uint32Array;
  readonly word2High: Uint32Array;
  readonly extraStart: Uint32Array;
  readonly extra: Uint32Array;
  /** Records by kind. */
  readonly kinds: Uint32Array;
}

/** A record has at most 15 parts, so this many may be carried. */
const CARRIED_PARTS = 14;

/** Room for the records of this many slots, and for a record that was carried. */
export function recordSpace(slots: number): RecordSpace {
  const rows = slots + 1;
  return {
    length: 0,
    position: new Float64Array(rows),
    tick: new Float64Array(rows),
    kind: new Uint8Array(rows),
    word1Low: new Uint32Array(rows),
    word1High: new Uint32Array(rows),
    word2Low: new Uint32Array(rows),
    word2High: new Uint32Array(rows),
    extraStart: new Uint32Array(rows + 1),
    extra: new Uint32Array((slots + CARRIED_PARTS) * 6),
    kinds: new Uint32Array(256),
  };
}

export const slotsIn = (order: readonly Stretch[]): number =>
  order.reduce((sum, { length }) => sum + length, 0);

/** Throws a BugError if the records of these stretches might not fit. Decoders do not look again. */
export function checkRoom({ position }: RecordSpace, order: readonly Stretch[]): void {
  if (slotsIn(order) >= position.length) throw new BugError('more slots than the space has rows');
}

export interface AssembledRecords {
  /** In the given space. */
  readonly records: RecordColumns;
  /** The holes before a record of this segment. */
  readonly holes: readonly Hole[];
  readonly carry: Carry;
  /** Records by kind, in the given space. */
  readonly kinds: Uint32Array;
  /** Complete records with too few slots for their kind. Their positions are a hole. */
  readonly tooShort: number;
  /** Records with a tick before the file's start. They get the start's tick. */
  readonly early: number;
  /** Records with an impossible tick or count. Their positions are a hole. */
  readonly impossible: number;
}

/** `order`: the valid slots in `words` (eight words per slot), by position. None is before the slots of `carry`. */
export function assembleRecords(
  words: Uint32Array,
  order: readonly Stretch[],
  carry: Carry,
  frame: TickFrame,
  space: RecordSpace,
): AssembledRecords {
  checkRoom(space, order);
  const assembler = new Assembler(words, carry, frame, space);
  for (const stretch of order) assembler.take(stretch);
  return assembler.finish();
}

class Assembler {
  private readonly position: Float64Array;
  private readonly tick: Float64Array;
  private readonly kind: Uint8Array;
  private readonly word1Low: Uint32Array;
  private readonly word1High: Uint32Array;
  private readonly word2Low: Uint32Array;
  private readonly word2High: Uint32Array;
  private readonly extraStart: Uint32Array;
  private readonly extra: Uint32Array;
  private readonly kinds: Uint32Array;
  private readonly holes: Hole[] = [];
  private rows = 0;
  private extraUsed = 0;
  private tooShort = 0;
  private early = 0;
  private impossible = 0;
  private covered: number;
  /** The unfinished record: position of its next part, number of missing parts, its first slot's meta. */
  private expected = -1;
  private missing = 0;
  private openMeta = 0;
  private readonly baseLow: number;
  private readonly baseHigh: number;
  private readonly farthest: number;

  constructor(
    private readonly words: Uint32Array,
    carry: Carry,
    { base, farthest }: TickFrame,
    private readonly space: RecordSpace,
  ) {
    this.position = space.position;
    this.tick = space.tick;
    this.kind = space.kind;
    this.word1Low = space.word1Low;
    this.word1High = space.word1High;
    this.word2Low = space.word2Low;
    this.word2High = space.word2High;
    this.extraStart = space.extraStart;
    this.extra = space.extra;
    this.kinds = space.kinds.fill(0);
    this.extraStart[0] = 0;
    this.baseLow = Number(BigInt.asUintN(32, base));
    this.baseHigh = Number(BigInt.asUintN(32, base >> 32n));
    this.farthest = farthest;
    this.covered = carry.covered;
    if (carry.open !== null) this.resume(carry.open);
  }

  take(stretch: Stretch): void {
    const { words } = this;
    let at = stretch.index * 8;
    for (let position = stretch.position; position < stretch.position + stretch.length; position++, at += 8) {
      const meta = words[at + 6]! & 0xffff;
      if ((meta & 0x0f00) === 0) this.begin(at, position, meta);
      else if (this.missing > 0 && position === this.expected && meta === this.nextMeta()) this.continue(at);
      else this.missing = 0;
    }
  }

  /** Same kind and parts as the first slot, and the next part. */
  private nextMeta(): number {
    const parts = this.openMeta >>> 12;
    return this.openMeta | ((parts - this.missing) << 8);
  }

  /** Writes the row. The row becomes valid when `rows` moves past it. */
  private begin(at: number, position: number, meta: number): void {
    const { words } = this;
    const row = this.rows;
    this.position[row] = position;
    this.tick[row] = this.ticksOf(words[at]!, words[at + 1]!);
    this.kind[row] = meta & 0xff;
    this.word1Low[row] = words[at + 2]!;
    this.word1High[row] = words[at + 3]!;
    this.word2Low[row] = words[at + 4]!;
    this.word2High[row] = words[at + 5]!;
    this.extraUsed = this.extraStart[row]!;
    this.openMeta = meta;
    this.missing = (meta >>> 12) - 1;
    this.expected = position + 1;
    if (this.missing === 0) this.commit();
  }

  private continue(at: number): void {
    const { words } = this;
    for (let i = 0; i < 6; i++) this.extra[this.extraUsed + i] = words[at + i]!;
    this.extraUsed += 6;
    this.expected++;
    this.missing--;
    if (this.missing === 0) this.commit();
  }

  private commit(): void {
    const row = this.rows;
    const kind = this.kind[row]!;
    if (this.openMeta >>> 12 < MIN_PARTS[kind]!) {
      this.tooShort++;
      return;
    }
    if (!this.isPossible(row, kind)) {
      this.impossible++;
      return;
    }
    const from = this.position[row]!;
    if (from > this.covered) this.holes.push({ from: this.covered, end: from, row });
    this.covered = this.expected;
    this.kinds[kind]!++;
    if (this.tick[row]! < 0) {
      this.early++;
      this.tick[row] = 0;
    }
    this.rows = row + 1;
    this.extraStart[row + 1] = this.extraUsed;
  }

  private ticksOf(low: number, high: number): number {
    return (high - this.baseHigh) * 0x1_0000_0000 + (low - this.baseLow);
  }

  /** The ranges of format/ranges.ts. One tick far away would stretch the whole trace, and delay all later records in the merged order. */
  private isPossible(row: number, kind: number): boolean {
    const { extra, farthest } = this;
    if (Math.abs(this.tick[row]!) > farthest) return false;
    if (kind === Kind.ClockSample) return this.tick[row]! >= 0;
    if (kind !== Kind.Fold) return true;
    const at = this.extraStart[row]!;
    return Math.abs(this.ticksOf(extra[at]!, extra[at + 1]!)) <= farthest && extra[at + 3] === 0;
  }

  finish(): AssembledRecords {
    const { space, holes, kinds, tooShort, early, impossible, covered } = this;
    const open = this.missing > 0 ? this.suspended() : null;
    space.length = this.rows;
    return { records: space, holes, carry: { covered, open }, kinds, tooShort, early, impossible };
  }

  private suspended(): OpenRecord {
    const row = this.rows;
    return {
      position: this.position[row]!,
      tick: this.tick[row]!,
      meta: this.openMeta,
      word1Low: this.word1Low[row]!,
      word1High: this.word1High[row]!,
      word2Low: this.word2Low[row]!,
      word2High: this.word2High[row]!,
      extra: this.extra.slice(this.extraStart[row], this.extraUsed),
    };
  }

  private resume(open: OpenRecord): void {
    this.position[0] = open.position;
    this.tick[0] = open.tick;
    this.kind[0] = open.meta & 0xff;
    this.word1Low[0] = open.word1Low;
    this.word1High[0] = open.word1High;
    this.word2Low[0] = open.word2Low;
    this.word2High[0] = open.word2High;
    this.extra.set(open.extra);
    this.extraUsed = open.extra.length;
    this.openMeta = open.meta;
    const taken = 1 + open.extra.length / 6;
    this.missing = (open.meta >>> 12) - taken;
    this.expected = open.position + taken;
  }
}
