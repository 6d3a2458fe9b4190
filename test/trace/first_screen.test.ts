/**
 * The first screen, as scripts/first_screen.mjs reads it from the packets and the startup commands: what a person sees before the first
 * click, and that all of it fits.
 */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { HEADLINE_CHARACTERS } from '../../src/trace/above_ranks.js';
import { TITLE_CHARACTERS } from '../../src/trace/titles.js';
import { merge } from '../../src/merge.js';
import { traceTexts } from '../../src/report/headline.js';
import { unpackRecording } from '../support/jobs/packed_recording.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';
import { partsOf, ROW_CHARACTERS, screenOf } from './first_screen.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = folderOfFile();

/** How many pinned rows the UI shows without scrolling. */
const ROWS = 6;

const screens = new Map<string, string>();
const SAMPLES = ['hang', 'straggler', 'mismatch', 'slow-link', 'healthy'];
beforeAll(async () => {
  for (const sample of SAMPLES) screens.set(sample, await screenOf(folder, sample));
});

const parts = (sample: string) => partsOf(screens.get(sample)!);

it('hang: says so on top, names the silent and the missing rank, and flags the moment', () => {
  const { head, pins, slices, groups } = parts('hang');
  expect(head).toMatch(/^flag at [\d.]+ ms: 19:02:00\.\d{3} HUNG\ntab Report$/m);
  expect(pins).toEqual([
    'verdict',
    'world (4 ranks)',
    'rank 3 · ch01 send to 0',
    'rank 3 · no sign of life',
    'rank 0 · ch01 recv from 3',
    'rank 1 · no file',
  ]);
  expect(slices[0]).toContain(
    'HUNG: AllReduce seq 2 on world (4 ranks): rank 3 fell silent. Seen at rank 0 ch 1 recv from 3',
  );
  expect(groups).toEqual([
    '> Cluster: HUNG, rank 3 silent',
    'v rank 0003 · vm · gpu3 · SILENT',
    'v rank 0000 · vm · gpu0 · STUCK',
    '> rank 0001 · NO FILE',
    '> rank 0002 · vm · gpu2',
  ]);
});

it('straggler: the headline with the longest waits below it, and the late rank right below', () => {
  const { head, pins, slices, groups } = parts('straggler');
  expect(head).toMatch(/^flag at [\d.]+ ms: \d\d:\d\d:\d\d\.\d{3} SLOW$/m);
  expect(slices[0]).toMatch(/^SLOW: rank 2 .* calls last in 13 of 13 collectives/);
  const rows = viewTrace(readFileSync(path.join(folder, 'straggler.pftrace'))).slices.filter(
    ({ track, isInstant }) => track.name === 'verdict' && !isInstant,
  );
  const waits = rows.slice(1);
  expect(waits.map(({ name }) => name)).toContain('20.3 ms for rank 2, AllReduce seq 2');
  for (const wait of waits) expect(wait.name).toMatch(/^[\d.]+ ms for rank 2, AllReduce seq \d+$/);
  // Half of the collectives overlap the one before, and lie on a lane of their own.
  expect(pins).toEqual(['verdict', 'world (4 ranks)', 'world (4 ranks) ·2', 'rank 2 · collectives']);
  expect(groups.slice(0, 2)).toEqual(['> Cluster: SLOW, rank 2 late', 'v rank 0002 · vm · gpu2 · LATE']);
  expect(groups).toHaveLength(5);
});

it('mismatch: the other call of the rank that never came, beside the calls of the others', () => {
  const { pins, slices, groups } = parts('mismatch');
  expect(slices[0]).toMatch(/HUNG: AllReduce seq 2 on world \(3 ranks\): rank 1 called ReduceScatter/);
  expect(pins).toContain('rank 1 · collectives');
  expect(slices[pins.indexOf('rank 1 · collectives')]).toContain('ReduceScatter');
  expect(groups.slice(0, 2)).toEqual([
    '> Cluster: HUNG, rank 1 other call',
    'v rank 0001 · gpu1 · OTHER CALL',
  ]);
});

it('slow link: both ends of the slow connection, and its flag-free view of the whole run', () => {
  const { head, pins, slices } = parts('slow-link');
  expect(head).toMatch(/^view 0\.0 to [\d.]+ ms\ntab Report$/m);
  expect(pins).toContain('rank 1 · ch00 send to 2');
  expect(pins).toContain('rank 2 · ch00 recv from 1');
  expect(slices[0]).toMatch(/^SLOW: rank 1 .* its sends to rank 2 take \d+ times/);
});

it('one kind of verdict has one colour in all traces: that of its correlation id', () => {
  const colourOf = (sample: string): unknown =>
    viewTrace(readFileSync(path.join(folder, `${sample}.pftrace`))).slices.find(
      ({ track, isInstant }) => track.name === 'verdict' && !isInstant,
    )!.correlation;
  const [hang, straggler, mismatch, link, healthy] = SAMPLES.map(colourOf);
  expect(hang).toBeDefined();
  expect([mismatch, link]).toEqual([hang, straggler]);
  expect(new Set([hang, straggler, healthy]).size).toBe(3);
});

it('healthy: one row that says so, the whole run in view, the ranks in order', () => {
  const { head, pins, slices, groups } = parts('healthy');
  expect(head).toMatch(/^view 0\.0 to 103\.5 ms\ntab Report$/m);
  expect(pins).toEqual(['verdict']);
  expect(slices).toEqual(['HEALTHY: everything that began also ended']);
  expect(groups).toEqual([
    '> Cluster: HEALTHY',
    '> rank 0000 · vm · gpu0 and 7 more, to rank 0007 · vm · gpu7',
  ]);
});

describe.each(SAMPLES)('%s: everything has room', (sample) => {
  it('rows with names that say which rank they belong to', () => {
    const { pins } = parts(sample);
    expect(pins[0]).toBe('verdict');
    expect(pins.length).toBeLessThanOrEqual(ROWS);
    for (const name of pins.slice(1)) {
      expect(name).toMatch(/^rank \d+ · |\(\d+ ranks\)/);
      expect(name.length).toBeLessThan(ROW_CHARACTERS);
    }
  });

  it('titles, and the headline', () => {
    const { groups, slices } = parts(sample);
    for (const title of groups.map((line) => line.split(' and ')[0]!))
      expect(title.slice(2).length).toBeLessThanOrEqual(TITLE_CHARACTERS);
    for (const headline of slices[0]!.split(' | '))
      expect(headline.length).toBeLessThanOrEqual(HEADLINE_CHARACTERS);
  });
});

it('lists all that was found in the arguments of the verdict, the headline first', async () => {
  const output = path.join(folder, 'second-hang.pftrace');
  await merge({ inputs: [unpackRecording('cases/second-hang', folder)], output, jobs: 1, texts: traceTexts });
  const rows = viewTrace(readFileSync(output)).slices.filter(({ track }) => track.name === 'verdict');
  const found = Object.entries(rows.at(-1)!.args).filter(([name]) => name.includes('finding'));
  expect(found.map(([, text]) => text)).toEqual([
    expect.stringMatching(
      /^HUNG: AllReduce seq 10 on shrunk, rank 3 never entered it, 2 to 3 ch 0 step 0, since .*, cost 31\.5 s$/,
    ),
    expect.stringMatching(
      /^GIVEN UP: AllReduce seq 6 on world, rank 1 fell silent, .*, goes on with shrunk$/,
    ),
  ]);
});

describe('a trace that a browser has no room for says so on its first row', () => {
  const reduced = async (sample: string, slices: number) => {
    const output = path.join(folder, `${sample}-reduced.pftrace`);
    const budget = { slices, tracks: 1000, bytes: 1e9 };
    const input = path.join(root, 'samples', sample);
    const report = await merge({ inputs: [input], output, jobs: 1, budget, texts: traceTexts });
    expect(report.selection.isReduced).toBe(true);
    const row = viewTrace(readFileSync(output)).slices.filter(({ track }) => track.name === 'verdict');
    return row.map(({ name, dur, args }) => ({ name, dur, lines: Object.values(args).map(String) }));
  };

  it('before the moment of a hang', async () => {
    const [first, second] = await reduced('torch-hang', 7000);
    expect(first!.name).toMatch(/^Not drawn: (operations before [\d.]+ m?s, )?steps before [\d.]+ m?s$/);
    expect(first!.dur).toBeGreaterThan(0n);
    expect(second!.name).toMatch(/^HUNG: /);
    expect(first!.lines).toEqual([]);
    for (const { lines } of [second!]) {
      expect(
        lines.some((line) =>
          /^ {2}not drawn: +(operations before [\d.]+ m?s, )?steps before [\d.]+ m?s$/.test(line),
        ),
      ).toBe(true);
      expect(lines.some((line) => /^ {2}all of it: +nccl-trace merge .* --detail step/.test(line))).toBe(
        true,
      );
    }
  });

  it('in the headline of a run without a moment', async () => {
    const [only, ...others] = await reduced('torch-healthy', 20000);
    expect(others).toEqual([]);
    expect(only!.name).toMatch(
      /^HEALTHY: everything that began also ended\. Not drawn: operations before [\d.]+ m?s, steps before [\d.]+ m?s$/,
    );
  });
});
