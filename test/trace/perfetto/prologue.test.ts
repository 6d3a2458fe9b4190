import { describe, expect, it } from 'vitest';
import { perfetto } from '../../../src/trace/perfetto/generated/protos.js';
import { prologue, type PrologueOptions } from '../../../src/trace/perfetto/prologue.js';
import { viewTrace } from '../../support/traces/trace_view.js';
import { T0 } from './blocks.js';
import { plainPackets } from './plain.js';

const { ChildTracksOrdering } = perfetto.protos.TrackDescriptor;

const options: PrologueOptions = {
  traceStart: T0,
  uuid: { high: 0x0123456789abcdefn, low: 0xfedcba9876543210n },
  attributes: [
    ['nccl', '2.31.1'],
    ['ranks', 512],
    ['lost', -1],
    ['bytes', 1n << 62n],
  ],
};

describe('the prologue', () => {
  it('fixes the clocks in its very first packet', () => {
    const clock = (clockId: number, timestamp: bigint) => ({ clockId, timestamp });
    expect((plainPackets(prologue({ ...options, bootTime: 77n })) as unknown[])[0]).toEqual({
      trustedPacketSequenceId: 1,
      sequenceFlags: 1,
      firstPacketOnSequence: true,
      tracePacketDefaults: { timestampClockId: 64 },
      clockSnapshot: {
        clocks: [{ ...clock(64, T0), isIncremental: true }, clock(1, T0), clock(6, 77n)],
        primaryTraceClock: 1,
      },
    });
  });

  it('is read without a problem, and shows its values', () => {
    const view = viewTrace(prologue(options));
    expect(view.problems).toEqual([]);
    expect(view.start).toBe(T0);
    expect(view.uuid).toBe('0123456789abcdeffedcba9876543210');
    expect(view.attributes).toEqual({ nccl: '2.31.1', ranks: 512n, lost: -1n, bytes: 1n << 62n });
  });

  it('asks for processes in the order of ranks', () => {
    const root = (plainPackets(prologue(options)) as { trackDescriptor?: object }[]).find(
      (p) => p.trackDescriptor,
    );
    expect(root?.trackDescriptor).toEqual({ uuid: 0n, processOrdering: 1, threadOrdering: 1 });
    expect(ChildTracksOrdering.EXPLICIT).toBe(3);
  });

  it('refuses a value that it cannot represent exactly', () => {
    expect(() => prologue({ ...options, attributes: [['ratio', 0.5]] })).toThrow('ratio');
    expect(() => prologue({ ...options, traceStart: -1n })).toThrow('start');
  });
});
