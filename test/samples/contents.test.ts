/** What schemas/trace.md promises of counters, correlation ids, clocks and descriptions, held to every recorded sample. */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { functionOf, viewTrace, type TraceView, type ViewCounter, type ViewSlice } from '../support/traces/trace_view.js';

const root = fileURLToPath(new URL('../../samples/', import.meta.url));
const samples = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const folder = folderOfFile();

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
  let view: TraceView;

  beforeAll(async () => {
    const output = path.join(folder, `${name}.pftrace`);
    await merge({ inputs: [path.join(root, name)], output, jobs: 1 });
    view = viewTrace(readFileSync(output), { emptySlices: 'fine' });
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

it('hosts: each clock with its bounds, and where a wall clock was set', async () => {
  const output = path.join(folder, 'hosts-clocks.pftrace');
  await merge({ inputs: [path.join(root, 'hosts')], output, jobs: 1 });
  const { slices } = viewTrace(readFileSync(output), { emptySlices: 'fine' });
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
