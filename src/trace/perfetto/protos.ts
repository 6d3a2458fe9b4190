/** Short names of the generated messages, and the function that encodes a cold packet. */

import { perfetto } from './generated/protos.js';

export type Packet = perfetto.protos.TracePacket.$Properties;
export type TrackDescriptor = perfetto.protos.TrackDescriptor.$Properties;
export type Attribute = perfetto.protos.TraceAttributes.Attribute.$Properties;
export type Clock = perfetto.protos.ClockSnapshot.Clock.$Properties;

const { Trace } = perfetto.protos;
export const { BuiltinClock, TrackDescriptor: TrackDescriptorEnums, CounterDescriptor } = perfetto.protos;

/** A trace is a series of packets, so these bytes may come between any two. */
export const encodePackets = (...packet: Packet[]): Uint8Array => Trace.encode({ packet }).finish();
