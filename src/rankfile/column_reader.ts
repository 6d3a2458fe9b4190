/** Records in columns. */

import { type Ticks, ticks } from '../base/time.js';
import type { Decoder } from './decoder.js';
import { withoutRecorded } from './folds.js';
import { LentSpace } from './lent_space.js';
import type { RingChunk } from './chunk_index.js';
import type { ReadRecords, RecordCounts, RecordReader, SlotPlaces, TimedHole } from './record_reader.js';
import { type Hole, NOTHING_CARRIED } from './records.js';
import { type CheckedSlots, clipped, type Stretch } from './slots.js';
import type { TickFrame } from './tick_frame.js';
import type { OpenFold, RecordColumns } from './types.js';

export class ColumnReader implements RecordReader<RecordColumns> {
  lastTick: Ticks | null = null;
  private carry = NOTHING_CARRIED;
  private readonly space = new LentSpace();
  private readonly total = { kinds: new Uint32Array(256), tooShort: 0, early: 0, impossible: 0 };

  readonly ring: CheckedPlaces & { readonly tornSlots: number };

  /** `slots`: the ring's own. */
  constructor(
    private readonly decoder: Decoder,
    private readonly frame: TickFrame,
    private readonly capacity: number,
    slots: CheckedSlots,
  ) {
    this.ring = { ...placesOf(slots, decoder, 0, Infinity), tornSlots: slots.tornSlots };
  }

  get covered(): number {
    return this.carry.covered;
  }

  openChunk({ entry, from, end }: RingChunk, words: Uint32Array | null): CheckedPlaces & { bad: number } {
    const slots = this.decoder.checkChunk(words ?? new Uint32Array(entry.rawBytes / 4), entry.first);
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
    return { ...placesOf(slots, this.decoder, from, end), bad };
  }

  read({ slots }: CheckedPlaces, order: readonly Stretch[]): ReadRecords<RecordColumns> {
    const { total } = this;
    const assembled = this.decoder.assembleRecords(
      slots.words,
      order,
      this.carry,
      this.frame,
      this.space.get(),
    );
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
    this.space.release();
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
function placesOf(slots: CheckedSlots, decoder: Decoder, from: number, end: number): CheckedPlaces {
  return {
    slots,
    count: slots.position.length,
    positionAt: (index) => slots.position[index]!,
    stretches: () => clipped(decoder.stretches(slots), from, end),
  };
}
