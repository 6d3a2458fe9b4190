/**
 * Scans one file with the kernel: hands it the facts of the file, then segment after segment of its rings, and reads what it found. There is
 * one kernel per thread and its memory holds one file, so a scan runs from begin to end without another.
 */

import { assert } from '../../base/assert.js';
import { isLostText } from '../../base/lost_text.js';
import { type Ticks, ticks } from '../../base/time.js';
import { hasRoot } from '../../model/roots.js';
import type { Span } from '../../model/control.js';
import { AreaClass, FOLD_OF_START, SLOT_BYTES } from '../../rankfile/format/constants.js';
import { tagBits } from '../../rankfile/format/handle.js';
import { MIN_PARTS } from '../../rankfile/format/layouts.js';
import type { RingChunk } from '../../rankfile/chunk_index.js';
import type { ReadersOf, RingBytes, RingItself } from '../../rankfile/rank_file_stream.js';
import type {
  ReadRecords,
  RecordCounts,
  RecordReader,
  SlotPlaces,
  TimedHole,
} from '../../rankfile/record_reader.js';
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

/**
 * Makes the records of a file's rings, in the kernel. One file at a time: the next one takes the memory of the one before, which then is an
 * error to use.
 */
export const kernelReaders: ReadersOf<true> = (file) => {
  const kernel = loadKernel();
  begin(kernel, file);
  newest = {};
  const own = newest;
  const use = (): KernelExports => {
    assert(own === newest, 'another file has the kernel');
    return kernel;
  };
  return (ring, bytes) => new KernelReader(use, ring, bytes);
};

/** Stands for the file that has the kernel. */
let newest = {};

/**
 * Pairs all records of a file whose rings have `kernelReaders`. The numbers are those of src/kernel/results.ts, and valid until the next
 * file.
 */
export function runKernel(file: KernelFile, wishes: ScanWishes): Numbers {
  const byRing = new Map(file.rings.map((ring) => [ring.ring, ring]));
  const kernel = loadKernel((ring) => {
    if (kernel.stampCount() >= MANY_STAMPS) passStamps(kernel, wishes);
    return byRing.get(ring)!.next() === true;
  });
  prepare(kernel, file, wishes);
  kernel.run();
  passStamps(kernel, wishes);
  for (const { ring } of file.rings) {
    const [records, , , , lastTick] = new Float64Array(kernel.memory.buffer, kernel.countsAt(ring), COUNTS);
    wishes.onRing(ring, { records: records!, lastTick: ticks(Number.isNaN(lastTick) ? 0 : lastTick!) });
  }
  const at = kernel.finish();
  return new Numbers(new Float64Array(kernel.memory.buffer, at, kernel.resultCount()));
}

function begin(
  kernel: KernelExports,
  { header, communicators, strings }: Pick<FileFacts, 'header' | 'communicators' | 'strings'>,
): void {
  const { tickBase, startRealtime, tickHz, tag } = header;
  new Uint8Array(kernel.memory.buffer, kernel.minPartsAt(), MIN_PARTS.length).set(MIN_PARTS);
  kernel.begin(tickBase, startRealtime, frameOf(header).farthest, tickHz, tagBits(tag));
  for (const { number, commId, rank, nRanks, finalizeTick } of communicators.values())
    kernel.addCommunicator(number, commId, rank, nRanks, finalizeTick ?? NaN);
  addTexts(kernel, strings);
}

function prepare(kernel: KernelExports, file: KernelFile, wishes: ScanWishes): void {
  for (const { from, end } of wishes.unrecorded) kernel.addUnrecorded(from, end);
  for (const { ring, class: ringClass, chunks, capacity } of file.rings)
    kernel.addRing(ring, CLASSES[ringClass], capacity + (chunks ? chunks.end - chunks.from : 0));
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

/** Slots in the kernel's memory. */
class KernelPlaces implements SlotPlaces {
  constructor(
    private readonly use: () => KernelExports,
    private readonly ring: number,
    readonly isOfChunk: boolean,
    readonly count: number,
    /** Torn ones of a ring. */
    readonly tornSlots: number,
    /** Invalid ones of a chunk. */
    readonly bad: number,
  ) {}

  positionAt(index: number): number {
    return this.use().positionAt(this.ring, this.isOfChunk, index);
  }

  stretches(): Stretch[] {
    const kernel = this.use();
    const count = kernel.stretchCount(this.ring, this.isOfChunk);
    if (count === 0) return [];
    const at = kernel.stretchesOf(this.ring, this.isOfChunk);
    const numbers = new Float64Array(kernel.memory.buffer, at, 3 * count);
    const found = Array.from({ length: count }, (_, i): Stretch => ({
      position: numbers[3 * i]!,
      index: numbers[3 * i + 1]!,
      length: numbers[3 * i + 2]!,
    }));
    return found.sort((a, b) => a.position - b.position);
  }
}

class KernelReader implements RecordReader<true> {
  readonly ring: KernelPlaces;
  private readonly number: number;
  private readonly capacity: number;

  constructor(
    private readonly use: () => KernelExports,
    { ring, capacity, head }: RingItself,
    bytes: RingBytes,
  ) {
    const kernel = use();
    kernel.openRing(ring);
    const at = kernel.ringMemory(ring, bytes.slots);
    const count = place(bytes.read(memoryAt(kernel, at, bytes.slots)), kernel, at);
    const torn = kernel.checkRing(ring, count, capacity, head);
    this.number = ring;
    this.capacity = capacity;
    this.ring = new KernelPlaces(use, ring, false, count, torn, 0);
  }

  openChunk({ entry, from, end }: RingChunk, words: Uint32Array | null): KernelPlaces {
    const kernel = this.use();
    const slots = entry.rawBytes / SLOT_BYTES;
    const memory = memoryAt(kernel, kernel.chunkMemory(this.number, slots), slots);
    if (words === null) memory.fill(0);
    else memory.set(new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
    const bad = kernel.checkChunk(this.number, slots, entry.first, from, end, this.capacity);
    return new KernelPlaces(this.use, this.number, true, slots, 0, bad);
  }

  get covered(): number {
    return this.use().endOfRecords(this.number);
  }

  get lastTick(): Ticks | null {
    const kernel = this.use();
    return tickOrNull(this.numbers(kernel.countsAt(this.number), COUNTS)[4]!);
  }

  read(places: SlotPlaces, order: readonly Stretch[]): ReadRecords<true> {
    const kernel = this.use();
    const stretches = this.numbers(kernel.segmentAt(), 3 * order.length);
    order.forEach(({ position, index, length }, i) => {
      stretches[3 * i] = position;
      stretches[3 * i + 1] = index;
      stretches[3 * i + 2] = length;
    });
    const records = kernel.readSegment(this.number, places !== this.ring, order.length);
    return { segment: records > 0 ? true : null, holes: this.holes() };
  }

  counts(): RecordCounts {
    const kernel = this.use();
    const [, tooShort, early, impossible] = this.numbers(kernel.countsAt(this.number), 4);
    const kinds = new Uint32Array(kernel.memory.buffer, kernel.kindsAt(this.number), 256).slice();
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
    const kernel = this.use();
    const count = kernel.holeCount(this.number);
    if (count === 0) return [];
    const numbers = this.numbers(kernel.holesAt(this.number), 4 * count);
    return Array.from({ length: count }, (_, i) => ({
      from: numbers[4 * i]!,
      end: numbers[4 * i + 1]!,
      afterTick: tickOrNull(numbers[4 * i + 2]!),
      beforeTick: tickOrNull(numbers[4 * i + 3]!),
    }));
  }

  private numbers(at: number, count: number): Float64Array {
    return new Float64Array(this.use().memory.buffer, at, count);
  }
}

const memoryAt = (kernel: KernelExports, at: number, slots: number): Uint8Array =>
  new Uint8Array(kernel.memory.buffer, at, slots * SLOT_BYTES);

/** Puts bytes there, unless they are there. Returns the number of whole slots. */
function place(bytes: Uint8Array, kernel: KernelExports, at: number): number {
  const count = Math.floor(bytes.length / SLOT_BYTES);
  const isThere = bytes.buffer === kernel.memory.buffer && bytes.byteOffset === at;
  if (!isThere) memoryAt(kernel, at, count).set(bytes.subarray(0, count * SLOT_BYTES));
  return count;
}

const tickOrNull = (tick: number): Ticks | null => (Number.isNaN(tick) ? null : ticks(tick));
