/** The generated messages under short names, and the one way to turn a cold packet into bytes of the file. */

import { perfetto } from './generated/protos.js';

export type Packet = perfetto.protos.TracePacket.$Properties;
export type TrackDescriptor = perfetto.protos.TrackDescriptor.$Properties;
export type Attribute = perfetto.protos.TraceAttributes.Attribute.$Properties;
export type Clock = perfetto.protos.ClockSnapshot.Clock.$Properties;

const { Trace } = perfetto.protos;
export const { BuiltinClock, TrackDescriptor: TrackDescriptorEnums, CounterDescriptor } = perfetto.protos;

/** A trace is its packets one after another, so these bytes may stand anywhere between two packets. */
export const encodePackets = (...packet: Packet[]): Uint8Array => Trace.encode({ packet }).finish();
