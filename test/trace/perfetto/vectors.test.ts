/**
 * Packets written by hand and checked against Perfetto's own schema with protoc. The generated code writes fields in
 * ascending order: packets in that order must be equal byte by byte, others as messages.
 */

import { describe, expect, it } from 'vitest';
import { perfetto } from '../../../src/trace/perfetto/generated/protos.js';
import { viewTrace } from '../../support/traces/trace_view.js';
import { T0, block, ns, opening } from './blocks.js';
import { plainPackets, splitPackets } from './plain.js';

const { Trace } = perfetto.protos;

/** The first of them lacks the BOOTTIME that our prologue has. */
const HEX = {
  opening:
    '0a4932200a0e0840108080cc9fc2f0d6eb1818010a0c0801108080cc9fc2f0d6eb18100150016218120d08011209416c6c52656475' +
    '63651a07080112037365716801da0303d00340b80501',
  root: '0a0be203080800980101a00101',
  process: '0a2e408080cc9fc2f0d6eb18d00301e2031e08011a180801321472616e6b203030303020686f73744120677075306000',
  group: '0a11e2030e080212044e43434c280158037802',
  track: '0a12e2030f08031205636f6c6c73280260017802',
  counter: '0a19e2031608041208747820627974657328024204180328016002',
  begin: '0a1840882750015a0f480150015803a0034d22040801182a6802',
  end: '0a0d40d83650015a04480258036802',
  sample: '0a11400050015a0948045804f0018080406802',
} as const;
const bytesOf = (name: keyof typeof HEX): Uint8Array => Buffer.from(HEX[name], 'hex');
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const names = Object.keys(HEX) as (keyof typeof HEX)[];

describe('the byte vectors, through the generated code', () => {
  it.each(names)('%s: every field is in our schema', (name) => {
    const trace = Trace.decode(bytesOf(name));
    expect(trace.packet.filter((packet) => packet.$unknowns !== undefined)).toEqual([]);
    expect(Trace.encode(trace).finish().length).toBe(HEX[name].length / 2);
  });

  it.each(['root', 'group', 'end', 'sample', 'track'] as const)('%s: the same bytes come back', (name) => {
    expect(hexOf(Trace.encode(Trace.decode(bytesOf(name))).finish())).toBe(HEX[name]);
  });

  it.each(['opening', 'process', 'counter', 'begin'] as const)('%s: the same message comes back', (name) => {
    const again = Trace.encode(Trace.decode(bytesOf(name))).finish();
    expect(plainPackets(again)).toEqual(plainPackets(bytesOf(name)));
  });

  it('are one slice and one sample', () => {
    const view = viewTrace(Buffer.concat(names.map(bytesOf)));
    expect(view.problems.map(({ what }) => what)).toEqual(['clock_sync_unrelatable_clock_domains']);
    expect(view.slices).toMatchObject([
      { name: 'AllReduce', ts: T0 + 5000n, dur: 7000n, args: { seq: 42 }, correlation: 77n },
    ]);
    expect(view.counters).toMatchObject([{ ts: T0 + 12_000n, value: 2 ** 20 }]);
    expect(view.processes).toMatchObject([{ pid: 1, name: 'rank 0000 hostA gpu0', ts: T0 }]);
  });
});

describe('our own packets against the vectors', () => {
  it('root: the same bytes', () => {
    expect(splitPackets(opening()).map(hexOf)).toContain(HEX.root);
  });

  it('process: the same message, but for its uuid', () => {
    const process = { pid: 1, name: 'rank 0000 hostA gpu0', orderRank: 0 };
    const { bytes } = block(() => undefined, { process });
    const [first] = plainPackets(bytes) as { trackDescriptor: object }[];
    const [vector] = plainPackets(bytesOf('process')) as { trackDescriptor: object }[];
    expect(first).toEqual({ ...vector, trackDescriptor: { ...vector?.trackDescriptor, uuid: 16n } });
  });

  it('begin, end, sample: the same messages, but for uuids, the sequence and the names interned on first use', () => {
    const { bytes } = block((sink) => {
      const lane = sink.describe({ kind: 'slices', name: 'colls', rank: 1 });
      const slice = sink.begin(lane, ns(5000), 'AllReduce', { args: [['seq', 42]], correlation: 77 });
      sink.end(lane, ns(12_000), slice);
      sink.counter(
        sink.describe({ kind: 'counter', name: 'tx bytes', rank: 2, unit: 'bytes' }),
        ns(12_000),
        2 ** 20,
      );
    });
    const events = (plainPackets(bytes) as { trackEvent?: object }[]).filter((packet) => packet.trackEvent);
    const expected = (['begin', 'end', 'sample'] as const).map((name) => {
      const [vector] = plainPackets(bytesOf(name)) as { trackEvent: object }[];
      const trackUuid = name === 'sample' ? 19n : 18n;
      // That an event needs its sequence's state only matters where packets were lost.
      const ours = { trustedPacketSequenceId: 2, sequenceFlags: undefined };
      return { ...vector, ...ours, trackEvent: { ...vector?.trackEvent, trackUuid } };
    });
    const internedData = {
      eventNames: [{ iid: 1n, name: 'AllReduce' }],
      debugAnnotationNames: [{ iid: 1n, name: 'seq' }],
    };
    expect(events).toEqual([{ ...expected[0], internedData }, expected[1], expected[2]]);
  });
});
