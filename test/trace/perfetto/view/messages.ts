/** Bytes of a file to decoded packets, with the generated code and nothing else of ours. */

import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs/minimal.js';
import { perfetto } from '../../../../src/trace/perfetto/generated/protos.js';
import type { Problems } from './types.js';

const { TracePacket } = perfetto.protos;
export const { TrackEvent, TrackDescriptor, CounterDescriptor, BuiltinClock } = perfetto.protos;

export type Packet = perfetto.protos.TracePacket.$Properties;
export type TrackEventMessage = perfetto.protos.TrackEvent.$Properties;
export type Annotation = perfetto.protos.DebugAnnotation.$Properties;
export type Descriptor = perfetto.protos.TrackDescriptor.$Properties;
export type Snapshot = perfetto.protos.ClockSnapshot.$Properties;
export type Interned = perfetto.protos.InternedData.$Properties;

const PACKET_TAG = 0x0a;

export function readPackets(bytes: Uint8Array, problems: Problems): Packet[] {
  const plain = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
  if (plain.length > 0 && plain[0] !== PACKET_TAG) problems.add('not recognised as a trace', 0);
  const reader = protobuf.Reader.create(plain);
  const packets: Packet[] = [];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === PACKET_TAG) {
      const length = reader.uint32();
      if (reader.pos + length > reader.len) {
        // The importer leaves it out without a word.
        problems.add('cut inside a packet', packets.length);
        break;
      }
      packets.push(TracePacket.decode(reader, length));
    } else {
      problems.add('unknown field beside the packets', packets.length, `tag ${tag}`);
      reader.skipType(tag & 7);
    }
  }
  return packets;
}

interface Halves {
  readonly low: number;
  readonly high: number;
}

export const unsigned = (value: Halves): bigint =>
  (BigInt(value.high >>> 0) << 32n) | BigInt(value.low >>> 0);
export const signed = (value: Halves): bigint => BigInt.asIntN(64, unsigned(value));

/** The field was in the bytes: a decoded message inherits the defaults of those that were not. */
export function given<M extends object, K extends keyof M>(
  message: M,
  field: K,
): NonNullable<M[K]> | undefined {
  return Object.hasOwn(message, field) ? (message[field] ?? undefined) : undefined;
}
