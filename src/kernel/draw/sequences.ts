/**
 * The sequences of a block. Each has a clock and tables of strings for its own packets; its first packet clears the reader's state, so a
 * block means the same at any place in the trace.
 *
 * An event is stored as its distance from the event before it on its sequence, so a sequence's times never go back. But events come from
 * several sources (rings, ends that are known late). Each source is in order of time, but one is ahead of the other. So each event goes to
 * the sequence whose last event is the nearest before it. If the event is earlier than all of these, a new sequence is opened. If there are
 * enough sequences, the event goes to the last one, with its whole time.
 */

import { openSequence } from './host';
import { Output } from './output';
import { Table, TABLES, Text, TIME_SEQUENCES } from './text';
import { putByte, putBytes, closeLength, putVarint } from './wire';

/** 1 is the prologue. */
const FIRST_SEQUENCE: f64 = 2;
/** 0 is the root of all tracks. The others up to here are for tracks outside of blocks. */
const FIRST_UUID: f64 = 16;

/**
 * Numbers that must be unique in a trace, though its blocks are written independently: each block gets every n-th track uuid and every n-th
 * sequence id. They stay small, because every event carries both as varints.
 */
export class Ids {
  private uuids: f64 = 0;
  private sequences: f64 = 0;

  constructor(
    private readonly blockIndex: f64,
    private readonly blockCount: f64,
  ) {}

  nextUuid(): f64 {
    return FIRST_UUID + this.uuids++ * this.blockCount + this.blockIndex;
  }

  /** The first track of a rank's block is its process. */
  static processOf(block: f64): f64 {
    return FIRST_UUID + block;
  }

  nextSequence(): f64 {
    return FIRST_SEQUENCE + this.sequences++ * this.blockCount + this.blockIndex;
  }
}

export class Sequence {
  readonly id: u64;
  /** Time of the newest packet. A delta clock cannot go back before it. */
  last: f64 = 0;
  hasFresh: bool = false;
  private readonly counts: StaticArray<i32> = new StaticArray<i32>(TABLES);
  /** Strings that the current packet uses first. They have the newest ids. */
  private readonly freshNames: Text[] = [];
  private readonly freshArgNames: Text[] = [];
  private readonly freshArgTexts: Text[] = [];

  /** `limit`: of each table. Names are few by contract, but arguments could fill the memory. Further strings are written inline. */
  constructor(
    private readonly number: i32,
    id: f64,
    private readonly isDelta: bool,
    private readonly limit: i32,
  ) {
    this.id = <u64>id;
  }

  /** From 1; 0: the table is full, so write the string inline. The packet that first uses a string also defines it. */
  @inline
  idOf(text: Text, table: Table): i32 {
    const id = unchecked(text.ids[this.number * TABLES + (table as i32)]);
    return id != 0 ? id : this.add(text, table);
  }

  private add(text: Text, table: Table): i32 {
    const id = this.counts[table] + 1;
    if (id > this.limit) return 0;
    this.counts[table] = id;
    text.ids[this.number * TABLES + (table as i32)] = id;
    this.freshOf(table).push(text);
    this.hasFresh = true;
    return id;
  }

  private freshOf(table: Table): Text[] {
    return table == Table.Names
      ? this.freshNames
      : table == Table.ArgNames
        ? this.freshArgNames
        : this.freshArgTexts;
  }

  /** The time is written even if the distance is 0, because the importer drops a packet without a timestamp. */
  @inline
  putTimestamp(at: usize, time: f64): usize {
    if (!this.isDelta) return putVarint(at, <u64>time);
    const distance = time - this.last;
    this.last = time;
    return putVarint(at, <u64>distance);
  }

  /** The new strings, as the packet's interned data. */
  putFresh(at: usize): usize {
    const lengthAt = putByte(at, 98); // TracePacket.interned_data
    let end = lengthAt + 1;
    end = this.putTable(end, Table.Names, 18); // event_names
    end = this.putTable(end, Table.ArgNames, 26); // debug_annotation_names
    end = this.putTable(end, Table.ArgTexts, 234); // debug_annotation_string_values
    this.hasFresh = false;
    return closeLength(lengthAt, end);
  }

  private putTable(at: usize, table: Table, tag: u64): usize {
    const fresh = this.freshOf(table);
    let id = this.counts[table] - fresh.length;
    let end = at;
    for (let i = 0; i < fresh.length; i++) {
      const lengthAt = putVarint(end, tag);
      end = putByte(lengthAt + 1, 8); // iid
      end = putVarint(end, ++id);
      end = putByte(end, 18); // name, str
      end = putBytes(end, fresh[i].start, fresh[i].length);
      end = closeLength(lengthAt, end);
    }
    fresh.length = 0;
    return end;
  }
}

export class BlockSequences {
  /** The sequence with the newest event first. This order does not change when a sequence takes an event. */
  private readonly inTime: Sequence[] = [];
  private absolute: Sequence | null = null;

  constructor(
    private readonly ids: Ids,
    private readonly out: Output,
    private readonly limit: i32,
  ) {}

  @inline
  of(at: f64): Sequence {
    const inTime = this.inTime;
    for (let i = 0, length = inTime.length; i < length; i++)
      if (unchecked(inTime[i]).last <= at) return unchecked(inTime[i]);
    return this.further();
  }

  /** Called first: the block begins with a sequence. */
  open(isDelta: bool): Sequence {
    const id = this.ids.nextSequence();
    const number = isDelta ? this.inTime.length : TIME_SEQUENCES;
    const sequence = new Sequence(number, id, isDelta, this.limit);
    if (isDelta) this.inTime.push(sequence);
    else this.absolute = sequence;
    const length = openSequence(id, isDelta);
    this.out.commit(this.out.end + <usize>length);
    return sequence;
  }

  private further(): Sequence {
    if (this.inTime.length < TIME_SEQUENCES) return this.open(true);
    const absolute = this.absolute;
    return absolute !== null ? absolute : this.open(false);
  }
}
