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
  const [startUs, startNs] = [Number(traceStart / 1000n), Number(traceStart % 1000n)];
  const date = (ns: number): number => startUs + Math.floor((Math.round(ns) + startNs) / 1000);
  const batch = (): Batch => ({
    rows: part.length,
    columns: columns.flatMap(({ of, type, isName, unit }): BatchColumn[] => {
      const cells = part.map(of);
      if (type === 'text') return [textColumn(cells)];
      if (type === 'real') return [realColumn(cells)];
      const whole = wholeColumn('whole', cells, Math.round);
      return isName && unit === 'ns' ? [whole, wholeColumn('time', cells, date)] : [whole];
    }),
  });
  for (const row of rows) {
    if (part.push(row) < BATCH_ROWS) continue;
    yield batch();
    part = [];
  }
  yield batch();
}

/** A whole number is written as its two halves: a BigInt of each would be garbage. What is no number is not known. */
function wholeColumn(
  type: 'whole' | 'time',
  cells: readonly Cell[],
  wholeOf: (cell: number) => number,
): BatchColumn {
  const numbers = new BigInt64Array(cells.length);
  const words = new Int32Array(numbers.buffer);
  cells.forEach((cell, row) => {
    if (typeof cell !== 'number') return;
    const whole = wholeOf(cell);
    words[2 * row] = whole;
    words[2 * row + 1] = Math.floor(whole / 2 ** 32);
  });
  return { type, numbers, known: bitsOf(cells, (cell) => typeof cell === 'number') };
}

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

function bitsOf(cells: readonly Cell[], isKnown = (cell: Cell): boolean => cell !== null): Uint8Array | null {
  if (cells.every(isKnown)) return null;
  const bits = new Uint8Array(Math.ceil(cells.length / 8));
  cells.forEach((cell, row) => {
    if (isKnown(cell)) bits[row >> 3]! |= 1 << (row & 7);
  });
  return bits;
}
