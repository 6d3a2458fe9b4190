/**
 * From checked slots to records in columns, in order of position. A record counts when all its parts are there, at
 * consecutive positions, with one kind and one count of parts, and no fewer than its kind needs. Whatever positions
 * no record covers, from 0 to the newest that is known, is a gap with its cause; so records plus gaps add up exactly.
 */

import { type Ticks, ticks } from '../base/time.js';
import { MAX_PARTS } from '../format/constants.js';
import { MIN_PARTS } from '../format/layouts.js';
import { type CheckedSlots, type Stretch, stretches } from './slots.js';
import type { Gap, RecordColumns } from './types.js';

export interface AssembledRecords {
  readonly records: RecordColumns;
  readonly gaps: readonly Gap[];
  /** Records by kind. */
  readonly kinds: Uint32Array;
  /** Complete records with fewer slots than their kind needs; their positions are a gap. */
  readonly tooShort: number;
  /** Records with a tick before the file's start. */
  readonly early: number;
}

export function assembleRecords(slots: CheckedSlots, head: number, tickBase: bigint): AssembledRecords {
  const order = stretches(slots);
  const assembler = new Assembler(slots, tickBase);
  for (const stretch of order) assembler.take(stretch);
  const last = order.at(-1);
  const end = Math.max(head, last === undefined ? 0 : last.position + last.length);
  return assembler.finish(end);
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
  private readonly kinds = new Uint32Array(256);
  /** Positions [from, end) that no record covers. */
  private readonly holes: { from: number; end: number; row: number }[] = [];
  private rows = 0;
  private extraUsed = 0;
  private tooShort = 0;
  private early = 0;
  /** One past the newest record's last slot. */
  private covered = 0;
  /** The record being put together: the position of its next part, its parts still missing, its first slot's meta. */
  private expected = -1;
  private missing = 0;
  private openMeta = 0;
  private readonly baseLow: number;
  private readonly baseHigh: number;

  constructor(
    private readonly slots: CheckedSlots,
    tickBase: bigint,
  ) {
    const rows = slots.firstParts;
    this.position = new Float64Array(rows);
    this.tick = new Float64Array(rows);
    this.kind = new Uint8Array(rows);
    this.word1Low = new Uint32Array(rows);
    this.word1High = new Uint32Array(rows);
    this.word2Low = new Uint32Array(rows);
    this.word2High = new Uint32Array(rows);
    this.extraStart = new Uint32Array(rows + 1);
    this.extra = new Uint32Array(slots.laterParts * 6);
    this.baseLow = Number(BigInt.asUintN(32, tickBase));
    this.baseHigh = Number(BigInt.asUintN(32, tickBase >> 32n));
  }

  take(stretch: Stretch): void {
    const { words } = this.slots;
    let at = stretch.index * 8;
    for (let position = stretch.position; position < stretch.position + stretch.length; position++, at += 8) {
      const meta = words[at + 6]! & 0xffff;
      if ((meta & 0x0f00) === 0) this.begin(at, position, meta);
      else if (this.missing > 0 && position === this.expected && meta === this.nextMeta()) this.continue(at);
      else this.missing = 0;
    }
  }

  /** Same kind and parts as the first slot, and the part whose turn it is. */
  private nextMeta(): number {
    const parts = this.openMeta >>> 12;
    return this.openMeta | ((parts - this.missing) << 8);
  }

  /** Writes the row; it stands when `rows` moves past it. */
  private begin(at: number, position: number, meta: number): void {
    const { words } = this.slots;
    const row = this.rows;
    const tick = (words[at + 1]! - this.baseHigh) * 0x1_0000_0000 + (words[at]! - this.baseLow);
    this.position[row] = position;
    this.tick[row] = tick;
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
    const { words } = this.slots;
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
    const from = this.position[row]!;
    if (from > this.covered) this.holes.push({ from: this.covered, end: from, row });
    this.covered = this.expected;
    this.kinds[kind]!++;
    if (this.tick[row]! < 0) this.early++;
    this.rows = row + 1;
    this.extraStart[row + 1] = this.extraUsed;
  }

  finish(end: number): AssembledRecords {
    if (end > this.covered) this.holes.push({ from: this.covered, end, row: this.rows });
    const records = this.columns();
    const gaps = this.holes.flatMap(({ from, end: holeEnd, row }) =>
      gapsOf(this.slots, from, holeEnd, end, tickAt(records, row - 1), tickAt(records, row)),
    );
    return { records, gaps, kinds: this.kinds, tooShort: this.tooShort, early: this.early };
  }

  private columns(): RecordColumns {
    const { rows } = this;
    const extraLength = this.extraStart[rows]!;
    return {
      length: rows,
      position: shrunk(this.position, rows),
      tick: shrunk(this.tick, rows),
      kind: shrunk(this.kind, rows),
      word1Low: shrunk(this.word1Low, rows),
      word1High: shrunk(this.word1High, rows),
      word2Low: shrunk(this.word2Low, rows),
      word2High: shrunk(this.word2High, rows),
      extraStart: shrunk(this.extraStart, rows + 1),
      extra: shrunk(this.extra, extraLength),
    };
  }
}

/** A copy rather than a view, so that posting the columns to another thread does not carry the rest along. */
function shrunk<T extends Float64Array | Uint32Array | Uint8Array>(column: T, length: number): T {
  return column.length === length ? column : (column.slice(0, length) as T);
}

const tickAt = (records: RecordColumns, row: number): Ticks | null =>
  row >= 0 && row < records.length ? ticks(records.tick[row]!) : null;

/**
 * A ring that has wrapped has lost everything older than one lap before its end, and up to two records more at that
 * edge: the oldest, cut by the newest, and what the producer was about to write over it. All that is 'overwritten'.
 */
function gapsOf(
  slots: CheckedSlots,
  from: number,
  end: number,
  newest: number,
  afterTick: Ticks | null,
  beforeTick: Ticks | null,
): Gap[] {
  const window = newest - slots.capacity;
  if (from === 0 && window > 0) {
    if (end <= window + 2 * MAX_PARTS) return [{ from, end, cause: 'overwritten', afterTick, beforeTick }];
    return [
      { from, end: window, cause: 'overwritten', afterTick, beforeTick },
      { from: window, end, cause: causeOf(slots, window, end), afterTick, beforeTick },
    ];
  }
  return [{ from, end, cause: causeOf(slots, from, end), afterTick, beforeTick }];
}

/** 'copy' when every place holds something good of another lap: only a copy of a moving ring looks like that. */
function causeOf(slots: CheckedSlots, from: number, end: number): Gap['cause'] {
  let ofAnotherLap = false;
  for (let position = Math.max(from, end - slots.capacity); position < end; position++) {
    const there = slots.position[position % slots.capacity];
    if (there === undefined || there < 0) return 'torn';
    if (there !== position) ofAnotherLap = true;
  }
  return ofAnotherLap ? 'copy' : 'torn';
}
