/** The cluster group with made-up collectives: uncertain clocks, overlapping collectives, wall clocks that were set. */

import { expect, it } from 'vitest';
import { localNs, traceNsFromClockMap } from '../../../src/base/time.js';
import { bound99At, mapPieces, type ClockSegment } from '../../../src/clocks/clock_map.js';
import { wallSteps } from '../../../src/clocks/wall_steps.js';
import type { Late } from '../../../src/cluster/collective_types.js';
import type { Collective } from '../../../src/cluster/collective_view.js';
import { drawClocks } from '../../../src/trace/tracks/clock_tracks.js';
import { describeCluster, drawCluster } from '../../../src/trace/tracks/cluster_tracks.js';
import { TextSink } from '../../support/traces/text_sink.js';

const ns = traceNsFromClockMap;

const late = (first: number, last: number): Late => ({
  file: 1,
  rank: 1,
  basis: 'call',
  called: ns(last),
  others: ns(first),
  idle: { from: first, to: ns(last) },
  to: ns(last),
});

const collective = (seq: number, first: number, last: number, end: number): Collective => ({
  row: seq,
  func: 'AllReduce',
  datatype: 'ncclFloat32',
  plan: 'RING/SIMPLE',
  channels: 2,
  count: 250,
  seq,
  ordinal: 0,
  root: 0,
  firstArrival: ns(first),
  firstFile: 0,
  lastArrival: ns(last),
  lastFile: 1,
  firstCalled: ns(first),
  lastRank: 1,
  isFed: true,
  late: { onGpu: late(first, last), onHost: late(first, last) },
  together: () => ({ onGpu: [], onHost: [] }),
  arrived: 2,
  known: 2,
  open: [],
  cutOff: [],
  aborted: [],
  absent: [],
  notKnown: [],
  different: [],
  end: ns(end),
  enqueued: null,
});

function draw(
  collectives: readonly Collective[],
  bound: number,
  { nRanks, worldSize } = { nRanks: 2, worldSize: 2 },
): TextSink {
  const sink = new TextSink();
  const comm = { commId: 1n, name: 'dp', nRanks, files: [0, 1], collectives, exchanges: [] };
  drawCluster(sink, describeCluster(sink), [comm], {
    rankOf: String,
    comparable: () => true,
    clockBound: () => bound,
    isSilent: () => false,
    worldSize,
  });
  return sink;
}

it.each([
  [0, 'skewNs=50 lateRank=1 late=host call'],
  [49, 'skewNs=50 skewBoundNs=49 lateRank=1 late=host call'],
  [50, 'skewNs=50 skewBoundNs=50 skew=below what the clocks can tell'],
  [Infinity, 'skew=not known: several clocks'],
])('if clocks may be %d ns off, a skew of 50 ns reads: %s', (bound, skew) => {
  const [begin] = draw([collective(0, 100, 150, 1150)], bound).lines;
  expect(begin).toContain(`datatype=ncclFloat32 ${skew} bytes=1000 `);
});

it.each([
  ['the world’s ranks all came', 2, true],
  ['one of the world’s ranks is missing', 3, false],
  ['the world’s size is not known', 0, false],
])('if the size is not known and %s, the late rank is named or left out', (_, worldSize, isNamed) => {
  const sink = draw([collective(0, 100, 150, 1150)], 0, { nRanks: 0, worldSize });
  expect(sink.lines[0]!.includes('lateRank=1')).toBe(isNamed);
  expect(sink.lines[0]!.includes('skewNs=50')).toBe(isNamed);
  expect(sink.lines[0]).toContain('(size not known)');
});

it('adds the bus bandwidths of collectives that overlap, and ends at 0', () => {
  const lines = draw([collective(0, 100, 100, 1100), collective(1, 600, 600, 2600)], 0).of(/busbw/);
  expect(lines.map((line) => line.replace(/ \[.*\]/, ''))).toEqual([
    '100 = 1',
    '600 = 1.5',
    '1100 = 0.5',
    '2600 = 0',
  ]);
});

const segment = (from: number, to: number, bound99: number): ClockSegment => ({
  ...{ from: localNs(from), to: localNs(to), offset: -1000, drift: 0, hardBound: 2 * bound99, bound99 },
  ...{ source: 'traffic', flags: [] },
});
const map = { domain: 'host', segments: [segment(900, 1500, 7), segment(1500, Infinity, 3)] };

it('knows the bound of each piece of a clock, and cuts the pieces at the ends of the trace', () => {
  expect([-5, 0, 499, 500, 9999].map((at) => bound99At(map)(ns(at)))).toEqual([7, 7, 7, 3, 3]);
  expect(mapPieces(map, 800).map(({ from, to }) => [from, to])).toEqual([
    [0, 500],
    [500, 800],
  ]);
  expect(mapPieces(map, 400).map(({ from, to }) => [from, to])).toEqual([[0, 400]]);
});

it('draws no clock that was steady, and each step of one that was set', () => {
  const piece = { ...{ from: ns(0), to: ns(900), source: 'own-counter' as const }, hardBound: 0, bound99: 0 };
  const clock = {
    title: 'node0',
    description: 'x',
    pieces: [{ ...piece, driftPpm: 0, flags: [] }],
    incidents: [],
  };
  const lines = (incidents: Parameters<typeof drawClocks>[2][number]['incidents']): string[] => {
    const sink = new TextSink();
    drawClocks(sink, describeCluster(sink), [{ ...clock, incidents }], 1);
    return sink.lines;
  };
  expect(lines([])).toEqual([]);
  expect(lines([{ at: ns(300), name: 'wall clock stepped', byNs: -2e6 }])).toEqual([
    '0 [Cluster / clocks / node0] begin own counter hardBoundNs=0 bound99Ns=0 driftPpm=0',
    '300 [Cluster / clocks / node0] instant wall clock stepped byNs=-2000000',
    '900 [Cluster / clocks / node0] end own counter',
  ]);
});

it('distinguishes a wall clock that was set from one that is slewed or read slowly', () => {
  const sample = (tick: number, realtime: number, width = 10) => ({
    ...{ tick, realtime: BigInt(realtime), monotonic: 0n, boottime: 0n, width },
  });
  const steps = (...samples: ReturnType<typeof sample>[]) =>
    wallSteps([{ scale: { offset: 5, nsPerTick: 1 }, samples: samples as never }]);
  expect(steps(sample(0, 1e9), sample(1e9, 2e9 + 9e5), sample(2e9, 3e9 + 9e5))).toEqual([]);
  expect(steps(sample(0, 1e9), sample(1e9, 2e9 - 5e6), sample(2e9, 3e9 - 5e6))).toEqual([
    { at: 1e9 + 5, by: -5e6 },
  ]);
  expect(steps(sample(0, 1e9), sample(1e9, 2e9 + 5e6, 4e6))).toEqual([]);
});
