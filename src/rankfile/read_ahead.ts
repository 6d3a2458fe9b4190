/**
 * Reads whole pages where a few bytes are asked for. The header, counters and small tables of a file lie side by side: some twenty reads
 * of 128 to 4,096 bytes were most of what opening a file costs. Only the newest pages are kept. So what is asked for page by page has the
 * content of the time when its first byte was asked for. Chunks begin at multiples of a page, so no page holds an
 * area and a chunk, and rings are still read before chunks (rank_file_stream.ts).
 */

import type { ByteSource, ClosableSource } from './byte_source.js';

const PAGE = 4096;

/** `source` with fewer reads. It has the same bytes, and is short where `source` is short. */
export function readAhead(source: ClosableSource): ClosableSource {
  let first = 0;
  let pages: Uint8Array = new Uint8Array(0);
  const read: ByteSource['read'] = (offset, length, into) => {
    const end = Math.min(offset + length, source.bytes);
    if (length >= PAGE || offset < 0 || end <= offset) return source.read(offset, length, into);
    if (offset < first || end > first + pages.length) {
      first = offset - (offset % PAGE);
      pages = source.read(first, Math.ceil(end / PAGE) * PAGE - first);
    }
    return pages.slice(offset - first, Math.max(offset, end) - first);
  };
  return { ...source, read };
}
