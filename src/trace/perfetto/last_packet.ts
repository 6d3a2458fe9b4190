/**
 * The last packet of a trace. The importer takes a trace that was cut for a whole one, and what was cut off looks as if it hung. So the
 * first packets announce this one.
 */

import { toLong } from './long.js';
import { encodePackets } from './protos.js';

const COUNT = 'nccl_trace.slices';
const ANNOUNCEMENT = 'nccl_trace.ends_with';

/** `slices`: rows of trace_processor's `slice` table once the whole trace is read. */
export const lastPacket = (slices: number): Uint8Array =>
  encodePackets({ traceAttributes: { attribute: [{ key: COUNT, longValue: toLong(BigInt(slices)) }] } });

/** An attribute for the prologue. */
export const announcement = (slices: number): readonly [key: string, value: string] => [
  ANNOUNCEMENT,
  `${COUNT} = ${slices}`,
];

/** `attributes`: of the prologue. null: they announce no last packet. */
export function announcedPacket(attributes: ReadonlyMap<string, string>): Uint8Array | null {
  const [, slices] = /^nccl_trace\.slices = (\d{1,15})$/.exec(attributes.get(ANNOUNCEMENT) ?? '') ?? [];
  return slices === undefined ? null : lastPacket(Number(slices));
}
