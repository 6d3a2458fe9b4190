/**
 * The first bytes of a trace, before all blocks. The first packet fixes the clock of the whole trace, which cannot change after the first
 * timestamp. It has BOOTTIME, because without it the importer counts an error in every file (seen with trace_processor v58).
 */

import { assert } from '../../base/assert.js';
import { BOOTTIME, DELTA_CLOCK, REALTIME, TraceStart } from './clocks.js';
import { toLong } from './long.js';
import { CLEARED, TrackDescriptorEnums, encodePackets, type Attribute } from './protos.js';

const { ProcessOrdering, ThreadOrdering } = TrackDescriptorEnums;

/** Blocks have sequences of their own, from 2 on. */
const PROLOGUE_SEQUENCE = 1;

export interface PrologueOptions {
  /** Nanoseconds of REALTIME at which the trace begins: TraceNs 0. */
  readonly traceStart: bigint;
  /** The reference host's BOOTTIME at that instant, if known. */
  readonly bootTime?: bigint | undefined;
  /** 128 bits that name the trace. The caller derives them from its inputs, so that the bytes repeat. */
  readonly uuid: { readonly high: bigint; readonly low: bigint };
  /** Facts for the UI's overview page and the `metadata` table, as `trace_attribute.<key>`. */
  readonly attributes: readonly (readonly [key: string, value: string | number | bigint])[];
}

export function prologue({ traceStart, bootTime, uuid, attributes }: PrologueOptions): Uint8Array {
  return encodePackets(
    {
      trustedPacketSequenceId: PROLOGUE_SEQUENCE,
      sequenceFlags: CLEARED,
      firstPacketOnSequence: true,
      tracePacketDefaults: { timestampClockId: DELTA_CLOCK },
      clockSnapshot: {
        clocks: [
          ...new TraceStart(traceStart).deltaClock(),
          { clockId: BOOTTIME, timestamp: toLong(bootTime ?? traceStart) },
        ],
        primaryTraceClock: REALTIME,
      },
    },
    { traceUuid: { msb: toLong(BigInt.asIntN(64, uuid.high)), lsb: toLong(BigInt.asIntN(64, uuid.low)) } },
    {
      trackDescriptor: {
        uuid: toLong(0n),
        processOrdering: ProcessOrdering.PROCESS_ORDERING_EXPLICIT,
        threadOrdering: ThreadOrdering.THREAD_ORDERING_EXPLICIT,
      },
    },
    { traceAttributes: { attribute: attributes.map(([key, value]) => attributeOf(key, value)) } },
  );
}

function attributeOf(key: string, value: string | number | bigint): Attribute {
  if (typeof value === 'string') return { key, stringValue: value };
  assert(
    typeof value === 'bigint' || Number.isSafeInteger(value),
    `attribute ${key} is no integer: ${value}`,
  );
  return { key, longValue: toLong(BigInt.asIntN(64, BigInt(value))) };
}
