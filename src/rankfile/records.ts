/** Records in columns, for a caller who keeps them. */

import type { RecordColumns } from './file_types.js';

/** For a caller who keeps records longer than their space. */
export function copyOf(records: RecordColumns): RecordColumns {
  const { length, extraStart, extra } = records;
  const column = <Column extends Float64Array | Uint32Array | Uint8Array>(
    from: Column,
    rows = length,
  ): Column => from.slice(0, rows) as Column;
  return {
    length,
    position: column(records.position),
    tick: column(records.tick),
    kind: column(records.kind),
    word1Low: column(records.word1Low),
    word1High: column(records.word1High),
    word2Low: column(records.word2Low),
    word2High: column(records.word2High),
    extraStart: column(extraStart, length + 1),
    extra: column(extra, extraStart[length]),
  };
}

/** The records of all segments. */
export function concatenated(segments: readonly RecordColumns[]): RecordColumns {
  if (segments.length === 1) return segments[0]!;
  const length = segments.reduce((sum, segment) => sum + segment.length, 0);
  const extraLength = segments.reduce((sum, segment) => sum + segment.extra.length, 0);
  const all = {
    length,
    position: new Float64Array(length),
    tick: new Float64Array(length),
    kind: new Uint8Array(length),
    word1Low: new Uint32Array(length),
    word1High: new Uint32Array(length),
    word2Low: new Uint32Array(length),
    word2High: new Uint32Array(length),
    extraStart: new Uint32Array(length + 1),
    extra: new Uint32Array(extraLength),
  };
  let row = 0;
  let extra = 0;
  for (const segment of segments) {
    for (const column of COLUMNS) all[column].set(segment[column], row);
    for (let i = 1; i <= segment.length; i++) all.extraStart[row + i] = extra + segment.extraStart[i]!;
    all.extra.set(segment.extra, extra);
    row += segment.length;
    extra += segment.extra.length;
  }
  return all;
}

const COLUMNS = ['position', 'tick', 'kind', 'word1Low', 'word1High', 'word2Low', 'word2High'] as const;
