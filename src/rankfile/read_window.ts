/**
 * Which part of a file is read when only a stretch of time is wanted: the chunks with records of that time or around it, the newest lap of
 * each ring, and whatever the file's own rings hold. A file of flight mode is nothing else, so all of it is read. What is not read is a gap
 * with a cause of its own: it is neither lost nor silence.
 */

import type { RingChunk } from './chunk_index.js';
import type { ReadWindow } from './types.js';

/** `newest`: one past the newest position of the ring. */
export function chunksToRead(
  chunks: readonly RingChunk[],
  { from, to, around }: ReadWindow,
  lap: { readonly newest: number; readonly capacity: number },
): RingChunk[] {
  return chunks.filter(
    ({ entry: { span }, end }) =>
      span === null ||
      end > lap.newest - lap.capacity ||
      (span.last >= from - around && span.first <= to + around),
  );
}
