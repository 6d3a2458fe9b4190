/**
 * Scans one file with the kernel: hands it the facts of the file, then segment after segment of its rings, and reads what it found. There is
 * one kernel per thread and its memory holds one file, so a scan runs from begin to end without another.
 */

import { isLostText } from '../../base/lost_text.js';
import { type Ticks, ticks } from '../../base/time.js';
import { hasRoot } from '../../model/roots.js';
import type { Span } from '../../model/control.js';
import { AreaClass, FOLD_OF_START } from '../../rankfile/format/constants.js';
import { tagBits } from '../../rankfile/format/handle.js';
import { MIN_PARTS } from '../../rankfile/format/layouts.js';
import type { ReadRecords, RecordCounts, RecordReader, TimedHole } from '../../rankfile/record_reader.js';
import { slotsIn } from '../../rankfile/records.js';
import type { Stretch } from '../../rankfile/slots.js';
import { frameOf } from '../../rankfile/tick_frame.js';
import type { FileFacts, OpenFold, RingClass, RingFacts } from '../../rankfile/types.js';
import { type KernelExports, loadKernel } from './load.js';
import { Numbers } from './numbers.js';

/** A ring whose records the kernel makes. `next`: false if there is no further segment. */
export interface KernelRing extends RingFacts {
  readonly next: () => true | null;
}

export interface KernelFile extends FileFacts {
  readonly rings: readonly KernelRing[];
  readonly folds: () => readonly OpenFold[];
}

export interface ScanWishes {
  /** The side file of steps: every step or only the first one of each operation, and how many rows at most. */
  readonly steps: { readonly every: boolean; readonly mostRows: number } | null;
  readonly transfers: boolean;
  /** Spans in which fewer calls were recorded. */
  readonly unrecorded: readonly Span[];
  /** A stamp of a GPU: columns of src/kernel/stamps.ts. */
  readonly onStamp: (stamp: Float64Array) => void;
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

/** Facts about a text; src/kernel/file.ts has the same. */
const TEXT = { hasRoot: 1, isLost: 2, isSimple: 4 };
const STAMP_NUMBERS = 6;
/** Numbers of `RingCounts` in src/kernel/record.ts. */
const COUNTS = 5;
/** Stamps are handed on when there are so many, so that memory does not grow with the run. */
const MANY_STAMPS = 8192;

/** Pairs all records of a file. The numbers are those of src/kernel/results.ts, and valid until the next scan of this thread. */
export function runKernel(file: KernelFile, wishes: ScanWishes): Numbers {
  const kernel = loadKernel((ring) => {
    if (kernel.stampCount() >= MANY_STAMPS) passStamps(kernel, wishes);
    return byRing.get(ring)!.next() === true;
  });
  const byRing = new Map(file.rings.map((ring) => [ring.ring, ring]));
  begin(kernel, file, wishes);
  kernel.run();
  passStamps(kernel, wishes);
  for (const { ring } of file.rings) {
    const [records, , , , lastTick] = new Float64Array(kernel.memory.buffer, kernel.countsAt(ring), COUNTS);
    wishes.onRing(ring, { records: records!, lastTick: ticks(Number.isNaN(lastTick) ? 0 : lastTick!) });
  }
  const at = kernel.finish();
  return new Numbers(new Float64Array(kernel.memory.buffer, at, kernel.resultCount()));
}

function begin(kernel: KernelExports, file: KernelFile, wishes: ScanWishes): void {
  const { header, communicators, strings } = file;
  const { tickBase, startRealtime, tickHz, tag } = header;
  new Uint8Array(kernel.memory.buffer, kernel.minPartsAt(), MIN_PARTS.length).set(MIN_PARTS);
  kernel.begin(tickBase, startRealtime, frameOf(header).farthest, tickHz, tagBits(tag));
  for (const { number, commId, rank, nRanks, finalizeTick } of communicators.values())
    kernel.addCommunicator(number, commId, rank, nRanks, finalizeTick ?? NaN);
  addTexts(kernel, strings);
  for (const { from, end } of wishes.unrecorded) kernel.addUnrecorded(from, end);
  for (const ring of file.rings) {
    const { chunks, capacity } = ring;
    kernel.addRing(ring.ring, CLASSES[ring.class], capacity + (chunks ? chunks.end - chunks.from : 0));
  }
  for (const { ring, handleLow, handleHigh, state, count, lastTick } of file.folds()) {
    const handle = (BigInt(handleHigh) << 32n) | BigInt(handleLow);
    kernel.addFold(ring, handle, state === 'start' ? FOLD_OF_START : state, count, lastTick);
  }
  if (wishes.steps) kernel.wantStepRows(wishes.steps.every, wishes.steps.mostRows);
  if (wishes.transfers) kernel.wantTransfers();
}

function addTexts(kernel: KernelExports, strings: FileFacts['strings']): void {
  const first = new Map<string, number>();
  strings.forEach((text, id) => {
    if (text === undefined) return;
    const same = first.get(text) ?? id;
    first.set(text, same);
    const flags =
      (hasRoot(text) ? TEXT.hasRoot : 0) |
      (isLostText(text) ? TEXT.isLost : 0) |
      (text.toUpperCase() === 'SIMPLE' ? TEXT.isSimple : 0);
    const at = kernel.addText(id, text.length, flags, same);
    const units = new Uint16Array(kernel.memory.buffer, at, text.length);
    for (let i = 0; i < units.length; i++) units[i] = text.charCodeAt(i);
  });
}

function passStamps(kernel: KernelExports, { onStamp }: ScanWishes): void {
  const count = kernel.stampCount();
  for (let row = 0; row < count; row++)
    onStamp(new Float64Array(kernel.memory.buffer, kernel.stampAt(row), STAMP_NUMBERS));
  kernel.forgetStamps();
}

/** The records of a ring, in the kernel. The reader is made before the kernel knows the file, and used after. */
export class KernelReader implements RecordReader<true> {
  private readonly kernel = loadKernel();

  constructor(private readonly ring: number) {}

  get covered(): number {
    return this.kernel.endOfRecords(this.ring);
  }

  get lastTick(): Ticks | null {
    return tickOrNull(this.numbers(this.kernel.countsAt(this.ring), COUNTS)[4]!);
  }

  read(words: Uint32Array, order: readonly Stretch[]): ReadRecords<true> {
    const { kernel, ring } = this;
    const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    const slots = new Uint8Array(kernel.memory.buffer, kernel.slotsAt(ring), slotsIn(order) * SLOT_BYTES);
    const stretches = new Float64Array(kernel.memory.buffer, kernel.stretchesAt(), 2 * order.length);
    let at = 0;
    order.forEach(({ position, index, length }, i) => {
      slots.set(bytes.subarray(index * SLOT_BYTES, (index + length) * SLOT_BYTES), at);
      at += length * SLOT_BYTES;
      stretches[2 * i] = position;
      stretches[2 * i + 1] = length;
    });
    const records = kernel.readSegment(ring, order.length);
    return { segment: records > 0 ? true : null, holes: this.holes() };
  }

  counts(): RecordCounts {
    const { kernel, ring } = this;
    const [, tooShort, early, impossible] = this.numbers(kernel.countsAt(ring), 4);
    const kinds = new Uint32Array(kernel.memory.buffer, kernel.kindsAt(ring), 256).slice();
    return { kinds, tooShort: tooShort!, early: early!, impossible: impossible! };
  }

  /** The kernel itself looks for the folds that the ring has a record of. */
  withoutRecorded(folds: readonly OpenFold[]): readonly OpenFold[] {
    return folds;
  }

  release(): void {
    // The kernel's memory is free when the next file begins.
  }

  private holes(): TimedHole[] {
    const { kernel, ring } = this;
    const count = kernel.holeCount(ring);
    if (count === 0) return [];
    const numbers = this.numbers(kernel.holesAt(ring), 4 * count);
    return Array.from({ length: count }, (_, i) => ({
      from: numbers[4 * i]!,
      end: numbers[4 * i + 1]!,
      afterTick: tickOrNull(numbers[4 * i + 2]!),
      beforeTick: tickOrNull(numbers[4 * i + 3]!),
    }));
  }

  private numbers(at: number, count: number): Float64Array {
    return new Float64Array(this.kernel.memory.buffer, at, count);
  }
}

const SLOT_BYTES = 32;
const tickOrNull = (tick: number): Ticks | null => (Number.isNaN(tick) ? null : ticks(tick));
