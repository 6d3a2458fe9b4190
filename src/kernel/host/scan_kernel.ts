/** Scans one file with the kernel: pairs all its records, segment after segment of its rings, and reads what it found. */

import { type Ticks, ticks } from '../../base/time.js';
import type { Span } from '../../model/control.js';
import { AreaClass, FOLD_OF_START } from '../../rankfile/format/constants.js';
import type { FileFacts, OpenFold, RingClass, RingFacts } from '../../rankfile/file_types.js';
import { StampRow } from '../result_rows.js';
import { COUNTS, type KernelFile } from './kernel_file.js';
import type { KernelExports } from './load.js';
import { Numbers } from './numbers.js';

/** A ring whose records the kernel makes. `next`: false if there is no further segment. */
export interface KernelRing extends RingFacts {
  readonly next: () => true | null;
}

export interface KernelRings {
  readonly rings: readonly KernelRing[];
  readonly folds: () => readonly OpenFold[];
}

export type ScannedFile = FileFacts & KernelRings;

export interface ScanWishes {
  /** The side file of steps: every step or only the first one of each operation, and how many rows at most. */
  readonly steps: { readonly every: boolean; readonly mostRows: number } | null;
  /** Tick from which on the sent bytes are counted; may be -Infinity. */
  readonly sentSince: number;
  /** Spans in which fewer calls were recorded. */
  readonly unrecorded: readonly Span[];
  /** Stamps of GPUs: rows of StampRow. */
  readonly onStamps: (stamps: Float64Array) => void;
  /** What was read of a ring. */
  readonly onRing: (ring: number, seen: SeenRing) => void;
}

export interface SeenRing {
  readonly records: number;
  /** Tick of the newest record; 0: none. */
  readonly lastTick: Ticks;
}

const CLASSES: Readonly<Record<RingClass, number>> = {
  steps: AreaClass.RingSteps,
  ops: AreaClass.RingOps,
  host: AreaClass.RingHost,
  overflow: AreaClass.RingOverflow,
};

export const STAMP_NUMBERS = Object.keys(new StampRow()).length;
/** As in src/kernel/row_blocks.ts. */
const BLOCK_ROWS = 1024;
/** Stamps are handed on when there are so many, so that memory does not grow with the run. */
const MANY_STAMPS = 8192;

/**
 * Pairs all records of a file whose rings are `rows` of the kernel's file. The numbers are those of src/kernel/results.ts, and valid until
 * it is closed.
 */
export function runKernel({ kernel }: KernelFile, file: ScannedFile, wishes: ScanWishes): Numbers {
  const { exports } = kernel;
  const byRing = new Map(file.rings.map((ring) => [ring.ring, ring]));
  kernel.nextSegment = (ring) => {
    if (exports.stampCount() >= MANY_STAMPS) passStamps(exports, wishes);
    return byRing.get(ring)!.next() === true;
  };
  prepare(exports, file, wishes);
  exports.run();
  passStamps(exports, wishes);
  for (const { ring } of file.rings) {
    const [records, , , , lastTick] = new Float64Array(exports.memory.buffer, exports.countsAt(ring), COUNTS);
    wishes.onRing(ring, { records: records!, lastTick: ticks(Number.isNaN(lastTick) ? 0 : lastTick!) });
  }
  const at = exports.finish();
  return new Numbers(exports.memory.buffer, at, exports.resultCount());
}

function prepare(kernel: KernelExports, file: ScannedFile, wishes: ScanWishes): void {
  kernel.beginScan();
  for (const { from, end } of wishes.unrecorded) kernel.addUnrecorded(from, end);
  addRings(kernel, file, () => true);
  kernel.countSentSince(wishes.sentSince);
  if (wishes.steps) kernel.wantStepRows(wishes.steps.every, wishes.steps.mostRows);
}

/** The rings, and the repeats that were going on. */
export function addRings(kernel: KernelExports, file: KernelRings, isRead: (ring: number) => boolean): void {
  for (const { ring, class: ringClass, chunks, capacity } of file.rings) {
    const positions = capacity + (chunks ? chunks.end - chunks.from : 0);
    kernel.addRing(ring, CLASSES[ringClass], positions, isRead(ring));
  }
  for (const { ring, handleLow, handleHigh, state, count, lastTick } of file.folds()) {
    const handle = (BigInt(handleHigh) << 32n) | BigInt(handleLow);
    kernel.addFold(ring, handle, state === 'start' ? FOLD_OF_START : state, count, lastTick);
  }
}

function passStamps(kernel: KernelExports, { onStamps }: ScanWishes): void {
  const count = kernel.stampCount();
  for (let row = 0; row < count; row += BLOCK_ROWS) {
    const rows = Math.min(BLOCK_ROWS, count - row);
    onStamps(new Float64Array(kernel.memory.buffer, kernel.stampAt(row), STAMP_NUMBERS * rows));
  }
  kernel.forgetStamps();
}
