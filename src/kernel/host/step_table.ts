/** All network transfers of a file in columns, block after block (src/kernel/step_table.ts). */

import { TransferRow } from '../result_rows.js';
import type { KernelFile } from './kernel_file.js';
import { addRings, type KernelRings } from './scan_kernel.js';

const ROWS = 1 << 16;
const COLUMN_BYTES = ROWS * 8;
const BITMAP_BYTES = ROWS / 8;
const NAMES = Object.keys(new TransferRow()) as readonly (keyof TransferRow)[];

/** A column: a number per row, and a bit per row that is 1 if it is known. */
export interface KnownNumbers {
  readonly numbers: BigInt64Array;
  readonly known: Uint8Array;
}

export interface StepBlock extends Readonly<Record<keyof TransferRow, KnownNumbers>> {
  readonly rows: number;
}

/** From ticks to the time of the trace (clocks/domains.ts, clocks/clock_map.ts). */
export interface StepTableTimes {
  readonly scale: { readonly offset: number; readonly nsPerTick: number };
  readonly map: { readonly segments: readonly Record<'from' | 'to' | 'offset' | 'drift', number>[] };
  /** ns since 1970. */
  readonly traceStart: bigint;
}

/** `take` is called for each block; its memory is used again afterwards. `kernel`: has begun the file. */
export function readStepTable(
  { kernel }: KernelFile,
  file: KernelRings,
  { scale, map, traceStart }: StepTableTimes,
  take: (block: StepBlock) => void,
): void {
  const { exports } = kernel;
  const byRing = new Map(file.rings.map((ring) => [ring.ring, ring]));
  kernel.nextSegment = (ring) => byRing.get(ring)!.next() === true;
  exports.setClock(scale.offset, scale.nsPerTick);
  for (const { from, to, offset, drift } of map.segments) exports.addClockSegment(from, to, offset, drift);
  const at = exports.beginStepTable(Number(traceStart / 1000n), Number(traceStart % 1000n));
  kernel.takeSteps = (rows) => {
    if (rows > 0) take(blockAt(exports.memory.buffer, at, rows));
  };
  addRings(exports, file, () => true);
  exports.run();
  exports.finishStepTable();
}

function blockAt(buffer: ArrayBuffer, at: number, rows: number): StepBlock {
  const bitmaps = at + NAMES.length * COLUMN_BYTES;
  const columns = NAMES.map((name, i): [string, KnownNumbers] => [
    name,
    {
      numbers: new BigInt64Array(buffer, at + i * COLUMN_BYTES, rows),
      known: new Uint8Array(buffer, bitmaps + i * BITMAP_BYTES, Math.ceil(rows / 8)),
    },
  ]);
  return { rows, ...(Object.fromEntries(columns) as Record<keyof TransferRow, KnownNumbers>) };
}
