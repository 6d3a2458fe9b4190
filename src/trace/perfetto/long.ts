/**
 * The only way to pass 64-bit values to the generated code. protobufjs writes 0 for a bigint and rounds a number beyond 2^53. It writes
 * only its Long (two 32-bit halves) exactly. The generated types require a Long, so any other value does not compile.
 */

import type { Long } from 'protobufjs';
import { assert } from '../../base/assert.js';

/** Any int64 or uint64: the field decides which. */
export function toLong(value: bigint): Long {
  const unsigned = value >= 0n;
  assert(unsigned ? value < 1n << 64n : value >= -(1n << 63n), `${value} does not fit into 64 bits`);
  return { low: Number(BigInt.asIntN(32, value)), high: Number(BigInt.asIntN(32, value >> 32n)), unsigned };
}
