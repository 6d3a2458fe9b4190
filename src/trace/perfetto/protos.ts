/** Short names of the generated messages, and the function that encodes a cold packet. */

import { perfetto } from './generated/protos.js';

export type Packet = perfetto.protos.TracePacket.$Properties;
export type TrackDescriptor = perfetto.protos.TrackDescriptor.$Properties;
export type Attribute = perfetto.protos.TraceAttributes.Attribute.$Properties;
export type Clock = perfetto.protos.ClockSnapshot.Clock.$Properties;

/**
 * SEQ_INCREMENTAL_STATE_CLEARED, on a sequence's first packet. The other packets have no flag that they need this state. Such a flag only
 * matters if packets can be lost on the way to the file.
 */
export const CLEARED = 1;

const { Trace } = perfetto.protos;
export const { BuiltinClock, TrackDescriptor: TrackDescriptorEnums, CounterDescriptor } = perfetto.protos;

/** A trace is a series of packets, so these bytes may come between any two. */
export const encodePackets = (...packet: Packet[]): Uint8Array => Trace.encode({ packet }).finish();
