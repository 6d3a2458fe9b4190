/**
 * Which part of a file is read when only a stretch of time is wanted: the chunks with records of that time or around it, the newest lap of
 * each ring, and the content of the file's own rings. A file of flight mode has only rings, so all of it is read. The parts that are not
 * read become gaps with a cause of their own. Such a gap is neither a loss nor a pause.
 */

import type { RingChunk } from './chunk_index.js';
import type { ReadWindow } from './file_types.js';

/** `newest`: one past the newest position of the ring. */
export function chunksToRead(
  chunks: readonly RingChunk[],
  { from, to, around, isLapOnly }: ReadWindow,
  lap: { readonly newest: number; readonly capacity: number },
): RingChunk[] {
  const isInLap = ({ end }: RingChunk): boolean => end > lap.newest - lap.capacity;
  if (isLapOnly === true) return chunks.filter(isInLap);
  return chunks.filter((chunk) => {
    const { span } = chunk.entry;
    return span === null || isInLap(chunk) || (span.last >= from - around && span.first <= to + around);
  });
}
