/**
 * The bytes of events: one TracePacket with one TrackEvent each, written field by field in ascending order. They equal those of the
 * generated code (a property test compares them). The order of events is checked before (sink.ts).
 */

import { ArgKind, Extra } from './extra';
import { Output } from './output';
import { BlockSequences, Ids, Sequence } from './sequences';
import { Table, Text } from './text';
import { Track } from './tracks';
import { closeLength, putByte, putBytes, putFixed64, putVarint } from './wire';

/** TrackEvent.Type. Slices, instants and states differ only in this field. Without a name, a slice or a state ends. */
export const enum EventType {
  Begin = 1,
  End = 2,
  Instant = 3,
  Counter = 4,
  State = 5,
}

/** Tags of fields whose tag is one byte: number << 3 | type, where 0 is a varint, 1 are eight bytes, 2 are bytes with a length. */
const enum Tag {
  /** Trace.packet, and fields of TracePacket. */
  Packet = 10,
  Timestamp = 64,
  SequenceId = 80,
  TrackEvent = 90,
  /** Fields of TrackEvent. */
  Annotation = 34,
  Type = 72,
  NameIid = 80,
  TrackUuid = 88,
  /** Fields of DebugAnnotation. */
  ArgNameIid = 8,
  ArgFlag = 16,
  ArgCount = 24,
  ArgNegative = 32,
  ArgDouble = 41,
  ArgText = 50,
  ArgName = 82,
}

/** Further tags: two bytes. Fields of TrackEvent, and the last one of DebugAnnotation. */
const enum LongTag {
  Name = 186,
  CounterValue = 240,
  DoubleCounterValue = 353,
  FlowIds = 377,
  CorrelationId = 416,
  ArgTextIid = 136,
}

/** Most bytes of a packet without its strings and arguments, and of an argument without its strings. */
const PACKET_ROOM: usize = 256;
const ARG_ROOM: usize = 96;

export class Packets {
  readonly out: Output;
  private readonly sequences: BlockSequences;
  /** Where the packet and its event begin. */
  private packet: usize = 0;
  private event: usize = 0;

  constructor(ids: Ids, internLimit: i32) {
    const out = new Output();
    this.out = out;
    this.sequences = new BlockSequences(ids, out, internLimit);
  }

  /** The block begins with a sequence. */
  open(): void {
    this.sequences.open(true);
  }

  put(type: EventType, track: Track, at: f64, name: Text | null, extra: Extra): void {
    const sequence = this.sequences.of(at);
    this.out.reserve(roomOf(name, extra));
    let end = this.begin(sequence, at);
    for (let i = 0; i < extra.count; i++) end = putArg(end, sequence, extra, i);
    end = putByte(putByte(end, Tag.Type as u8), type as u8);
    let iid = 0;
    if (name !== null) {
      iid = sequence.idOf(name, Table.Names);
      if (iid != 0) end = putVarint(putByte(end, Tag.NameIid as u8), iid);
    }
    end = putVarint(putByte(end, Tag.TrackUuid as u8), <u64>track.uuid);
    if (name !== null && iid == 0) end = putBytes(putVarint(end, LongTag.Name), name.start, name.length);
    for (let i = 0; i < extra.flowCount; i++)
      end = putFixed64(putVarint(end, LongTag.FlowIds), unchecked(extra.flows[i]));
    if (extra.correlation != 0)
      end = putVarint(putVarint(end, LongTag.CorrelationId), <u64>extra.correlation);
    this.close(sequence, end);
  }

  putCounter(track: Track, at: f64, value: f64): void {
    const sequence = this.sequences.of(at);
    this.out.reserve(PACKET_ROOM);
    let end = this.begin(sequence, at);
    end = putByte(putByte(end, Tag.Type as u8), EventType.Counter as u8);
    end = putVarint(putByte(end, Tag.TrackUuid as u8), <u64>track.uuid);
    if (track.isInteger) end = putVarint(putVarint(end, LongTag.CounterValue), <u64>(<i64>value));
    else end = putFixed64(putVarint(end, LongTag.DoubleCounterValue), reinterpret<u64>(value));
    this.close(sequence, end);
  }

  @inline
  private begin(sequence: Sequence, at: f64): usize {
    const start = this.out.end;
    this.packet = start + 1;
    store<u8>(start, Tag.Packet as u8);
    let end = putByte(start + 2, Tag.Timestamp as u8);
    end = sequence.putTimestamp(end, at);
    end = putVarint(putByte(end, Tag.SequenceId as u8), sequence.id);
    end = putByte(end, Tag.TrackEvent as u8);
    this.event = end;
    return end + 1;
  }

  @inline
  private close(sequence: Sequence, end: usize): void {
    let last = closeLength(this.event, end);
    if (sequence.hasFresh) last = sequence.putFresh(last);
    this.out.commit(closeLength(this.packet, last));
  }
}

function roomOf(name: Text | null, extra: Extra): usize {
  let room = PACKET_ROOM;
  if (name !== null) room += <usize>name.length;
  for (let i = 0; i < extra.count; i++) {
    const arg = extra.at(i);
    room += ARG_ROOM + <usize>changetype<Text>(arg.name).length;
    if (arg.kind == ArgKind.Text) room += <usize>changetype<Text>(<usize>arg.value).length;
  }
  return room;
}

/** Fields go in ascending order, as in the generated code. So the inline name is between the values. */
function putArg(at: usize, sequence: Sequence, extra: Extra, place: i32): usize {
  const arg = extra.at(place);
  const name = changetype<Text>(arg.name);
  const isText = arg.kind == ArgKind.Text;
  const nameIid = sequence.idOf(name, Table.ArgNames);
  const textIid = isText ? sequence.idOf(changetype<Text>(<usize>arg.value), Table.ArgTexts) : 0;
  const lengthAt = putByte(at, Tag.Annotation as u8);
  let end = lengthAt + 1;
  if (nameIid != 0) end = putVarint(putByte(end, Tag.ArgNameIid as u8), nameIid);
  switch (arg.kind) {
    case ArgKind.Flag:
      end = putByte(putByte(end, Tag.ArgFlag as u8), <u8>arg.value);
      break;
    case ArgKind.Count:
      end = putVarint(putByte(end, Tag.ArgCount as u8), arg.value);
      break;
    case ArgKind.Negative:
      end = putVarint(putByte(end, Tag.ArgNegative as u8), arg.value);
      break;
    case ArgKind.Double:
      end = putFixed64(putByte(end, Tag.ArgDouble as u8), arg.value);
      break;
    default:
      if (textIid == 0) {
        const text = changetype<Text>(<usize>arg.value);
        end = putBytes(putByte(end, Tag.ArgText as u8), text.start, text.length);
      }
  }
  if (nameIid == 0) end = putBytes(putByte(end, Tag.ArgName as u8), name.start, name.length);
  if (textIid != 0) end = putVarint(putVarint(end, LongTag.ArgTextIid), textIid);
  return closeLength(lengthAt, end);
}
