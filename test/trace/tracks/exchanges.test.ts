/** AlltoAlls of sends and receives above the ranks: one slice each, from the first call to the last end, and what it claims. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { traceNsFromClockMap } from '../../../src/base/time.js';
import type { Exchange, ExchangePart } from '../../../src/cluster/exchanges.js';
import { merge } from '../../../src/merge.js';
import { describeCluster, drawCluster } from '../../../src/trace/tracks/cluster_tracks.js';
import { unpackRecording } from '../../support/jobs/packed_recording.js';
import { folderOfFile } from '../../support/program/temporary_folder.js';
import { TextSink } from '../../support/traces/text_sink.js';
import { viewTrace } from '../../support/traces/trace_view.js';

const folder = folderOfFile();

const ns = traceNsFromClockMap;
const ended = (rank: number, end: number, more: Partial<ExchangePart> = {}): ExchangePart => ({
  ...{ file: rank, rank, start: ns(100 + rank), enqueued: ns(110), end: ns(end), state: 'ended' },
  ...{ sent: 40, received: 40, ...more },
});
const open = (rank: number): ExchangePart => ended(rank, 0, { end: null, state: 'open' });

function exchange(parts: readonly ExchangePart[], call = 0): Exchange {
  const [most] = parts;
  const sizes = { most: most!, mostWay: 'receives', mostBytes: 120, usualBytes: 40 } as const;
  return { call, parts, start: ns(100), bytes: 160, ...sizes };
}

interface Clocks {
  readonly bound?: number;
  readonly isOneAxis?: boolean;
  readonly silent?: readonly number[];
}

function draw(exchanges: readonly Exchange[], { bound = 0, isOneAxis = true, silent = [] }: Clocks = {}) {
  const sink = new TextSink();
  const comm = { commId: 1n, name: 'ep', nRanks: 3, files: [0, 1, 2], collectives: [], exchanges };
  const lanes = drawCluster(
    sink,
    describeCluster(sink),
    [comm],
    {
      rankOf: String,
      comparable: () => isOneAxis,
      clockBound: () => bound,
      isSilent: (file) => silent.includes(file),
      worldSize: 3,
    },
    { commId: 1n, func: 'Send', seq: -1, ordinal: 0, args: [['pytorchCall', 'x']] },
  );
  return { lines: sink.lines.map((line) => line.replace('[Cluster / ep (3 ranks)] ', '')), lanes };
}

const SIZES = 'mostRank=0 most=receives mostBytes=120 usualBytes=40 imbalance=3';
const NAMES = 'comm=ep commId=0x0000000000000001 commSize=3';

it('goes from the first call to the last end, and says who was the last and why', () => {
  expect(draw([exchange([ended(0, 900), ended(1, 500), ended(2, 600)])]).lines).toEqual([
    `100 begin AlltoAll ${NAMES} call=0 callers=3 bytes=160 ${SIZES} lastRank=0 lastByNs=300 last=receives most`,
    '900 end AlltoAll',
  ]);
  const [begin] = draw([exchange([ended(0, 300), ended(1, 500), ended(2, 600)])]).lines;
  expect(begin).toContain('lastRank=2 lastByNs=100 last=not because of its bytes');
});

it.each([
  [{ bound: 299 }, 'lastRank=0 lastByNs=300 lastBoundNs=299 last=receives most'],
  [{ bound: 300 }, `${SIZES} last=below what the clocks can tell`],
  [{ isOneAxis: false }, `${SIZES} last=not known: several clocks`],
])('with clocks %o it says %s', (clocks, text) => {
  expect(draw([exchange([ended(0, 900), ended(1, 500), ended(2, 600)])], clocks).lines[0]).toContain(text);
});

it('stays open if a rank has not ended, and is what the verdict’s send belongs to', () => {
  const { lines, lanes } = draw([
    exchange([ended(0, 300), ended(1, 300), ended(2, 300)]),
    exchange([open(0), ended(1, 500)], 1),
  ]);
  expect(lines[1]).toBe(
    `100 [Cluster / ep (3 ranks) ·2] begin AlltoAll 1 ${NAMES} call=1 callers=2 bytes=160 ${SIZES} open=0 notSeen=2 pytorchCall=x`,
  );
  expect(lanes).toEqual(['ep (3 ranks) ·2', 'ep (3 ranks)']);
});

it('ends with the others’ if only a rank whose records end early has not', () => {
  const { lines } = draw([exchange([open(0), ended(1, 500), ended(2, 600)])], { silent: [0] });
  expect(lines[0]).toContain('notRecorded=0');
  expect(lines[0]).not.toContain('last');
  expect(lines.at(-1)).toBe('600 end AlltoAll');
});

it('names no last rank if it was aborted: the ends are those of the aborts', () => {
  const aborted = (rank: number, end: number): ExchangePart => ended(rank, end, { state: 'aborted' });
  const [begin] = draw([exchange([aborted(0, 900), aborted(1, 500), ended(2, 400)])]).lines;
  expect(begin).toContain('aborted=0,1');
  expect(begin).not.toContain('last');
});

it('says if its end is not recorded', () => {
  const unknown = (rank: number): ExchangePart => ended(rank, 0, { end: null, state: 'not known' });
  expect(draw([exchange([unknown(0), unknown(1), unknown(2)])]).lines).toEqual([
    `100 begin AlltoAll enqueued ${NAMES} call=0 callers=3 bytes=160 ${SIZES} completion=enqueued, completion not recorded`,
    '110 end AlltoAll enqueued',
  ]);
});

it('of a recorded job: 20 slices, and the rank that receives six times as much is the last in each', async () => {
  const output = path.join(folder, 'uneven.pftrace');
  await merge({ inputs: [unpackRecording('cases/uneven-alltoall', folder)], output, jobs: 1 });
  const { slices } = viewTrace(readFileSync(output), { emptySlices: 'fine' });
  const all = slices.filter(({ name }) => name === 'AlltoAll');
  expect(all.map(({ args }) => args.call)).toEqual(Array.from({ length: 20 }, (_, call) => call));
  for (const { args, dur, track, ts } of all) {
    expect(args).toMatchObject({ mostRank: 2, lastRank: 2, last: 'receives most', bytes: 1_048_576 });
    expect(args.mostBytes).toBe(786_432);
    const parts = slices.filter(
      (one) => /^(Send|Recv)$/.test(one.name ?? '') && one.ts >= ts && one.ts + one.dur <= ts + dur,
    );
    expect(parts.length).toBeGreaterThanOrEqual(12);
    expect(Math.max(...parts.map((one) => Number(one.ts + one.dur - ts - dur)))).toBe(0);
    expect(track.name).toMatch(/\(3 ranks\)/);
  }
});
