import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { perfetto } from '../../../src/trace/perfetto/generated/protos.js';
import { BlockWriter } from '../../../src/trace/perfetto/block_writer.js';
import { viewTrace } from '../../support/traces/trace_view.js';
import { T0, block, ns, opening, rank, trace } from './blocks.js';

fc.configureGlobal({ seed: 7 });

/** A chunk is passed on when it has so many bytes (src/kernel/draw/output.ts). */
const CHUNK_BYTES = (4 << 20) - (64 << 10);

const { Trace } = perfetto.protos;

/** A bit of everything. */
function everything(sink: BlockWriter): void {
  const comm = sink.describe({ kind: 'group', name: 'comm dp', rank: 1, description: 'One communicator.' });
  const colls = sink.describe({ kind: 'slices', name: 'colls', rank: 0, parent: comm });
  const below = sink.describe({ kind: 'slices', name: 'steps', rank: 0, parent: colls });
  const kernel = sink.describe({ kind: 'slices', name: 'kernel', rank: 1, parent: comm });
  const bytes = sink.describe({ kind: 'counter', name: 'tx bytes', rank: 2, parent: comm, unit: 'bytes' });
  const rate = sink.describe({
    kind: 'counter',
    name: 'tx rate',
    rank: 3,
    parent: comm,
    unit: 'GB/s',
  });
  const ctrl = sink.describe({ kind: 'state', name: 'ProxyCtrl', rank: 4 });
  const flow = { hi: 0x80000000, lo: 1 };
  sink.state(ctrl, ns(0), null);
  sink.state(ctrl, ns(1), 'Idle');
  const coll = sink.begin(colls, ns(10), 'AllReduce', {
    args: [
      ['seq', 7],
      ['bytes', 1n << 40n],
    ],
    correlation: 9,
  });
  const step = sink.begin(below, ns(12), 'send', { flow });
  sink.state(ctrl, ns(12), 'Idle');
  sink.state(ctrl, ns(13), 'Active');
  sink.counter(bytes, ns(13), 4096);
  sink.counter(bytes, ns(13), 4096);
  sink.end(below, ns(15), step, { args: [['polls', 3]] });
  sink.instant(below, ns(15), 'mark', { flow });
  sink.end(kernel, ns(14), sink.begin(kernel, ns(11), 'kernelCh'));
  sink.counter(rate, ns(0), 12.5);
  sink.state(ctrl, ns(16), null);
  sink.state(ctrl, ns(17), 'Idle');
  sink.end(colls, ns(20), coll);
  sink.begin(colls, ns(21), 'AllGather');
}

describe('a block', () => {
  const written = block(everything);
  const view = viewTrace(trace(written));
  const at = ({ ts }: { ts: bigint }): number => Number(ts - T0);

  it('is read without a problem', () => {
    expect(view.problems).toEqual([]);
  });

  it('shows its tracks below the process', () => {
    expect(view.processes).toMatchObject([{ pid: 1_000_000, name: 'rank 0', rank: 0, ts: T0 }]);
    const shown = view.tracks.map(
      ({ path, kind, unit, rank: order }) => `${path.join('/')} ${kind} ${unit} ${order}`,
    );
    expect(shown).toEqual([
      'rank 0 process  0',
      'rank 0/NCCL group  0',
      'rank 0/NCCL/comm dp group  1',
      'rank 0/NCCL/comm dp/colls slices  0',
      'rank 0/NCCL/comm dp/colls/steps slices  0',
      'rank 0/NCCL/comm dp/kernel slices  1',
      'rank 0/NCCL/comm dp/tx bytes counter bytes 2',
      'rank 0/NCCL/comm dp/tx rate counter GB/s 3',
      'rank 0/NCCL/ProxyCtrl state  4',
    ]);
    expect(view.tracks[2]?.description).toBe('One communicator.');
  });

  it('shows its slices, the open one open', () => {
    expect(view.slices.map((slice) => `${slice.name} ${at(slice)} ${slice.dur} ${slice.depth}`)).toEqual([
      'AllReduce 10 10 0',
      'kernelCh 11 3 0',
      'send 12 3 0',
      'mark 15 0 0',
      'AllGather 21 -1 0',
    ]);
    expect(view.slices[0]).toMatchObject({ args: { seq: 7, bytes: 2 ** 40 }, correlation: 9n });
    expect(view.slices[2]?.args).toEqual({ polls: 3 });
  });

  it('shows states, samples and the arrow', () => {
    expect(view.states.map((state) => `${state.name} ${at(state)} ${state.dur}`)).toEqual([
      'Idle 1 12',
      'Active 13 3',
      'Idle 17 -1',
    ]);
    expect(view.counters.map((sample) => `${sample.track.name} ${at(sample)} ${sample.value}`)).toEqual([
      'tx rate 0 12.5',
      'tx bytes 13 4096',
      'tx bytes 13 4096',
    ]);
    expect(view.flows.map(({ id, from, to }) => `${id} ${from.name} ${to.name}`)).toEqual([
      `${(0x80000000n << 32n) | 1n} send mark`,
    ]);
  });

  it('counts what the reader finds', () => {
    expect(written.counts).toEqual({
      slices: view.slices.length,
      openSlices: view.slices.filter(({ dur }) => dur === -1n).length,
      instants: view.slices.filter(({ isInstant }) => isInstant).length,
      counterSamples: view.counters.length,
      states: view.states.length,
      tracksWithData: new Set([...view.slices, ...view.counters, ...view.states].map(({ track }) => track))
        .size,
      bytes: written.bytes.length,
    });
  });

  it('opens a sequence only for an event that is earlier than the newest event of every sequence', () => {
    const sequences = (bytes: Uint8Array): unknown[] => [
      ...new Set(Trace.decode(bytes).packet.map((packet) => packet.trustedPacketSequenceId)),
    ];
    expect(sequences(written.bytes)).toEqual([null, 2, 3, 4]);
    const backwards = (events: number) =>
      block((sink) => {
        for (let at = events; at > 0; at--)
          sink.instant(sink.describe({ kind: 'slices', name: `${at}`, rank: at }), ns(at), 'mark');
      });
    expect(sequences(backwards(1).bytes)).toEqual([null, 2]);
    expect(sequences(backwards(20).bytes)).toEqual([null, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(viewTrace(trace(backwards(20))).slices.map(at)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
  });

  it('without a process has its tracks at the top', () => {
    const cluster = block(everything, { process: null });
    const alone = viewTrace(trace(cluster));
    expect(alone.problems).toEqual([]);
    expect(alone.processes).toEqual([]);
    expect(alone.tracks[0]).toMatchObject({ path: ['comm dp'], parent: undefined });
  });

  it('names its process for people', () => {
    const process = { ...rank(3), description: 'pid 77 on node1', labels: ['node1', 'gpu2'] };
    const named = viewTrace(trace(block(() => undefined, { process })));
    expect(named.processes).toMatchObject([
      { rank: 3, description: 'pid 77 on node1', labels: ['node1', 'gpu2'] },
    ]);
  });
});

describe('blocks of one trace', () => {
  const blocks = [0, 1, 2].map((blockIndex) =>
    block(everything, { blockIndex, blockCount: 3, process: blockIndex === 2 ? null : rank(blockIndex) }),
  );
  const summary = (view: ReturnType<typeof viewTrace>): unknown =>
    view.slices.map(({ track, name, ts, dur }) => `${track.path.join('/')} ${name} ${ts} ${dur}`).sort();

  it('do not disturb one another, in any order', () => {
    const views = [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
    ].map((order) =>
      viewTrace(
        Buffer.concat([opening(), ...order.map((index) => blocks[index]?.bytes ?? new Uint8Array())]),
      ),
    );
    for (const view of views) {
      expect(view.problems).toEqual([]);
      expect(summary(view)).toEqual(summary(views[0]!));
    }
    expect(views[0]?.slices.length).toBe(15);
  });

  it('have no uuid and no sequence in common, whatever their number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 9 }), (blockCount, tracks) => {
        const uuids: number[] = [];
        const sequences = new Set<number>();
        for (let blockIndex = 0; blockIndex < blockCount; blockIndex++) {
          // Each track's event is earlier than all before it, so it needs a sequence of its own.
          const { bytes } = block(
            (sink) => {
              for (let at = tracks; at > 0; at--)
                sink.instant(sink.describe({ kind: 'slices', name: `${at}`, rank: at }), ns(at), 'mark');
            },
            { blockIndex, blockCount },
          );
          for (const { trackDescriptor, trackEvent, trustedPacketSequenceId } of Trace.decode(bytes).packet) {
            if (trackDescriptor) uuids.push(Number(trackDescriptor.uuid));
            if (trackEvent) sequences.add(trustedPacketSequenceId!);
          }
        }
        // The process, its group, and the tracks.
        expect(uuids.length).toBe(blockCount * (2 + tracks));
        expect(new Set(uuids).size).toBe(uuids.length);
        expect(Math.max(...uuids)).toBe(16 + uuids.length - 1);
        expect(sequences.size).toBe(blockCount * tracks);
        expect(sequences.has(1)).toBe(false);
      }),
    );
  });

  it('are the same bytes every time', () => {
    expect(Buffer.compare(block(everything).bytes, block(everything).bytes)).toBe(0);
  });
});

describe('chunks', () => {
  it('leave while the block is written, whole packets each', () => {
    const chunks: Uint8Array[] = [];
    let handedOver = 0;
    const sink = new BlockWriter({
      ...{ blockIndex: 0, blockCount: 1, process: rank(0), traceStart: T0, internLimit: 0 },
      output: (chunk) => {
        chunks.push(chunk.slice());
        handedOver += chunk.length;
      },
    });
    const lane = sink.describe({ kind: 'slices', name: 'lane', rank: 0 });
    let waiting = 0;
    for (let at = 0; at < 6_000; at++) {
      sink.instant(lane, ns(at), 'tick'.repeat(256));
      waiting = Math.max(waiting, sink.counts().bytes - handedOver);
    }
    sink.close();
    expect(waiting).toBeLessThan(CHUNK_BYTES);
    expect(handedOver).toBe(sink.counts().bytes);
    expect(chunks.length).toBe(Math.ceil(handedOver / (CHUNK_BYTES + 1)));
    expect(chunks.length).toBeGreaterThan(1);
    for (const chunk of chunks) expect(Trace.decode(chunk).packet.length).toBeGreaterThan(0);
  });

  it('are larger only if one packet is larger', () => {
    const { chunks } = block((sink) => {
      const lane = sink.describe({ kind: 'slices', name: 'lane', rank: 0 });
      sink.instant(lane, ns(1), 'tick', { args: [['long', 'x'.repeat(3 * CHUNK_BYTES)]] });
      sink.instant(lane, ns(2), 'tick');
    });
    expect(chunks.map((chunk) => chunk.length > 3 * CHUNK_BYTES)).toEqual([true, false]);
  });

  it('are not written twice by a second close', () => {
    const { chunks } = block((sink) => {
      sink.close();
      sink.close();
    });
    expect(chunks.length).toBe(1);
  });
});
