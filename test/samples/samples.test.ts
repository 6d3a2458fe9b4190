/**
 * Every recorded sample, as a user would merge it: a clean trace, a summary that equals it, the same bytes in any order, what
 * schemas/trace.md promises of counters, correlation ids, clocks and descriptions, and a report in test/goldens/.
 * `UPDATE_GOLDENS=1 npm test` rewrites the goldens; read the difference.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { mergeReportText } from '../../src/report/merge_report.js';
import { inspectNext } from '../../src/report/next_command.js';
import { traceTexts } from '../../src/report/headline.js';
import { verdictText } from '../../src/report/verdict_text.js';
import { markdownOf } from '../../src/report/markdown.js';
import { examine } from '../../src/report/examine.js';
import { merge } from '../../src/merge.js';
import { diagnose } from '../../src/report/diagnosis.js';
import type { MergeReport } from '../../src/report/report.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { countsOf, functionOf, viewTrace, type TraceView, type ViewCounter, type ViewSlice } from '../support/traces/trace_view.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const samples = readdirSync(path.join(root, 'samples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const folder = folderOfFile();

function golden(name: string, text: string): void {
  const file = path.join(root, 'test/goldens', name);
  if (process.env.UPDATE_GOLDENS === '1') writeFileSync(file, text);
  expect(text).toBe(existsSync(file) ? readFileSync(file, 'utf8') : `${file} is not there`);
}

it('each has its provenance, and all together stay small', () => {
  let bytes = 0;
  for (const name of samples) {
    const files = readdirSync(path.join(root, 'samples', name));
    expect(files).toContain('README.md');
    for (const file of files) bytes += readFileSync(path.join(root, 'samples', name, file)).length;
  }
  expect(samples.length).toBeGreaterThanOrEqual(4);
  expect(bytes).toBeLessThan(18e6);
});

it.each(['slow-link', 'thin-channel', 'slow-work'])('the report on %s is as in its golden', async (name) => {
  const { report } = await examine([path.join(root, 'samples', name)], { jobs: 1 });
  // The GPU of slow-work is the verdict's.
  expect(report.causes).toHaveLength(name === 'slow-work' ? 0 : 1);
  golden(`${name}.report.md`, markdownOf(report));
});

it('the README shows the verdict of the hang', () => {
  const shown = readFileSync(path.join(root, 'test/goldens/hang.inspect.txt'), 'utf8');
  expect(readFileSync(path.join(root, 'README.md'), 'utf8')).toContain(`\n\`\`\`\n${shown}\`\`\`\n`);
});

interface Drawn {
  readonly output: string;
  readonly report: MergeReport;
  readonly view: TraceView;
}
const all = new Map<string, Promise<Drawn>>();
/** The trace of a sample, made once for all tests. */
function drawn(name: string): Promise<Drawn> {
  const known = all.get(name) ?? draw(name);
  all.set(name, known);
  return known;
}
async function draw(name: string): Promise<Drawn> {
  const output = path.join(folder, `${name}.pftrace`);
  const report = await merge({
    inputs: [path.join(root, 'samples', name)],
    ...{ output, jobs: 1, texts: traceTexts },
  });
  return { output, report, view: viewTrace(readFileSync(output), { emptySlices: 'fine' }) };
}

const isWork = ({ name, track }: ViewSlice): boolean =>
  name !== null && / · (collectives|point-to-point)( ·\d+)?$/.test(track.name);

/** The samples of one counter track, by its process and name. */
function byTrack(counters: readonly ViewCounter[], wanted: RegExp): ViewCounter[][] {
  const tracks = new Map<bigint, ViewCounter[]>();
  for (const sample of counters.filter(({ track }) => wanted.test(track.name)))
    tracks.set(sample.track.uuid, [...(tracks.get(sample.track.uuid) ?? []), sample]);
  return [...tracks.values()];
}

const last = (samples: readonly ViewCounter[]): number => samples.at(-1)?.value ?? NaN;

describe.each(samples)('%s', (name) => {
  const input = path.join(root, 'samples', name);
  let output: string;
  let report: MergeReport;
  let view: TraceView;

  beforeAll(async () => {
    ({ output, report, view } = await drawn(name));
  });

  it('imports without a problem, and the summary counts match', () => {
    expect(view.problems).toEqual([]);
    expect(report.trace).toEqual(countsOf(view));
  });

  it('never points backwards', () => {
    for (const { from, to } of view.flows)
      expect(to.name === 'look here' ? from.ts : from.ts + from.dur).toBeLessThanOrEqual(to.ts);
  });

  // Those of PyTorch are large, and have nothing to order that the others lack.
  it.skipIf(name.startsWith('torch-'))('gives the same bytes whatever the order of its files', async () => {
    const files = readdirSync(input)
      .filter((file) => file.endsWith('.bin'))
      .map((file) => path.join(input, file));
    const again = path.join(folder, `${name}-again.pftrace`);
    await merge({ inputs: files.reverse(), output: again, jobs: 1, texts: traceTexts });
    expect(readFileSync(again).equals(readFileSync(output))).toBe(true);
  });

  it('is reported as in its golden', () => {
    const ranks = report.ranks.map((rank) => ({ ...rank, file: path.relative(root, rank.file) }));
    const shown = { ...report, ranks, output: 'trace.pftrace' };
    // The link is long and full of times; test/trace/first_screen.test.ts reads it.
    golden(`${name}.txt`, mergeReportText(shown));
  });

  it('is judged as in its golden, without a trace', async () => {
    const diagnosis = await diagnose([path.relative(process.cwd(), input)]);
    expect(diagnosis.verdict).toEqual(report.verdict);
    const lines = verdictText(diagnosis, inspectNext(diagnosis, [path.relative(process.cwd(), input)], {}));
    golden(`${name}.inspect.txt`, lines.map((line) => `${line}\n`).join(''));
    const ofTrace = view.attributes['nccl_trace.report'];
    expect(ofTrace).toBe(verdictText({ ...diagnosis, otherRuns: [] }).join('\n'));
    expect(lines.slice(0, 4)).toEqual(String(ofTrace).split('\n').slice(0, 4));
  });

  it('explains every track', () => {
    expect(view.tracks.filter(({ description }) => description === '').map((track) => track.path)).toEqual([]);
  });

  it('counts the operations in flight as their slices show them', () => {
    for (const [first, ...samples] of byTrack(view.counters, / · operations in flight$/)) {
      const works = view.slices.filter((slice) => isWork(slice) && slice.track.process === first!.track.process);
      const ends = works.filter(({ dur }) => dur >= 0n).map(({ ts, dur }) => ts + dur);
      expect(last([first!, ...samples])).toBe(works.length - ends.length);
      for (const { ts, value } of samples.filter((sample, i) => samples[i + 1]?.ts !== sample.ts)) {
        const begun = works.filter((work) => work.ts <= ts).length;
        expect(value).toBe(begun - ends.filter((end) => end <= ts).length);
      }
    }
  });

  it('counts proxy operations in flight down to those left open', () => {
    for (const samples of byTrack(view.counters, / · proxy operations in flight$/)) {
      const { process } = samples[0]!.track;
      const ops = view.slices.filter(
        (slice) =>
          slice.track.process === process && /^(proxy (send|recv)|began before the window)$/.test(slice.name ?? ''),
      );
      expect(last(samples)).toBe(ops.filter(({ dur }) => dur === -1n).length);
      expect(Math.max(...samples.map(({ value }) => value))).toBeLessThanOrEqual(ops.length);
    }
  });

  it('splits the bytes by peer: up to three peers add up to the total', () => {
    for (const direction of ['tx', 'rx']) {
      for (const total of byTrack(view.counters, new RegExp(` · ${direction} bytes$`))) {
        const { process } = total[0]!.track;
        const own = view.counters.filter(({ track }) => track.process === process);
        const peers = byTrack(own, new RegExp(` · ${direction} bytes (to|from) `));
        const isPartial = view.slices.some(
          ({ track, name: slice }) =>
            track.process === process &&
            (slice === 'began before the window' || track.path.some((part) => part.startsWith('PXN'))),
        );
        const sum = peers.reduce((bytes, samples) => bytes + last(samples), 0);
        expect(peers.length).toBeLessThanOrEqual(4);
        if (peers.length < 4 && !isPartial) expect(sum).toBe(last(total));
        else expect(sum).toBeLessThanOrEqual(last(total));
      }
    }
  });

  it('has rates that add up to the bytes', () => {
    for (const rates of byTrack(view.counters, / · tx rate/)) {
      const bytesName = rates[0]!.track.name.replace('rate', 'bytes');
      const total = view.counters.filter(
        ({ track }) =>
          track.name === bytesName && track.parent === rates[0]!.track.parent && track.process === rates[0]!.track.process,
      );
      const sum = rates
        .slice(0, -1)
        .reduce((bytes, { ts, value }, i) => bytes + value * Number(rates[i + 1]!.ts - ts), 0);
      expect(sum).toBeCloseTo(last(total), 0);
    }
  });

  it('gives a collective one correlation id on all ranks, its operations and its kernels', () => {
    const named = new Map<unknown, Set<string>>();
    for (const slice of view.slices) {
      const { track, args, correlation } = slice;
      if (correlation === undefined || !track.process || !('seq' in args) || !('algo' in args)) continue;
      const comm = /^comm (.*) \(/.exec(track.path.at(-2) ?? '')?.[1];
      const names = named.get(correlation) ?? new Set();
      named.set(correlation, names.add(`${comm} ${functionOf(slice)} ${String(args.seq)} ${String(args.replay ?? 0)}`));
    }
    for (const names of named.values()) expect([...names]).toHaveLength(1);
    const distinct = [...named.values()].flatMap((names) => [...names]);
    expect(new Set(distinct).size).toBe(distinct.length);
    for (const slice of view.slices.filter(({ track, args }) => !track.process && 'seq' in args)) {
      const same = view.slices.filter(({ correlation, track }) => track.process && correlation === slice.correlation);
      const works = same.filter(isWork);
      expect(works.map((work) => [functionOf(work), work.args.seq])).toEqual(
        works.map(() => [functionOf(slice), slice.args.seq]),
      );
      expect(new Set(works.map(({ track }) => track.process?.pid)).size).toBe(Number(slice.args.ranks));
    }
  });

  it('draws the bus bandwidth of the collectives under way', () => {
    const together = view.slices.filter(({ track, args }) => !track.process && 'busbwGBs' in args);
    const counters = view.counters.filter(({ track }) => track.name.endsWith(' busbw'));
    expect(counters.length > 0).toBe(together.length > 0);
    for (const slice of together) {
      const title = slice.track.name.replace(/ ·\d+$/, '');
      const own = counters.filter(({ track }) => track.name === `${title} busbw`);
      // Its last arrival is where its bandwidth begins; there it is the sum of all that run.
      const from = slice.ts + BigInt((slice.args.skewNs as bigint | number | undefined) ?? 0);
      const at = own.find(({ ts }) => ts === from);
      expect(at?.value).toBeGreaterThanOrEqual(Number(slice.args.busbwGBs) * 0.99);
      expect(own.some(({ ts }) => ts === slice.ts + slice.dur)).toBe(true);
      expect(last(own)).toBe(0);
    }
  });

  it('names no late rank that the clocks cannot resolve', () => {
    for (const { args } of view.slices.filter(({ track }) => !track.process)) {
      if (!('skewNs' in args)) continue;
      const bound = Number(args.skewBoundNs ?? 0);
      expect('lateRank' in args).toBe(bound === 0 || Number(args.skewNs) > bound);
      expect('skew' in args).toBe(!('lateRank' in args));
    }
  });
});

describe('each sample shows its point', () => {
  const sliced = async (name: string): Promise<TraceView> => (await drawn(name)).view;
  const rankOf = (slice: { track: { process: { pid: number } | undefined } }): number =>
    (slice.track.process?.pid ?? 0) - 1_000_000;

  it('healthy: nothing is open, two kinds of communicators', async () => {
    const { slices, tracks } = await sliced('healthy');
    expect(slices.filter(({ dur }) => dur === -1n)).toEqual([]);
    const comms = tracks.map(({ name }) => /^comm (\w+) /.exec(name)?.[1]).filter((comm) => comm !== undefined);
    expect([...new Set(comms)].sort()).toEqual(['tp', 'world']);
  });

  it('straggler: rank 2 enters last, and the others wait for it', async () => {
    const { slices } = await sliced('straggler');
    const first = slices.filter(({ name, args }) => name === 'AllReduce' && args.seq === 2 && args.algo === 'RING');
    const late = first.reduce((a, b) => (b.ts > a.ts ? b : a));
    expect(rankOf(late)).toBe(2);
    const second = first.filter((slice) => slice !== late).reduce((a, b) => (b.ts > a.ts ? b : a));
    expect(Number(late.ts - second.ts)).toBeGreaterThan(10e6);
  });

  it('torch-hang: what waits behind the call that hangs takes one lane', async () => {
    const { slices } = await sliced('torch-hang');
    const together = slices.filter(({ dur, track }) => dur === -1n && !track.process && track.name.startsWith('ranks 0-1'));
    expect(together.map(({ name }) => name).sort()).toEqual(['40 more not finished', 'AllReduce 38']);
    expect(together.find(({ args }) => 'calls' in args)?.args.calls).toBe('AllReduce 39-78');
    const lanes = slices.filter(({ track }) => !track.process && track.name.startsWith('ranks 0-1'));
    expect(new Set(lanes.map(({ track }) => track.name)).size).toBeLessThan(5);
    const ofRank0 = slices.filter(({ dur, track, args }) => dur === -1n && track.process && 'algo' in args);
    expect(ofRank0.map(({ name, args }) => [name, args.seq])).toEqual(
      ofRank0.map(({ args }) => [`AllReduce ${String(args.seq)}`, args.seq]),
    );
  });

  it('hang: the same collective is open on every rank whose file is here', async () => {
    const { slices, processes } = await sliced('hang');
    const hung = slices.filter(({ name, dur }) => name === 'AllReduce 2' && dur === -1n);
    const open = hung.filter(({ track }) => track.process !== undefined);
    const [together, ...more] = hung.filter(({ track }) => track.process === undefined);
    expect(more).toEqual([]);
    expect(together?.args).toMatchObject({ seq: 2, ranks: 3, open: '0,2,3' });
    expect(open.map(({ args }) => args.seq)).toEqual([2, 2, 2]);
    expect(open.map(rankOf).sort()).toEqual([0, 2, 3]);
    expect(processes.map(({ name }) => name).sort()).toEqual([
      'rank 0000 · vm · gpu0 · STUCK',
      'rank 0001 · NO FILE',
      'rank 0002 · vm · gpu2',
      'rank 0003 · vm · gpu3 · SILENT',
    ]);
    const heartbeats = slices.filter(({ name }) => name === 'last heartbeat');
    expect(Math.max(...heartbeats.map(({ ts }) => Number(ts - open[0]!.ts)))).toBeGreaterThan(1e9);
  });

  it.each([
    ['abi-v1', 1, { kernels: false, calls: false, sizes: false }],
    ['abi-v3', 3, { kernels: true, calls: false, sizes: false }],
    ['abi-v4', 4, { kernels: true, calls: false, sizes: true }],
    ['healthy', 6, { kernels: true, calls: true, sizes: true }],
  ])('%s: what interface v%i reports, and no more', async (name, _, tells) => {
    const { slices } = await sliced(name);
    const has = (wanted: RegExp): boolean => slices.some((slice) => wanted.test(slice.name ?? ''));
    expect(slices.filter(({ args }) => args.algo === 'RING').length).toBeGreaterThan(0);
    expect(has(/kernel$/)).toBe(tells.kernels);
    expect(has(/^ncclAllReduce$/)).toBe(tells.calls);
    expect(slices.some((slice) => slice.name === 'send wait' && 'bytes' in slice.args)).toBe(tells.sizes);
  });

  it('abi-v7: user tags, and for symmetric memory the call and the phases of its kernel', async () => {
    const { slices } = await sliced('abi-v7');
    const calls = slices.filter(({ name }) => name === 'ncclAllReduce' || name === 'ncclAllGather');
    expect(calls.length).toBeGreaterThan(0);
    for (const { args } of calls) expect(args.userTag).toBe(42);
    expect(slices.some(({ name }) => name === 'compute')).toBe(true);
  });

  it('copy-engine: when the work was put into the stream, and no claim when it ran', async () => {
    const { slices } = await sliced('copy-engine');
    const colls = slices.filter(({ name, args }) => name === 'AllGather' && 'syncStrategy' in args);
    expect(colls).toHaveLength(4);
    for (const { args } of colls) expect(args.completion).toBeDefined();
    expect(slices.some(({ name, args }) => name === 'CeBatch' && Number(args.totalBytes) > 0)).toBe(true);
  });

  it('graph: one captured call, four replays on each rank, each once above all ranks', async () => {
    const { slices } = await sliced('graph');
    const ofRanks = slices.filter(({ name, track, args }) => name === 'AllReduce' && track.process && args.graph);
    expect(ofRanks.map(({ args }) => args.replay).sort()).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
    expect(slices.filter(({ name }) => name === 'ncclAllReduce (captured)')).toHaveLength(2);
    const together = slices.filter(({ name, track }) => name === 'AllReduce' && !track.process);
    expect(together.map(({ args }) => [args.replay ?? 0, args.ranks])).toEqual([0, 1, 2, 3].map((n) => [n, 2]));
  });

  it('pxn: rank 2 executes the sends of rank 0, and the slices of rank 0 say so', async () => {
    const { slices, flows } = await sliced('pxn');
    const executed = slices.filter(({ track }) => track.path.some((part) => part.startsWith('PXN for rank 0000')));
    expect(executed.filter(({ name }) => name === 'proxy send')).toHaveLength(2);
    expect(new Set(executed.map(rankOf))).toEqual(new Set([2]));
    const own = slices.filter(({ name, track, args }) => name === 'AllReduce' && track.process && 'executedBy' in args);
    expect(own.map(rankOf)).toEqual([0, 0]);
    // The arrows of those sends leave from rank 2 and arrive where the ring of ranks leads to from rank 0.
    const arrows = flows.filter(({ from }) => executed.some(({ ts, track }) => track === from.track && ts <= from.ts));
    expect(arrows.length).toBeGreaterThan(0);
    for (const { to } of arrows) expect(rankOf(to)).toBe(1);
  });

  it('stream-killed: chunks and rings give one whole history', async () => {
    const { report, view } = await drawn('stream-killed');
    for (const { lost, beganBefore } of report.ranks) {
      expect({ lost, beganBefore }).toEqual({
        lost: { overwritten: 0, dropped: 0, torn: 0, copy: 0 },
        beganBefore: 0,
      });
    }
    const seen = view.slices.filter(({ name, track, args }) => name?.startsWith('AllReduce') && track.process && 'algo' in args);
    for (const rank of [0, 1]) {
      const seqs = seen.filter((slice) => rankOf(slice) === rank).map(({ args }) => Number(args.seq));
      expect(seqs).toEqual(Array.from({ length: 29 }, (_, seq) => seq));
    }
  });

  it('wrapped: overwritten records are drawn as a gap, and the rest is clean', async () => {
    const { slices } = await sliced('wrapped');
    const lost = slices.filter(({ name }) => name === 'overwritten');
    expect(lost.length).toBeGreaterThan(0);
    for (const { args } of lost) expect(Number(args.slots)).toBeGreaterThan(0);
    const standIns = slices.filter(({ name }) => name === 'began before the window');
    expect(standIns.length).toBeGreaterThan(10);
    expect(new Set(standIns.map(({ track }) => track)).size).toBeLessThan(standIns.length / 4);
    expect(slices.filter(({ dur }) => dur === -1n)).toEqual([]);
  });

  it('hosts: each clock with its bounds, and where a wall clock was set', async () => {
    const { slices } = await sliced('hosts');
    const clocks = slices.filter(({ track }) => track.path[1] === 'clocks');
    const pieces = clocks.filter(({ name }) => name === 'aligned by transfers');
    expect(new Set(pieces.map(({ track }) => track.name))).toEqual(
      new Set(['node000', 'node001', 'node002', 'node003']),
    );
    for (const { args } of pieces) expect(Number(args.bound99Ns)).toBeLessThanOrEqual(Number(args.hardBoundNs));
    const steps = clocks.filter(({ name }) => name === 'wall clock stepped');
    expect(steps.map(({ track }) => track.name)).toEqual(['node002']);
    expect(Number(steps[0]!.args.byNs) / 1e9).toBeCloseTo(1, 3);
  });
});
