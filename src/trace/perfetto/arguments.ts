/**
 * Named values of an event, as debug annotations. Names and strings are written by number. The value's JavaScript type decides the field. A
 * number must be exact: a safe integer or a finite fraction.
 */

import { BugError, assertNever } from '../../base/assert.js';
import type { ArgValue, Args } from '../tracks/sink.js';
import type { Chunks } from './chunks.js';
import { putText } from './interning.js';
import type { Sequence } from './sequence.js';
import {
  BYTES,
  FIXED64,
  VARINT,
  closeLength,
  putBigInt,
  putDouble,
  putInt64,
  putVarint,
  tag,
} from './wire.js';

/** TrackEvent.debug_annotations */
const ANNOTATION = tag(4, BYTES);

// Fields of DebugAnnotation.
const NAME_IID = tag(1, VARINT);
const BOOL = tag(2, VARINT);
const UINT = tag(3, VARINT);
const INT = tag(4, VARINT);
const DOUBLE = tag(5, FIXED64);
const TEXT = tag(6, BYTES);
const NAME = tag(10, BYTES);
const TEXT_IID = tag(17, VARINT);

/** All fixed parts of one annotation. */
const ANNOTATION_ROOM = 64;

export function putArgs(out: Chunks, at: number, sequence: Sequence, args: Args): number {
  for (const arg of args) {
    out.reserve(at, ANNOTATION_ROOM);
    out.bytes[at++] = ANNOTATION;
    const lengthAt = at++;
    at = putAnnotation(out, at, sequence, arg[0], arg[1]);
    at = closeLength(out.bytes, lengthAt, at);
  }
  return at;
}

/** One annotation of a known name and a number of 0 or more (a row of a column), below 128 bytes. */
export function putCount(
  bytes: Uint8Array,
  at: number,
  nameIid: number,
  values: Float64Array,
  row: number,
): number {
  bytes[at] = ANNOTATION;
  bytes[at + 2] = NAME_IID;
  let end = putVarint(bytes, at + 3, nameIid);
  bytes[end++] = UINT;
  end = putVarint(bytes, end, values[row]!);
  bytes[at + 1] = end - at - 2;
  return end;
}

/** Fields go in ascending order, as in the generated code. So the inline name is between the values. */
function putAnnotation(out: Chunks, at: number, sequence: Sequence, name: string, value: ArgValue): number {
  const nameIid = sequence.argNames.idOf(name);
  const textIid = typeof value === 'string' ? sequence.argTexts.idOf(value) : 0;
  if (nameIid !== 0) {
    out.bytes[at++] = NAME_IID;
    at = putVarint(out.bytes, at, nameIid);
  }
  if (textIid === 0) at = putValue(out, at, value);
  if (nameIid === 0) {
    out.bytes[at++] = NAME;
    at = putText(out, at, name);
  }
  if (textIid !== 0) {
    at = putVarint(out.bytes, at, TEXT_IID);
    at = putVarint(out.bytes, at, textIid);
  }
  return at;
}

function putValue(out: Chunks, at: number, value: ArgValue): number {
  const { bytes } = out;
  switch (typeof value) {
    case 'number':
      return putNumber(bytes, at, value);
    case 'boolean':
      bytes[at++] = BOOL;
      bytes[at++] = value ? 1 : 0;
      return at;
    case 'bigint':
      if (value >= 1n << 64n || value < -(1n << 63n))
        throw new BugError(`argument of more than 64 bits: ${value}`);
      bytes[at++] = value >= 0n ? UINT : INT;
      return putBigInt(bytes, at, value);
    case 'string':
      bytes[at++] = TEXT;
      return putText(out, at, value);
    default:
      return assertNever(value, 'type of argument');
  }
}

function putNumber(bytes: Uint8Array, at: number, value: number): number {
  if (Number.isSafeInteger(value)) {
    bytes[at++] = value >= 0 ? UINT : INT;
    return putInt64(bytes, at, value);
  }
  if (!Number.isFinite(value) || Number.isInteger(value))
    throw new BugError(`argument that loses digits: ${value}`);
  bytes[at++] = DOUBLE;
  return putDouble(bytes, at, value);
}
