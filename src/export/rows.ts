/** Rows of a described table as batches. */

import type { Cell, Column } from '../report/run_tables.js';
import type { Batch, BatchColumn } from './batch.js';

/** As many as the kernel has in a block of transfers. */
const BATCH_ROWS = 1 << 16;

/** `traceStart`: ns since 1970. Rows are not kept. */
export function* batchesOf<Row>(
  columns: readonly Column<Row>[],
  rows: Iterable<Row>,
  traceStart: bigint,
): Generator<Batch> {
  let part: Row[] = [];
  const batch = (): Batch => ({
    rows: part.length,
    columns: columns.flatMap(({ of, type, isName, unit }): BatchColumn[] => {
      const cells = part.map(of);
      if (type === 'text') return [textColumn(cells)];
      if (type === 'real') return [realColumn(cells)];
      const whole = cells.map((cell) => (typeof cell === 'number' ? BigInt(Math.round(cell)) : null));
      if (!isName || unit !== 'ns') return [wholeColumn('whole', whole)];
      const times = whole.map((ns) => (ns === null ? null : (traceStart + ns) / 1000n));
      return [wholeColumn('whole', whole), wholeColumn('time', times)];
    }),
  });
  for (const row of rows) {
    if (part.push(row) < BATCH_ROWS) continue;
    yield batch();
    part = [];
  }
  yield batch();
}

const wholeColumn = (type: 'whole' | 'time', cells: readonly (bigint | null)[]): BatchColumn => ({
  type,
  numbers: BigInt64Array.from(cells, (cell) => cell ?? 0n),
  known: bitsOf(cells),
});

const realColumn = (cells: readonly Cell[]): BatchColumn => ({
  type: 'real',
  numbers: Float64Array.from(cells, (cell) => (typeof cell === 'number' ? cell : 0)),
  known: bitsOf(cells),
});

function textColumn(cells: readonly Cell[]): BatchColumn {
  const places = new Map<string, number>();
  const place = (cell: Cell): number => {
    if (cell === null) return 0;
    const text = String(cell);
    if (!places.has(text)) places.set(text, places.size);
    return places.get(text)!;
  };
  return {
    type: 'text',
    places: Int32Array.from(cells, place),
    texts: [...places.keys()],
    known: bitsOf(cells),
  };
}

function bitsOf(cells: readonly unknown[]): Uint8Array | null {
  if (!cells.includes(null)) return null;
  const bits = new Uint8Array(Math.ceil(cells.length / 8));
  cells.forEach((cell, row) => {
    if (cell !== null) bits[row >> 3]! |= 1 << (row & 7);
  });
  return bits;
}
