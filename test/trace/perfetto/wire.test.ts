import fc from 'fast-check';
import protobuf from 'protobufjs/minimal.js';
import { describe, expect, it } from 'vitest';
import { toLong } from '../../../src/trace/perfetto/long.js';
import {
  closeLength,
  putBigInt,
  putDouble,
  putFixed64,
  putInt64,
  putVarint,
  putVarint64,
} from '../../../src/trace/perfetto/wire.js';

fc.configureGlobal({ seed: 7 });

const writtenBy = (put: (out: Uint8Array) => number): string => {
  const out = new Uint8Array(64);
  return Buffer.from(out.subarray(0, put(out))).toString('hex');
};
const expected = (write: (writer: protobuf.Writer) => protobuf.Writer): string =>
  Buffer.from(write(protobuf.Writer.create()).finish()).toString('hex');

const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const edges = [
  0,
  1,
  0x7f,
  0x80,
  0x3fff,
  0x4000,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 35,
  Number.MAX_SAFE_INTEGER,
];

describe('the wire primitives agree with protobufjs', () => {
  it.each(edges)('at the edge %d', (value) => {
    const long = toLong(BigInt(value));
    expect(writtenBy((out) => putVarint(out, 0, value))).toBe(expected((writer) => writer.uint64(long)));
    expect(writtenBy((out) => putInt64(out, 0, -value))).toBe(
      expected((writer) => writer.int64(toLong(BigInt(-value)))),
    );
  });

  it('for varints of any safe integer', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(writtenBy((out) => putInt64(out, 0, value))).toBe(
          expected((writer) => writer.int64(toLong(BigInt(value)))),
        );
      }),
    );
  });

  it('for 64 bits in halves, as varint, as fixed64 and from a bigint', () => {
    fc.assert(
      fc.property(u64, (value) => {
        const high = Number(value >> 32n);
        const low = Number(value & 0xffffffffn);
        const varint = expected((writer) => writer.uint64(toLong(value)));
        expect(writtenBy((out) => putVarint64(out, 0, high, low))).toBe(varint);
        expect(writtenBy((out) => putBigInt(out, 0, value))).toBe(varint);
        expect(writtenBy((out) => putBigInt(out, 0, BigInt.asIntN(64, value)))).toBe(varint);
        const fixed = expected((writer) => writer.fixed64(toLong(value)));
        expect(writtenBy((out) => putFixed64(out, 0, high, low))).toBe(fixed);
      }),
    );
  });

  it('for doubles', () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(writtenBy((out) => putDouble(out, 0, value))).toBe(expected((writer) => writer.double(value)));
      }),
    );
  });

  it.each([0, 1, 127, 128, 16383, 16384, 2097151, 2097152])('for a message of %d bytes', (length) => {
    const body = new Uint8Array(length).map((_, i) => i);
    const out = new Uint8Array(length + 8);
    out.set(body, 1);
    const end = closeLength(out, 0, length + 1);
    expect(Buffer.compare(out.subarray(0, end), protobuf.Writer.create().bytes(body).finish())).toBe(0);
  });
});
