/** Packets made by hand, right or wrong, for tests of the reader. The writer would refuse to write the wrong ones. */

import { perfetto } from '../../../src/trace/perfetto/generated/protos.js';
import { T0 } from './blocks.js';

const { Trace, TrackEvent, TrackDescriptor, BuiltinClock } = perfetto.protos;
export const { Type } = TrackEvent;
export const { ChildTracksOrdering, ProcessOrdering, SiblingMergeBehavior } = TrackDescriptor;
export const { Unit } = perfetto.protos.CounterDescriptor;
export const { BUILTIN_CLOCK_REALTIME: REALTIME, BUILTIN_CLOCK_BOOTTIME: BOOTTIME } = BuiltinClock;
export type Packet = perfetto.protos.TracePacket.$Properties;
type EventMessage = perfetto.protos.TrackEvent.$Properties;
type Descriptor = perfetto.protos.TrackDescriptor.$Properties;

export const long = (value: bigint | number) => {
  const bits = BigInt(value);
  return {
    low: Number(BigInt.asIntN(32, bits)),
    high: Number(BigInt.asIntN(32, bits >> 32n)),
    unsigned: bits >= 0n,
  };
};

export const encode = (...packet: Packet[]): Uint8Array => Trace.encode({ packet }).finish();

/** The first packet of our prologue, with REALTIME as the sequence's default clock, so that events can have absolute times. */
export const first = (sequence = 1): Packet => ({
  trustedPacketSequenceId: sequence,
  sequenceFlags: 1,
  firstPacketOnSequence: true,
  tracePacketDefaults: { timestampClockId: REALTIME },
  clockSnapshot: {
    clocks: [
      { clockId: 64, timestamp: long(T0), isIncremental: true },
      { clockId: REALTIME, timestamp: long(T0) },
      { clockId: BOOTTIME, timestamp: long(T0) },
    ],
    primaryTraceClock: REALTIME,
  },
});

export const described = (uuid: number, more: Descriptor = {}): Packet => ({
  trackDescriptor: {
    uuid: long(uuid),
    name: `track ${uuid}`,
    siblingMergeBehavior: SiblingMergeBehavior.SIBLING_MERGE_BEHAVIOR_NONE,
    ...more,
  },
});

/** On track 1, `at` after the start of the trace. */
export const event = (
  type: perfetto.protos.TrackEvent.Type,
  at: number,
  more: EventMessage = {},
  packet: Packet = {},
): Packet => ({
  timestamp: long(T0 + BigInt(at)),
  trustedPacketSequenceId: 1,
  sequenceFlags: 2,
  trackEvent: { type, trackUuid: long(1), ...more },
  ...packet,
});
export const begin = (at: number, name: string, more: EventMessage = {}): Packet =>
  event(Type.TYPE_SLICE_BEGIN, at, { name, ...more });
export const end = (at: number, more: EventMessage = {}): Packet => event(Type.TYPE_SLICE_END, at, more);
