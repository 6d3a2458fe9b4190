/** The records of a file, made apart from the kernel: what the kernel's records are compared with. */

import { type Ticks, ticks } from '../../../src/base/time.js';
import type { RingChunk } from '../../../src/rankfile/chunk_index.js';
import type { Payload } from '../../../src/rankfile/chunk_payload.js';
import { withoutRecorded } from '../../../src/rankfile/folds.js';
import { SLOT_BYTES } from '../../../src/rankfile/format/constants.js';
import type {
  FileRecords,
  ReadRecords,
  RecordCounts,
  RecordReader,
  RingBytes,
  RingItself,
  SlotPlaces,
  TimedHole,
} from '../../../src/rankfile/record_reader.js';
import { SEGMENT_SLOTS } from '../../../src/rankfile/ring_stream.js';
import { clipped, type Stretch } from '../../../src/rankfile/slots.js';
import { frameOf, type TickFrame } from '../../../src/rankfile/tick_frame.js';
import type { FileFacts, OpenFold, RecordColumns } from '../../../src/rankfile/file_types.js';
import { assembleRecords, type Hole, NOTHING_CARRIED, recordSpace } from './reference_assembly.js';
import { dressSlots, slotsOfPlanes } from './reference_codecs.js';
import { type CheckedSlots, checkChunk, checkRing, stretches } from './reference_slots.js';

export class ReferenceFile implements FileRecords {
  private frame: TickFrame | undefined;

  table(frame: TickFrame, area: Pick<RingItself, 'capacity' | 'head'>, bytes: RingBytes): ReferenceReader {
    return readerOf(frame, area, bytes);
  }

  begin({ header }: Pick<FileFacts, 'header'>): void {
    this.frame = frameOf(header);
  }

  columns(ring: RingItself, bytes: RingBytes): ReferenceReader {
    return readerOf(this.frame!, ring, bytes);
  }

  close(): void {
    this.frame = undefined;
  }
}

function readerOf(
  frame: TickFrame,
  { capacity, head }: Pick<RingItself, 'capacity' | 'head'>,
  { slots, read }: RingBytes,
): ReferenceReader {
  const bytes = read(new Uint8Array(slots * SLOT_BYTES));
  return new ReferenceReader(
    frame,
    capacity,
    checkRing(new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2), capacity, head),
  );
}

/** Eight per slot. */
function wordsOf({ entry }: RingChunk, payload: Payload | null): Uint32Array {
  if (payload === null) return new Uint32Array(entry.rawBytes / 4);
  const words = payload.arePlanes
    ? slotsOfPlanes(payload.bytes)
    : new Uint32Array(payload.bytes.slice().buffer);
  if (payload.areBare) dressSlots(words, entry.first);
  return words;
}

class ReferenceReader implements RecordReader<RecordColumns> {
  lastTick: Ticks | null = null;
  private carry = NOTHING_CARRIED;
  private readonly space = recordSpace(SEGMENT_SLOTS);
  private readonly total = { kinds: new Uint32Array(256), tooShort: 0, early: 0, impossible: 0 };

  readonly ring: CheckedPlaces & { readonly tornSlots: number };

  /** `slots`: the ring's own. */
  constructor(
    private readonly frame: TickFrame,
    private readonly capacity: number,
    slots: CheckedSlots,
  ) {
    this.ring = { ...placesOf(slots, 0, Infinity), tornSlots: slots.tornSlots };
  }

  get covered(): number {
    return this.carry.covered;
  }

  openChunk(chunk: RingChunk, payload: Payload | null): CheckedPlaces & { bad: number } {
    const { entry, from, end } = chunk;
    const slots = checkChunk(wordsOf(chunk, payload), entry.first);
    const { slots: ring } = this.ring;
    let bad = 0;
    for (let position = from; position < end; position++) {
      const index = position - entry.first;
      if (slots.position[index]! >= 0) continue;
      bad++;
      const there = position % this.capacity;
      if (ring.position[there] !== position) continue;
      slots.words.set(ring.words.subarray(there * 8, there * 8 + 8), index * 8);
      slots.position[index] = position;
    }
    return { ...placesOf(slots, from, end), bad };
  }

  read({ slots }: CheckedPlaces, order: readonly Stretch[]): ReadRecords<RecordColumns> {
    const { total } = this;
    const assembled = assembleRecords(slots.words, order, this.carry, this.frame, this.space);
    const { records, holes, carry, kinds, tooShort, early, impossible } = assembled;
    kinds.forEach((count, kind) => {
      total.kinds[kind]! += count;
    });
    total.tooShort += tooShort;
    total.early += early;
    total.impossible += impossible;
    this.carry = carry;
    const timed = holes.map((hole) => this.timed(hole, records));
    if (records.length > 0) this.lastTick = tickAt(records, records.length - 1);
    return { segment: records.length === 0 ? null : records, holes: timed };
  }

  counts(): RecordCounts {
    return this.total;
  }

  withoutRecorded(folds: readonly OpenFold[], segment: RecordColumns): readonly OpenFold[] {
    return withoutRecorded(folds, segment, this.frame);
  }

  release(): void {
    // Its memory is its own.
  }

  private timed({ from, end, row }: Hole, records: RecordColumns): TimedHole {
    const afterTick = row === 0 ? this.lastTick : tickAt(records, row - 1);
    return { from, end, afterTick, beforeTick: tickAt(records, row) };
  }
}

const tickAt = (records: RecordColumns, row: number): Ticks => ticks(records.tick[row]!);

interface CheckedPlaces extends SlotPlaces {
  readonly slots: CheckedSlots;
}

/** `from`, `end`: the positions that are wanted. */
function placesOf(slots: CheckedSlots, from: number, end: number): CheckedPlaces {
  return {
    slots,
    count: slots.position.length,
    positionAt: (index) => slots.position[index]!,
    stretches: () => clipped(stretches(slots), from, end),
  };
}
