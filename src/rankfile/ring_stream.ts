/**
 * The records of one ring, segment by segment in order of position: the ring's slots before and between its chunks, chunk by chunk, then
 * the rest of the ring. Memory holds the ring's own slots, one chunk and the records of one segment. A segment is small, so its records
 * stay in the processor's cache until they are used.
 */

import { type Ticks, ticks } from '../base/time.js';
import type { RingChunk, Sequences } from './chunk_index.js';
import { append } from '../base/extremes.js';
import { type ChunkSlots, GapFinder, type JudgedGap } from './gaps.js';
import type { Decoder } from './decoder.js';
import { type AssembledRecords, type Hole, NOTHING_CARRIED } from './records.js';
import { LentSpace, SEGMENT_SLOTS } from './lent_space.js';
import { type CheckedSlots, clipped, pieces, type Stretch } from './slots.js';
import type { TickFrame } from './tick_frame.js';
import { chunksToRead } from './read_window.js';
import type { Gap, ReadWindow, RecordColumns, RingFacts } from './types.js';

/** A ring before its records are read. */
export interface RingParts {
  readonly facts: RingFacts;
  /** The ring's own slots. */
  readonly slots: CheckedSlots;
  readonly chunks: readonly RingChunk[];
  /** null: all of it is read. */
  readonly window: ReadWindow | null;
  readonly sequences: Sequences;
  /** Eight words per slot; null if the chunk cannot be used. */
  readonly load: (chunk: RingChunk) => Uint32Array | null;
  readonly frame: TickFrame;
  readonly decoder: Decoder;
}

/** Counted while reading; complete when `next` has returned null. */
export interface RingCounts {
  readonly kinds: Uint32Array;
  tooShort: number;
  early: number;
  impossible: number;
  /** Slots of chunks that are not valid at their position. */
  badSlots: number;
}

export class RingStream {
  readonly gaps: Gap[] = [];
  readonly counts: RingCounts = {
    kinds: new Uint32Array(256),
    tooShort: 0,
    early: 0,
    impossible: 0,
    badSlots: 0,
  };
  private readonly inRing: Stretch[];
  /** The chunks that are read. */
  private readonly chunks: readonly RingChunk[];
  /** One past the newest known position. */
  readonly newest: number;
  private readonly finder: GapFinder;
  private readonly segments: Generator<RecordColumns, void, undefined>;
  private carry = NOTHING_CARRIED;
  private readonly space = new LentSpace();
  /** Tick of the newest record. null before the first record. */
  private lastTick: Ticks | null = null;

  constructor(private readonly parts: RingParts) {
    const { facts, slots, chunks, sequences, window } = parts;
    this.inRing = parts.decoder.stretches(slots);
    const last = this.inRing.at(-1);
    this.newest = Math.max(
      facts.head,
      last === undefined ? 0 : last.position + last.length,
      chunks.at(-1)?.end ?? 0,
    );
    const { newest } = this;
    this.chunks = window ? chunksToRead(chunks, window, { newest, capacity: facts.capacity }) : chunks;
    this.finder = new GapFinder(slots, facts.capacity, chunks, new Set(this.chunks), sequences, newest);
    this.segments = this.read();
  }

  get facts(): RingFacts {
    return this.parts.facts;
  }

  /**
   * The next records, at least one, in the memory of those before. null after the last one; then the gaps are complete, and the memory of
   * the last ones may be used for another ring.
   */
  next(): RecordColumns | null {
    const { done, value } = this.segments.next();
    if (done !== true) return value;
    this.space.release();
    return null;
  }

  private *read(): Generator<RecordColumns, void, undefined> {
    let at = 0;
    for (const chunk of this.chunks) {
      yield* this.ofRing(at, chunk.from);
      yield* this.ofChunk(chunk);
      at = chunk.end;
    }
    yield* this.ofRing(at, Infinity);
    if (this.newest > this.carry.covered)
      this.lose(this.carry.covered, this.newest, null, this.lastTick, null);
  }

  private *ofRing(from: number, end: number): Generator<RecordColumns, void, undefined> {
    const order = clipped(this.inRing, from, end);
    if (order.length > 0) yield* this.assemble(this.parts.slots.words, order, null);
  }

  private *ofChunk(chunk: RingChunk): Generator<RecordColumns, void, undefined> {
    const slots = this.slotsOf(chunk);
    yield* this.assemble(slots.words, clipped(this.parts.decoder.stretches(slots), chunk.from, chunk.end), {
      chunk,
      slots,
    });
    this.finder.passed({ chunk, slots }, this.carry.covered);
  }

  /** If a slot is invalid in the chunk, it is taken from the ring, if the ring still has it. */
  private slotsOf({ entry, from, end }: RingChunk): CheckedSlots {
    const words = this.parts.load({ entry, from, end });
    const slots = this.parts.decoder.checkChunk(words ?? new Uint32Array(entry.rawBytes / 4), entry.first);
    const { slots: ring } = this.parts;
    const { capacity } = this.parts.facts;
    let bad = 0;
    for (let position = from; position < end; position++) {
      const index = position - entry.first;
      if (slots.position[index]! >= 0) continue;
      bad++;
      const there = position % capacity;
      if (ring.position[there] !== position) continue;
      slots.words.set(ring.words.subarray(there * 8, there * 8 + 8), index * 8);
      slots.position[index] = position;
    }
    if (words !== null) this.counts.badSlots += bad;
    return slots;
  }

  private *assemble(
    words: Uint32Array,
    order: readonly Stretch[],
    chunk: ChunkSlots | null,
  ): Generator<RecordColumns, void, undefined> {
    const { decoder, frame } = this.parts;
    for (const piece of pieces(order, SEGMENT_SLOTS)) {
      const assembled = decoder.assembleRecords(words, piece, this.carry, frame, this.space.get());
      this.count(assembled);
      const { records, holes, carry } = assembled;
      this.carry = carry;
      for (const hole of holes) this.loseBefore(hole, records, chunk);
      if (records.length === 0) continue;
      this.lastTick = tickAt(records, records.length - 1);
      yield records;
    }
  }

  private count({ kinds, tooShort, early, impossible }: AssembledRecords): void {
    kinds.forEach((count, kind) => {
      this.counts.kinds[kind]! += count;
    });
    this.counts.tooShort += tooShort;
    this.counts.early += early;
    this.counts.impossible += impossible;
  }

  private loseBefore({ from, end, row }: Hole, records: RecordColumns, chunk: ChunkSlots | null): void {
    const afterTick = row === 0 ? this.lastTick : tickAt(records, row - 1);
    this.lose(from, end, chunk, afterTick, tickAt(records, row));
  }

  private lose(
    from: number,
    end: number,
    chunk: ChunkSlots | null,
    afterTick: Ticks | null,
    beforeTick: Ticks | null,
  ): void {
    append(this.gaps, timed(this.finder.judge(from, end, chunk), afterTick, beforeTick));
  }
}

/** The index of chunks has the times of chunks that are not read. Gaps beside such a chunk end at its time. */
function timed(judged: readonly JudgedGap[], afterTick: Ticks | null, beforeTick: Ticks | null): Gap[] {
  const gaps: Gap[] = [];
  let after = afterTick;
  judged.forEach(({ from, end, cause, span }, i) => {
    const next = judged[i + 1]?.span;
    if (span) gaps.push({ from, end, cause, afterTick: span.first, beforeTick: span.last });
    else gaps.push({ from, end, cause, afterTick: after, beforeTick: next ? next.first : beforeTick });
    if (span) after = span.last;
  });
  return gaps;
}

const tickAt = (records: RecordColumns, row: number): Ticks => ticks(records.tick[row]!);
