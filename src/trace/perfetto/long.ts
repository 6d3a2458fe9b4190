/**
 * The one door for 64-bit values into the generated code. protobufjs takes a bigint without complaint and writes 0,
 * and rounds a number beyond 2^53; only its Long (two 32-bit halves) is written as it is. The generated types ask
 * for a Long, so a value that did not come through here does not compile.
 */

import type { Long } from 'protobufjs';
import { assert } from '../../base/assert.js';

/** Any int64 or uint64; the field it goes to decides which of the two it is. */
export function toLong(value: bigint): Long {
  const unsigned = value >= 0n;
  assert(unsigned ? value < 1n << 64n : value >= -(1n << 63n), `${value} does not fit into 64 bits`);
  return { low: Number(BigInt.asIntN(32, value)), high: Number(BigInt.asIntN(32, value >> 32n)), unsigned };
}
