/**
 * The only way for 64-bit values into the generated code. protobufjs accepts a bigint and writes 0, and it rounds a number beyond 2^53.
 * Only its Long (two 32-bit halves) is written exactly. The generated types require a Long, so any other value does not compile.
 */

import type { Long } from 'protobufjs';
import { assert } from '../../base/assert.js';

/** Any int64 or uint64: the field decides which. */
export function toLong(value: bigint): Long {
  const unsigned = value >= 0n;
  assert(unsigned ? value < 1n << 64n : value >= -(1n << 63n), `${value} does not fit into 64 bits`);
  return { low: Number(BigInt.asIntN(32, value)), high: Number(BigInt.asIntN(32, value >> 32n)), unsigned };
}
