/** The report's numbers against the trace of the same files, which another pass draws: what it shows summed up is what the tables say. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { examine } from '../../src/report/examine.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

const root = fileURLToPath(new URL('../../samples/', import.meta.url));
const folder = folderOfFile();

async function both(sample: string) {
  const input = path.join(root, sample);
  const output = path.join(folder, `${sample}.pftrace`);
  const examined = await examine([input], { jobs: 1, hungAfter: 1 });
  await merge({ inputs: [input], output, jobs: 1, hungAfter: 1, force: true });
  return { ...examined, view: viewTrace(readFileSync(output), { emptySlices: 'fine' }) };
}

const WAIT_NAMES = [
  ['gpu', 'GPU wait'],
  ['peer', 'peer wait'],
  ['send', 'send wait'],
  ['recv', 'recv wait'],
  ['flush', 'flush wait'],
] as const;

describe.each(['straggler', 'healthy', 'slow-gpu', 'hosts'])('%s', (sample) => {
  it('waits of each rank are the sums of its phases in the trace', async () => {
    const { report, view } = await both(sample);
    let compared = 0;
    for (const { rank, waits } of report.ranks) {
      const process = view.processes.find(({ name }) =>
        name.startsWith(`rank ${String(rank).padStart(4, '0')}`),
      )!;
      for (const [key, name] of WAIT_NAMES) {
        const drawn = view.slices
          .filter((slice) => slice.name === name && slice.dur >= 0n && slice.track.path[0] === process.name)
          .reduce((sum, { dur }) => sum + Number(dur), 0);
        expect(waits[key] / 1e6, `rank ${rank} ${name}`).toBeCloseTo(drawn / 1e6, 1);
        if (drawn > 0) compared++;
      }
    }
    expect(compared).toBeGreaterThan(report.ranks.length);
  });

  it('collectives are those of the cluster group, with their skew, bandwidth and late rank', async () => {
    const {
      numbers: { collectives },
      view,
    } = await both(sample);
    const drawn = view.slices.filter(({ args }) => args.busbwGBs !== undefined && args.seq !== undefined);
    expect(drawn.length).toBeGreaterThan(3);
    for (const { args, name } of drawn) {
      const row = collectives.find(
        (one) =>
          one.func === name &&
          one.seq === Number(args.seq) &&
          one.commId === args.commId &&
          one.replay === Number(args.replay ?? 0),
      )!;
      expect(row.outcome).toBe('complete');
      expect(row.busbwGBs).toBe(args.busbwGBs);
      expect(row.busbwFromFirstGBs).toBe(args.busbwFromFirstGBs);
      if (args.skewNs !== undefined) expect(row.skewNs).toBe(Math.round(Number(args.skewNs)));
      expect(row.lateRank).toBe(args.lateRank === undefined ? null : Number(args.lateRank));
    }
  });
});

it('straggler: the table of ranks blames the one that the verdict names', async () => {
  const { report } = await both('straggler');
  const cost = report.ranks.map(({ aloneNs }) => aloneNs / 1e6);
  expect(report.headline).toContain('rank 2');
  expect(cost[2]).toBeCloseTo(138.3, 0);
  expect(Math.max(cost[0]!, cost[1]!, cost[3]!)).toBeLessThan(1);
  expect(report.ranks.map(({ label }) => label)).toEqual([null, null, 'LATE', null]);
  const { lateRank, lateIn, named } = report.groups[0]!;
  expect([lateRank, lateIn, named]).toEqual([2, 7, 7]);
  // Its row is the worst one, in time as well.
  const { meanNs } = report.lateness;
  const worst = meanNs.map((bins) => Math.max(...bins.map((mean) => mean ?? 0)));
  expect(worst.indexOf(Math.max(...worst))).toBe(2);
});

it('hang: the report begins with who waits, for whom and since when', async () => {
  const { report } = await both('hang');
  const stillWaiting = report.waits.filter(({ openSinceNs }) => openSinceNs !== null);
  expect(stillWaiting.map(({ rank, forRank, waitsFor }) => [rank, forRank, waitsFor])).toEqual([
    [3, 2, 'data'],
    [0, 3, 'data'],
    [2, 1, 'data'],
  ]);
  expect(report.waits.slice(0, 3)).toEqual(stillWaiting);
  expect(report.picture.files.every(({ slices }) => slices.some(([, to]) => to === null))).toBe(true);
});

it.each([
  ['abi-v3', 'not reported'],
  ['abi-v4', 'reported'],
] as const)(
  '%s: the sizes of transfers are %s, and a size that is not known is not 0',
  async (sample, sizes) => {
    const { report } = await both(sample);
    const isKnown = [...report.links, ...report.pairs].map(({ transfers, bytes }) => [
      transfers > 0,
      bytes !== null && bytes > 0,
    ]);
    expect(isKnown.length).toBeGreaterThan(1);
    expect(new Set(isKnown.map(String))).toEqual(new Set([`true,${sizes === 'reported'}`]));
    const moved = report.ranks.flatMap(({ bytesSent, bytesReceived }) => [bytesSent, bytesReceived]);
    expect(moved.every((bytes) => (sizes === 'reported' ? bytes! > 0 : bytes === null))).toBe(true);
  },
);
