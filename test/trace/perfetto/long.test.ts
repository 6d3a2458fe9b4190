import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { perfetto } from '../../../src/trace/perfetto/generated/protos.js';
import { toLong } from '../../../src/trace/perfetto/long.js';
import { signed, unsigned } from './view/messages.js';

fc.configureGlobal({ seed: 7 });

const { TracePacket, TraceUuid } = perfetto.protos;

/** Through the generated code and back, as uint64 and as int64. */
const roundTrip = (value: bigint): bigint =>
  unsigned(TracePacket.decode(TracePacket.encode({ timestamp: toLong(value) }).finish()).timestamp);
const signedRoundTrip = (value: bigint): bigint =>
  signed(TraceUuid.decode(TraceUuid.encode({ msb: toLong(value) }).finish()).msb);

describe('toLong', () => {
  it.each([0n, 1n, 0xffffffffn, 1n << 32n, 1_800_000_000_000_000_000n, (1n << 63n) - 1n])(
    'carries %d',
    (value) => {
      expect(roundTrip(value)).toBe(value);
      expect(signedRoundTrip(value)).toBe(value);
      expect(signedRoundTrip(-value)).toBe(-value);
    },
  );

  it('carries the ends of both ranges', () => {
    expect(roundTrip((1n << 64n) - 1n)).toBe((1n << 64n) - 1n);
    expect(signedRoundTrip(-(1n << 63n))).toBe(-(1n << 63n));
  });

  it('refuses a number of more than 64 bits', () => {
    expect(() => toLong(1n << 64n)).toThrow('64 bits');
    expect(() => toLong(-(1n << 63n) - 1n)).toThrow('64 bits');
  });

  it('carries any 64 bits', () => {
    const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
    fc.assert(fc.property(u64, (value) => roundTrip(value) === value));
    const i64 = fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n });
    fc.assert(fc.property(i64, (value) => signedRoundTrip(value) === value));
  });

  it('is needed: protobufjs writes a bigint as 0', () => {
    const timestamp = 5n as unknown as ReturnType<typeof toLong>;
    expect(unsigned(TracePacket.decode(TracePacket.encode({ timestamp }).finish()).timestamp)).toBe(0n);
  });
});
