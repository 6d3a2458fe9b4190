/** Records in columns. */

import { type Ticks, ticks } from '../base/time.js';
import type { Decoder } from './decoder.js';
import { withoutRecorded } from './folds.js';
import { LentSpace } from './lent_space.js';
import type { ReadRecords, RecordCounts, RecordReader, TimedHole } from './record_reader.js';
import { type Hole, NOTHING_CARRIED } from './records.js';
import type { Stretch } from './slots.js';
import type { TickFrame } from './tick_frame.js';
import type { OpenFold, RecordColumns } from './types.js';

export class ColumnReader implements RecordReader<RecordColumns> {
  lastTick: Ticks | null = null;
  private carry = NOTHING_CARRIED;
  private readonly space = new LentSpace();
  private readonly total = { kinds: new Uint32Array(256), tooShort: 0, early: 0, impossible: 0 };

  constructor(
    private readonly decoder: Decoder,
    private readonly frame: TickFrame,
  ) {}

  get covered(): number {
    return this.carry.covered;
  }

  read(words: Uint32Array, order: readonly Stretch[]): ReadRecords<RecordColumns> {
    const { total } = this;
    const assembled = this.decoder.assembleRecords(words, order, this.carry, this.frame, this.space.get());
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
