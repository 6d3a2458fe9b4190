/**
 * The hot packets: one TracePacket with one TrackEvent, written field by field in ascending order. The bytes equal those of the generated
 * code (a property test compares them). The order of events is checked before (nesting.ts).
 */

import { BugError } from '../../base/assert.js';
import type { TraceNs } from '../../base/time.js';
import type { SliceExtra } from '../tracks/sink.js';
import type { StepSlices } from '../tracks/step_slices.js';
import { putArgs, putCount } from './arguments.js';
import type { Chunks } from './chunks.js';
import { putText } from './interning.js';
import type { Sequence } from './sequence.js';
import {
  BYTES,
  FIXED64,
  VARINT,
  closeLength,
  putDouble,
  putFixed64,
  putInt64,
  putVarint,
  tag,
} from './wire.js';

/** Trace.packet */
const PACKET = tag(1, BYTES);

// Fields of TracePacket.
const TIMESTAMP = tag(8, VARINT);
const SEQUENCE_ID = tag(10, VARINT);
const TRACK_EVENT = tag(11, BYTES);
const INTERNED_DATA = tag(12, BYTES);

// Fields of TrackEvent.
const TYPE = tag(9, VARINT);
const NAME_IID = tag(10, VARINT);
const TRACK_UUID = tag(11, VARINT);
const NAME = tag(23, BYTES);
const COUNTER_VALUE = tag(30, VARINT);
const DOUBLE_COUNTER_VALUE = tag(44, FIXED64);
const FLOW_IDS = tag(47, FIXED64);
const CORRELATION_ID = tag(52, VARINT);

/** TrackEvent.Type. Slices, instants and states differ only in this field. A null name ends a slice or a state. */
export const SLICE_BEGIN = 1;
export const SLICE_END = 2;
export const INSTANT = 3;
const COUNTER = 4;
export const STATE = 5;
export type NamedEventType = typeof SLICE_BEGIN | typeof SLICE_END | typeof INSTANT | typeof STATE;

export class EventPackets {
  private packetLengthAt = 0;
  private eventLengthAt = 0;
  /** A column of one row. */
  private readonly time = new Float64Array(1);

  constructor(private readonly out: Chunks) {}

  event(
    sequence: Sequence,
    type: NamedEventType,
    uuid: number,
    at: TraceNs,
    name: string | null,
    extra: SliceExtra | undefined,
  ): void {
    let end = this.open(sequence, at);
    if (extra?.args !== undefined) end = putArgs(this.out, end, sequence, extra.args);
    const bytes = this.out.bytes;
    bytes[end++] = TYPE;
    bytes[end++] = type;
    const iid = name === null ? 0 : sequence.names.idOf(name);
    if (iid !== 0) {
      bytes[end++] = NAME_IID;
      end = putVarint(bytes, end, iid);
    }
    bytes[end++] = TRACK_UUID;
    end = putVarint(bytes, end, uuid);
    if (name !== null && iid === 0) end = this.putInlineName(end, name);
    if (extra !== undefined) end = putLinks(this.out.bytes, end, extra);
    this.close(sequence, end);
  }

  /**
   * Writes a row of a batch as the packet that `event` would write, if the sequence knows its strings. 0: no name and no arrow, or no
   * argument. The numbers stay in their columns, because V8 makes an object of each fraction or large number that a call passes on.
   */
  step(
    sequence: Sequence,
    type: typeof SLICE_BEGIN | typeof SLICE_END | typeof INSTANT,
    uuid: number,
    slices: StepSlices,
    row: number,
    nameIid: number,
    argIid: number,
  ): void {
    const { bytes } = this.out;
    const start = this.out.end;
    bytes[start] = PACKET;
    bytes[start + 2] = TIMESTAMP;
    let end = sequence.putTimestamp(bytes, start + 3, slices.at, row);
    bytes[end++] = SEQUENCE_ID;
    end = putVarint(bytes, end, sequence.id);
    bytes[end++] = TRACK_EVENT;
    const event = end++;
    if (argIid !== 0) end = putCount(bytes, end, argIid, slices.value, row);
    bytes[end++] = TYPE;
    bytes[end++] = type;
    if (nameIid !== 0) {
      bytes[end++] = NAME_IID;
      end = putVarint(bytes, end, nameIid);
    }
    bytes[end++] = TRACK_UUID;
    end = putVarint(bytes, end, uuid);
    const high = slices.flowHigh[row]! | 0;
    const low = slices.flowLow[row]! | 0;
    if (nameIid !== 0 && (high !== 0 || low !== 0)) {
      end = putVarint(bytes, end, FLOW_IDS);
      end = putFixed64(bytes, end, high, low);
    }
    bytes[event] = end - event - 1;
    bytes[start + 1] = end - start - 2;
    this.out.commit(end);
  }

  counter(sequence: Sequence, uuid: number, at: TraceNs, value: number, isInteger: boolean): void {
    const bytes = this.out.bytes;
    let end = this.open(sequence, at);
    bytes[end++] = TYPE;
    bytes[end++] = COUNTER;
    bytes[end++] = TRACK_UUID;
    end = putVarint(bytes, end, uuid);
    if (isInteger) {
      end = putVarint(bytes, end, COUNTER_VALUE);
      end = putInt64(bytes, end, value);
    } else {
      end = putVarint(bytes, end, DOUBLE_COUNTER_VALUE);
      end = putDouble(bytes, end, value);
    }
    this.close(sequence, end);
  }

  private open(sequence: Sequence, at: TraceNs): number {
    const { bytes } = this.out;
    let end = this.out.end;
    bytes[end++] = PACKET;
    this.packetLengthAt = end++;
    bytes[end++] = TIMESTAMP;
    this.time[0] = at;
    end = sequence.putTimestamp(bytes, end, this.time, 0);
    bytes[end++] = SEQUENCE_ID;
    end = putVarint(bytes, end, sequence.id);
    bytes[end++] = TRACK_EVENT;
    this.eventLengthAt = end++;
    return end;
  }

  private close(sequence: Sequence, end: number): void {
    end = closeLength(this.out.bytes, this.eventLengthAt, end);
    if (sequence.hasFreshStrings) end = this.putFreshStrings(sequence, end);
    this.out.commit(closeLength(this.out.bytes, this.packetLengthAt, end));
  }

  private putFreshStrings(sequence: Sequence, end: number): number {
    this.out.bytes[end++] = INTERNED_DATA;
    const lengthAt = end++;
    end = sequence.names.putFresh(this.out, end);
    end = sequence.argNames.putFresh(this.out, end);
    end = sequence.argTexts.putFresh(this.out, end);
    return closeLength(this.out.bytes, lengthAt, end);
  }

  private putInlineName(end: number, name: string): number {
    end = putVarint(this.out.bytes, end, NAME);
    return putText(this.out, end, name);
  }
}

function putLinks(bytes: Uint8Array, end: number, { flow, correlation }: SliceExtra): number {
  if (flow !== undefined) {
    end = putVarint(bytes, end, FLOW_IDS);
    end = putFixed64(bytes, end, flow.hi, flow.lo);
  }
  if (correlation !== undefined) {
    if (!Number.isSafeInteger(correlation) || correlation <= 0)
      throw new BugError(`correlation ${correlation}`);
    end = putVarint(bytes, end, CORRELATION_ID);
    end = putVarint(bytes, end, correlation);
  }
  return end;
}
