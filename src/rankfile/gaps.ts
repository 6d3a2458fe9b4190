/**
 * Why positions of a ring are missing. A hole is cut at the borders of chunks. Each piece has one cause (schemas/rank-file.md, "Windows,
 * gaps and losses" and "Chunks"), and neighbours with the same cause are joined.
 */

import { firstIndex } from '../base/first_index.js';
import { append } from '../base/extremes.js';
import { MAX_PARTS } from './format/constants.js';
import type { ChunkEntry, RingChunk, Sequences } from './chunk_index.js';
import type { SlotPlaces } from './record_reader.js';
import { TORN } from './slots.js';
import type { Gap } from './file_types.js';

type Cause = Gap['cause'];

interface Piece {
  readonly from: number;
  readonly end: number;
  /** null: only the rest of a record is missing, and the piece next to it has the cause. */
  readonly cause: Cause | null;
  /** Ticks of the records in a chunk that is not read. */
  readonly span?: ChunkEntry['span'];
}

/** `span`: ticks of the records in it, if it is unread. */
export interface JudgedGap {
  readonly from: number;
  end: number;
  readonly cause: Cause;
  span: ChunkEntry['span'];
}

/** Slots at consecutive indices and positions, the first at `first`. */
export interface ChunkSlots {
  readonly chunk: RingChunk;
  readonly slots: SlotPlaces;
}

export class GapFinder {
  /** Chunks so far without some slot after the newest record. */
  private readonly lacking = new Set<RingChunk>();
  private readonly chunksEnd: number;

  constructor(
    private readonly ring: SlotPlaces,
    private readonly capacity: number,
    private readonly chunks: readonly RingChunk[],
    /** The chunks that are read. */
    private readonly read: ReadonlySet<RingChunk>,
    private readonly sequences: Sequences,
    /** One past the newest known position. */
    private readonly newest: number,
  ) {
    this.chunksEnd = chunks.at(-1)?.end ?? 0;
  }

  /** Call it after each chunk; `covered`: one past the newest record so far. */
  passed(now: ChunkSlots, covered: number): void {
    if (lacksSlots(now, Math.max(covered, now.chunk.from), now.chunk.end)) this.lacking.add(now.chunk);
  }

  /** Divides a hole into gaps. Every position is in exactly one gap. `now`: the chunk in which the hole ends, if any. */
  judge(from: number, end: number, now: ChunkSlots | null): JudgedGap[] {
    const pieces: Piece[] = [];
    let at = from;
    for (let i = this.firstChunkAfter(from); at < Math.min(end, this.chunksEnd); i++) {
      const chunk = this.chunks[i]!;
      if (at < chunk.from) {
        pieces.push({ from: at, end: Math.min(end, chunk.from), cause: this.causeBefore(i) });
        at = Math.min(end, chunk.from);
      }
      if (at === end) break;
      const last = Math.min(end, chunk.end);
      if (this.read.has(chunk))
        pieces.push({ from: at, end: last, cause: this.causeIn(chunk, at, last, now) });
      else pieces.push({ from: at, end: last, cause: 'unread', span: chunk.entry.span });
      at = last;
    }
    if (at < end) append(pieces, this.piecesOfRing(at, end));
    this.lacking.clear();
    return joined(pieces);
  }

  private causeIn(chunk: RingChunk, from: number, end: number, now: ChunkSlots | null): Cause | null {
    return this.lacking.has(chunk) || (now?.chunk === chunk && lacksSlots(now, from, end)) ? 'torn' : null;
  }

  /** Index of the first chunk that ends after a position. */
  private firstChunkAfter(position: number): number {
    return firstIndex(this.chunks.length, (i) => this.chunks[i]!.end > position);
  }

  /** The reason why no chunk has the positions before this chunk, although the recorder saved later ones. */
  private causeBefore(index: number): Cause {
    const { sequences } = this;
    const before = index === 0 ? -1 : this.chunks[index - 1]!.entry.sequence;
    if (index === 0 && sequences.dropped > 0) return 'dropped';
    return sequences.areAllBetween(before, this.chunks[index]!.entry.sequence) ? 'overwritten' : 'torn';
  }

  /**
   * The part after the chunks. A wrapped ring has lost everything older than one lap before its end. At that edge it has lost up to two
   * more records: the oldest, which the newest has cut, and the one that the producer was overwriting.
   */
  private piecesOfRing(from: number, end: number): Piece[] {
    const window = this.newest - this.capacity;
    if (from !== this.chunksEnd || window <= from) return [{ from, end, cause: this.causeInRing(from, end) }];
    const cause = this.chunks.length === 0 && this.sequences.dropped > 0 ? 'dropped' : 'overwritten';
    if (end <= window + 2 * MAX_PARTS) return [{ from, end, cause }];
    return [
      { from, end: window, cause },
      { from: window, end, cause: this.causeInRing(window, end) },
    ];
  }

  /** 'copy' if every place holds a valid slot of another lap. Only a copy of a changing ring looks like this. */
  private causeInRing(from: number, end: number): Cause {
    let ofAnotherLap = false;
    for (let position = Math.max(from, end - this.capacity); position < end; position++) {
      const index = position % this.capacity;
      const there = index < this.ring.count ? this.ring.positionAt(index) : TORN;
      if (there < 0) return 'torn';
      if (there !== position) ofAnotherLap = true;
    }
    return ofAnotherLap ? 'copy' : 'torn';
  }
}

function lacksSlots({ chunk, slots }: ChunkSlots, from: number, end: number): boolean {
  for (let position = from; position < end; position++)
    if (slots.positionAt(position - chunk.entry.first) < 0) return true;
  return false;
}

/** Parts of an incomplete record get the cause of the missing rest: of the rest after them, or else before them. */
function joined(pieces: readonly Piece[]): JudgedGap[] {
  const causes: (Cause | null)[] = pieces.map(({ cause }) => cause);
  for (let i = causes.length - 2; i >= 0; i--) causes[i] ??= causes[i + 1]!;
  for (let i = 1; i < causes.length; i++) causes[i] ??= causes[i - 1]!;

  const gaps: JudgedGap[] = [];
  pieces.forEach(({ from, end, span = null }, i) => {
    const cause = causes[i] ?? 'torn';
    const last = gaps.at(-1);
    if (last?.cause !== cause) gaps.push({ from, end, cause, span });
    else {
      last.end = end;
      last.span = both(last.span, span);
    }
  });
  return gaps;
}

function both(a: ChunkEntry['span'], b: ChunkEntry['span']): ChunkEntry['span'] {
  if (!a || !b) return a ?? b;
  return { first: a.first < b.first ? a.first : b.first, last: a.last > b.last ? a.last : b.last };
}
