/**
 * The records of one file, made in the kernel. Tables come first, then `begin`, then rings. `close` gives the kernel to the next file: after
 * that nothing of this one may be used.
 */

import { assert } from '../../base/assert.js';
import { isLostText } from '../../base/lost_text.js';
import { type Ticks, ticks } from '../../base/time.js';
import { hasRoot } from '../../model/roots.js';
import type { RingChunk } from '../../rankfile/chunk_index.js';
import type { Payload } from '../../rankfile/chunk_payload.js';
import { MAX_RINGS, SLOT_BYTES } from '../../rankfile/format/constants.js';
import { tagBits } from '../../rankfile/format/handle.js';
import { MIN_PARTS } from '../../rankfile/format/layouts.js';
import { withoutRecorded } from '../../rankfile/folds.js';
import { farthestTick } from '../../rankfile/format/ranges.js';
import type {
  FileRecords,
  ReadRecords,
  RecordCounts,
  RecordReader,
  RingBytes,
  RingItself,
  SlotPlaces,
  TimedHole,
} from '../../rankfile/record_reader.js';
import type { Stretch } from '../../rankfile/slots.js';
import type { TickFrame } from '../../rankfile/tick_frame.js';
import type { FileFacts, OpenFold, RecordColumns } from '../../rankfile/file_types.js';
import { type ColumnSpace, freeColumns } from './columns.js';
import { noRoomFor, roomFor } from './room.js';
import { giveBack, type Kernel, type KernelExports, lendKernel } from './load.js';

/** Facts about a text; src/kernel/file.ts has the same. */
const TEXT = { hasRoot: 1, isLost: 2, isSimple: 4, isRecv: 8 };
/** Numbers of `RingCounts` in src/kernel/record.ts. */
export const COUNTS = 5;
/** Tables are read one after the other, in place of a ring that no file has. */
const TABLE = MAX_RINGS;

/** Bytes that one segment of records takes without asking. */
const SEGMENT_ROOM = 64 * 2 ** 20;

export class KernelFile implements FileRecords {
  private lent: Kernel | null = lendKernel();
  private frame: TickFrame = { base: 0n, farthest: 0 };
  private hasTables = false;

  get kernel(): Kernel {
    assert(this.lent !== null, 'the file is closed');
    return this.lent;
  }

  close(): void {
    if (this.lent !== null) giveBack(this.lent);
    this.lent = null;
  }

  /** The slots of a table, and its records by segments. */
  table(
    { base, farthest }: TickFrame,
    area: Pick<RingItself, 'capacity' | 'head'>,
    bytes: RingBytes,
  ): KernelReader<RecordColumns> {
    // Once for all tables of a file: it takes longer than reading a small one.
    if (!this.hasTables) this.reset(base, 0n, farthest, 1, 0);
    this.hasTables = true;
    return this.columns({ ring: TABLE, ...area }, bytes);
  }

  /** Before the rings. */
  begin(file: Parameters<FileRecords['begin']>[0]): void {
    const { header, communicators, strings } = file;
    const { tickBase, startRealtime, tickHz, tag } = header;
    this.reset(tickBase, startRealtime, farthestTick(tickHz), tickHz, tagBits(tag));
    const { exports, most } = this.kernel;
    exports.limitRoom(Math.min(roomFor(file), most - SEGMENT_ROOM));
    this.kernel.noRoom = noRoomFor(file);
    for (const { number, commId, rank, nRanks, finalized, abi } of communicators.values())
      exports.addCommunicator(number, commId, rank, nRanks, finalized ?? NaN, abi);
    addTexts(exports, strings);
  }

  /** A ring whose records stay in the kernel. */
  rows(ring: Pick<RingItself, 'ring' | 'capacity' | 'head'>, bytes: RingBytes): KernelReader<true> {
    return new KernelReader(this, ring, bytes, {
      get: () => true,
      release: () => undefined,
      // The kernel itself looks for the folds that the ring has a record of.
      withoutRecorded: (folds) => folds,
    });
  }

  /** A ring whose records come in columns. */
  columns(
    ring: Pick<RingItself, 'ring' | 'capacity' | 'head'>,
    bytes: RingBytes,
  ): KernelReader<RecordColumns> {
    let space: ColumnSpace | undefined;
    return new KernelReader(this, ring, bytes, {
      get: (records) => (space ??= freeColumns()).take(this.kernel.exports, ring.ring, records),
      release: () => {
        space?.release();
        space = undefined;
      },
      withoutRecorded: (folds, records) => withoutRecorded(folds, records, this.frame),
    });
  }

  private reset(
    tickBase: bigint,
    startRealtime: bigint,
    farthest: number,
    tickHz: number,
    tag17: number,
  ): void {
    const { exports } = this.kernel;
    this.frame = { base: tickBase, farthest };
    new Uint8Array(exports.memory.buffer, exports.minPartsAt(), MIN_PARTS.length).set(MIN_PARTS);
    exports.begin(tickBase, startRealtime, farthest, tickHz, tag17);
  }
}

export function addTexts(kernel: KernelExports, strings: FileFacts['strings']): void {
  const first = new Map<string, number>();
  strings.forEach((text, id) => {
    if (text === undefined) return;
    const same = first.get(text) ?? id;
    first.set(text, same);
    const flags =
      (hasRoot(text) ? TEXT.hasRoot : 0) |
      (isLostText(text) ? TEXT.isLost : 0) |
      (text.toUpperCase() === 'SIMPLE' ? TEXT.isSimple : 0) |
      (text === 'Recv' ? TEXT.isRecv : 0);
    const at = kernel.addText(id, text.length, flags, same);
    const units = new Uint16Array(kernel.memory.buffer, at, text.length);
    for (let i = 0; i < units.length; i++) units[i] = text.charCodeAt(i);
  });
}

/** Slots in the kernel's memory. */
class KernelPlaces implements SlotPlaces {
  constructor(
    private readonly file: KernelFile,
    private readonly ring: number,
    readonly isOfChunk: boolean,
    readonly count: number,
    /** Torn ones of a ring. */
    readonly tornSlots: number,
    /** Invalid ones of a chunk. */
    readonly bad: number,
  ) {}

  positionAt(index: number): number {
    return this.file.kernel.exports.positionAt(this.ring, this.isOfChunk, index);
  }

  stretches(): Stretch[] {
    const { exports: kernel } = this.file.kernel;
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

/** Makes a segment of the ring's newest records. */
interface Segments<Segment> {
  readonly get: (records: number) => Segment;
  readonly release: () => void;
  readonly withoutRecorded: RecordReader<Segment>['withoutRecorded'];
}

export class KernelReader<Segment> implements RecordReader<Segment> {
  readonly ring: KernelPlaces;
  private readonly number: number;
  private readonly capacity: number;

  constructor(
    private readonly file: KernelFile,
    { ring, capacity, head }: Pick<RingItself, 'ring' | 'capacity' | 'head'>,
    bytes: RingBytes,
    private readonly segments: Segments<Segment>,
  ) {
    const { exports: kernel } = file.kernel;
    kernel.openRing(ring);
    const at = kernel.ringMemory(ring, bytes.slots);
    const count = place(bytes.read(memoryAt(kernel, at, bytes.slots)), kernel, at);
    const torn = kernel.checkRing(ring, count, capacity, head);
    this.number = ring;
    this.capacity = capacity;
    this.ring = new KernelPlaces(file, ring, false, count, torn, 0);
  }

  openChunk({ entry, from, end }: RingChunk, payload: Payload | null): KernelPlaces {
    const { exports: kernel } = this.file.kernel;
    const slots = entry.rawBytes / SLOT_BYTES;
    if (payload?.arePlanes === true) {
      memoryAt(kernel, kernel.planesMemory(entry.rawBytes), slots).set(payload.bytes);
      kernel.takePlanes(this.number, slots);
    } else {
      const memory = memoryAt(kernel, kernel.chunkMemory(this.number, slots), slots);
      if (payload === null) memory.fill(0);
      else memory.set(payload.bytes);
    }
    if (payload?.areBare === true) kernel.dressChunk(this.number, slots, entry.first);
    const bad = kernel.checkChunk(this.number, slots, entry.first, from, end, this.capacity);
    return new KernelPlaces(this.file, this.number, true, slots, 0, bad);
  }

  get covered(): number {
    return this.file.kernel.exports.endOfRecords(this.number);
  }

  get lastTick(): Ticks | null {
    const { exports: kernel } = this.file.kernel;
    return tickOrNull(this.numbers(kernel.countsAt(this.number), COUNTS)[4]!);
  }

  read(places: SlotPlaces, order: readonly Stretch[]): ReadRecords<Segment> {
    const { exports: kernel } = this.file.kernel;
    const stretches = this.numbers(kernel.segmentAt(), 3 * order.length);
    order.forEach(({ position, index, length }, i) => {
      stretches[3 * i] = position;
      stretches[3 * i + 1] = index;
      stretches[3 * i + 2] = length;
    });
    const records = kernel.readSegment(this.number, places !== this.ring, order.length);
    return { segment: records > 0 ? this.segments.get(records) : null, holes: this.holes() };
  }

  counts(): RecordCounts {
    const { exports: kernel } = this.file.kernel;
    const [, tooShort, early, impossible] = this.numbers(kernel.countsAt(this.number), 4);
    const kinds = new Uint32Array(kernel.memory.buffer, kernel.kindsAt(this.number), 256).slice();
    return { kinds, tooShort: tooShort!, early: early!, impossible: impossible! };
  }

  withoutRecorded(folds: readonly OpenFold[], segment: Segment): readonly OpenFold[] {
    return this.segments.withoutRecorded(folds, segment);
  }

  release(): void {
    this.segments.release();
  }

  private holes(): TimedHole[] {
    const { exports: kernel } = this.file.kernel;
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
    return new Float64Array(this.file.kernel.exports.memory.buffer, at, count);
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
