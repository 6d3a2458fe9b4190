/**
 * Why positions of a ring are not in the file. A hole is cut at the borders of chunks; each piece has one cause
 * (schemas/rank-file.md, "Windows, gaps and losses" and "Chunks"), and neighbours of one cause are one gap again.
 */

import { append } from '../base/extremes.js';
import { MAX_PARTS } from './format/constants.js';
import type { RingChunk, Sequences } from './chunk_index.js';
import type { CheckedSlots } from './slots.js';
import type { Gap } from './types.js';

type Cause = Gap['cause'];

interface Piece {
  readonly from: number;
  readonly end: number;
  /** null: nothing is missing here but the rest of a record; the cause is that of the piece next to it. */
  readonly cause: Cause | null;
}

/** Slots at consecutive indices and positions, the first at `first`. */
export interface ChunkSlots {
  readonly chunk: RingChunk;
  readonly slots: CheckedSlots;
}

export class GapFinder {
  /** Chunks that were passed with a slot missing after the newest record. */
  private readonly lacking = new Set<RingChunk>();
  private readonly chunksEnd: number;

  constructor(
    private readonly ring: CheckedSlots,
    private readonly capacity: number,
    private readonly chunks: readonly RingChunk[],
    private readonly sequences: Sequences,
    /** One past the newest position that is known. */
    private readonly newest: number,
  ) {
    this.chunksEnd = chunks.at(-1)?.end ?? 0;
  }

  /** To be called behind each chunk; `covered`: one past the newest record so far. */
  passed(now: ChunkSlots, covered: number): void {
    if (lacksSlots(now, Math.max(covered, now.chunk.from), now.chunk.end)) this.lacking.add(now.chunk);
  }

  /** The gaps of a hole: every position in exactly one. `now`: the chunk in which the hole ends, if it is one. */
  judge(from: number, end: number, now: ChunkSlots | null): Pick<Gap, 'from' | 'end' | 'cause'>[] {
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
      const lacks = this.lacking.has(chunk) || (now?.chunk === chunk && lacksSlots(now, at, last));
      pieces.push({ from: at, end: last, cause: lacks ? 'torn' : null });
      at = last;
    }
    if (at < end) append(pieces, this.piecesOfRing(at, end));
    this.lacking.clear();
    return joined(pieces);
  }

  /** Index of the first chunk that ends after a position. */
  private firstChunkAfter(position: number): number {
    let low = 0;
    let high = this.chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.chunks[middle]!.end <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Why the positions before a chunk are in no chunk: the recorder took what came later. */
  private causeBefore(index: number): Cause {
    const { sequences } = this;
    const before = index === 0 ? -1 : this.chunks[index - 1]!.entry.sequence;
    if (index === 0 && sequences.dropped > 0) return 'dropped';
    return sequences.areAllBetween(before, this.chunks[index]!.entry.sequence) ? 'overwritten' : 'torn';
  }

  /**
   * Behind the chunks. A ring that has wrapped has lost everything older than one lap before its end, and up to two
   * records more at that edge: the oldest, cut by the newest, and what the producer was about to write over it.
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

  /** 'copy' when every place holds something good of another lap: only a copy of a moving ring looks like that. */
  private causeInRing(from: number, end: number): Cause {
    let ofAnotherLap = false;
    for (let position = Math.max(from, end - this.capacity); position < end; position++) {
      const there = this.ring.position[position % this.capacity];
      if (there === undefined || there < 0) return 'torn';
      if (there !== position) ofAnotherLap = true;
    }
    return ofAnotherLap ? 'copy' : 'torn';
  }
}

function lacksSlots({ chunk, slots }: ChunkSlots, from: number, end: number): boolean {
  for (let position = from; position < end; position++)
    if (slots.position[position - chunk.entry.first]! < 0) return true;
  return false;
}

/** Parts of a record whose rest is missing are lost for the reason that its rest is: what is missing behind, else before. */
function joined(pieces: readonly Piece[]): { from: number; end: number; cause: Cause }[] {
  const causes: (Cause | null)[] = pieces.map(({ cause }) => cause);
  for (let i = causes.length - 2; i >= 0; i--) causes[i] ??= causes[i + 1]!;
  for (let i = 1; i < causes.length; i++) causes[i] ??= causes[i - 1]!;

  const gaps: { from: number; end: number; cause: Cause }[] = [];
  pieces.forEach(({ from, end }, i) => {
    const cause = causes[i] ?? 'torn';
    const last = gaps.at(-1);
    if (last?.cause === cause) last.end = end;
    else gaps.push({ from, end, cause });
  });
  return gaps;
}
