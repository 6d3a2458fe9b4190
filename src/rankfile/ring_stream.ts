/**
 * The records of one ring, segment by segment in order of position: the ring's slots before and between its chunks, chunk by chunk, then
 * the rest of the ring. Memory holds the ring's own slots, one chunk and the records of one segment. A segment is small, so its records
 * stay in the processor's cache until they are used.
 */

import type { Ticks } from '../base/time.js';
import type { RingChunk, Sequences } from './chunk_index.js';
import { append } from '../base/extremes.js';
import { type ChunkSlots, GapFinder, type JudgedGap } from './gaps.js';
import type { Payload } from './chunk_payload.js';
import type { RecordReader, SlotPlaces, TimedHole } from './record_reader.js';
import { clipped, pieces, type Stretch } from './slots.js';
import { chunksToRead } from './read_window.js';
import type { Gap, ReadWindow, RingFacts } from './file_types.js';

/** Slots of a segment at most: its slots and records together take 0.4 MB, so they stay in the processor's cache. */
export const SEGMENT_SLOTS = 4096;

/** A ring before its records are read. */
export interface RingParts<Segment> {
  readonly facts: RingFacts;
  readonly chunks: readonly RingChunk[];
  /** null: all of it is read. */
  readonly window: ReadWindow | null;
  readonly sequences: Sequences;
  /** null if the chunk cannot be used. */
  readonly load: (chunk: RingChunk) => Payload | null;
  readonly reader: RecordReader<Segment>;
}

export class RingStream<Segment> {
  readonly gaps: Gap[] = [];
  /** Slots of chunks that are not valid at their position. Complete when `next` has returned null. */
  badSlots = 0;
  private readonly inRing: readonly Stretch[];
  /** The chunks that are read. */
  private readonly chunks: readonly RingChunk[];
  /** One past the newest known position. */
  readonly newest: number;
  private readonly finder: GapFinder;
  private readonly segments: Generator<Segment, void, undefined>;

  constructor(private readonly parts: RingParts<Segment>) {
    const { facts, reader, chunks, sequences, window } = parts;
    this.inRing = reader.ring.stretches();
    const last = this.inRing.at(-1);
    this.newest = Math.max(
      facts.head,
      last === undefined ? 0 : last.position + last.length,
      chunks.at(-1)?.end ?? 0,
    );
    const { newest } = this;
    this.chunks = window ? chunksToRead(chunks, window, { newest, capacity: facts.capacity }) : chunks;
    this.finder = new GapFinder(reader.ring, facts.capacity, chunks, new Set(this.chunks), sequences, newest);
    this.segments = this.read();
  }

  get facts(): RingFacts {
    return this.parts.facts;
  }

  /**
   * The next records, at least one, in the memory of those before. null after the last one; then the gaps are complete, and the memory of
   * the last ones may be used for another ring.
   */
  next(): Segment | null {
    const { done, value } = this.segments.next();
    if (done !== true) return value;
    this.parts.reader.release();
    return null;
  }

  private *read(): Generator<Segment, void, undefined> {
    const { reader } = this.parts;
    let at = 0;
    for (const chunk of this.chunks) {
      yield* this.ofRing(at, chunk.from);
      yield* this.ofChunk(chunk);
      at = chunk.end;
    }
    yield* this.ofRing(at, Infinity);
    const { covered: from, lastTick: afterTick } = reader;
    if (this.newest > from) this.lose({ from, end: this.newest, afterTick, beforeTick: null }, null);
  }

  private *ofRing(from: number, end: number): Generator<Segment, void, undefined> {
    const order = clipped(this.inRing, from, end);
    if (order.length > 0) yield* this.assemble(this.parts.reader.ring, order, null);
  }

  private *ofChunk(chunk: RingChunk): Generator<Segment, void, undefined> {
    const { load, reader } = this.parts;
    const payload = load(chunk);
    const slots = reader.openChunk(chunk, payload);
    if (payload !== null) this.badSlots += slots.bad;
    yield* this.assemble(slots, slots.stretches(), { chunk, slots });
    this.finder.passed({ chunk, slots }, reader.covered);
  }

  private *assemble(
    places: SlotPlaces,
    order: readonly Stretch[],
    chunk: ChunkSlots | null,
  ): Generator<Segment, void, undefined> {
    for (const piece of pieces(order, SEGMENT_SLOTS)) {
      const { segment, holes } = this.parts.reader.read(places, piece);
      for (const hole of holes) this.lose(hole, chunk);
      if (segment !== null) yield segment;
    }
  }

  private lose({ from, end, afterTick, beforeTick }: TimedHole, chunk: ChunkSlots | null): void {
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
