/** Damaged files of other tools: each reader reads them or refuses them with its own error, and nothing else comes out. */

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { projectFile } from '../../src/base/project.js';
import { readKineto } from '../../src/foreign/beside/kineto.js';
import { isSqlite, processesOf, readNsys } from '../../src/foreign/beside/nsys.js';
import { Refusal } from '../../src/foreign/beside/refusal.js';
import { knownFile } from '../../src/foreign/known_files.js';
import { readRas, RasError } from '../../src/foreign/ras_answer.js';
import { merge } from '../../src/merge.js';
import type { MergeReport } from '../../src/report/report.js';
import { type Random, randomOf } from '../support/forged/forged_values.js';
import { collectivesOf, kinetoText } from '../support/made_up/kineto.js';
import { writeNsys } from '../support/made_up/nsys.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { viewTrace, type ViewSlice } from '../support/traces/trace_view.js';

const folder = folderOfFile();

const VALUES = [
  ...['-1', '0', '1e308', '-1e400', '18446744073709551616', '0.0000000001', 'null', 'true', '""', '[]', '{}'],
  ...['"X"', '"\\u0000"', '"ts"', '"\uFFFD"'],
];
const JUNK = ['[[[[', '}', ',', ':', '\\', '\0', '"'];

/** Up to four changes: a number or a text becomes another one, a piece goes, is doubled or moves. */
function damaged(text: string, random: Random): string {
  let made = text;
  for (let times = 1 + random(4); times > 0; times--) {
    const at = random(made.length);
    const length = 1 + random(random(2) === 0 ? 8 : 400);
    const piece = made.slice(at, at + length);
    const rest = made.slice(at + length);
    const value = /^[^]*?(?<value>-?\d[\d.]*|"[^"]*")/.exec(made.slice(at));
    if (random(8) > 0 && value) {
      const end = at + value[0].length;
      const word = VALUES[random(VALUES.length)]!;
      made = made.slice(0, end - value.groups!.value!.length) + word + made.slice(end);
    } else {
      const junk = ['', piece + piece, JUNK[random(JUNK.length)]!, rest.slice(0, 5)];
      made = made.slice(0, at) + junk[random(4)]! + rest;
    }
  }
  return made;
}

const TIMES = 200;
/** Of the files that can be read, so many are merged, too. */
const MERGES = 10;
const output = path.join(folder, 'run.pftrace');
const mergeWith = (...paths: string[]): Promise<MergeReport> =>
  merge({
    ...{ inputs: [projectFile('samples/wrapped')], output, force: true, jobs: 1 },
    with: paths.map((one) => ({ path: one, rank: null })),
  });
let works: ViewSlice[];
let kineto: string[];
beforeAll(async () => {
  await mergeWith();
  works = collectivesOf(viewTrace(readFileSync(output), { emptySlices: 'fine' }), 0);
  kineto = (['base', 'whole', 'decimals'] as const).map((dialect) =>
    kinetoText(works.slice(0, 6), { rank: 0, worldSize: 2, dialect }),
  );
});

it("traces of PyTorch's profiler", async () => {
  const file = path.join(folder, 'trace.json');
  const outcomes = { read: 0, refused: 0 };
  for (let seed = 0; seed < TIMES; seed++) {
    const random = randomOf(seed);
    writeFileSync(file, damaged(kineto[random(kineto.length)]!, random));
    try {
      const { events } = await readKineto(file, path.join(folder, 'side'));
      events.close();
      if (outcomes.read++ < MERGES) {
        const { foreign, trace } = await mergeWith(file);
        expect(foreign).toHaveLength(1);
        // The reader of the tests refuses slices that do not nest.
        expect(viewTrace(readFileSync(output), { emptySlices: 'fine' }).slices).toHaveLength(trace.slices);
      }
    } catch (error) {
      expect(error, `seed ${seed}`).toBeInstanceOf(Refusal);
      outcomes.refused++;
    }
  }
  expect(outcomes.read).toBeGreaterThan(TIMES / 10);
  expect(outcomes.refused).toBeGreaterThan(TIMES / 10);
});

/** Up to eight: a byte, a page that takes the place of another one, or the end of the file. */
function damagedBytes(bytes: Buffer, random: Random): Buffer {
  const made = Buffer.from(bytes);
  const pages = Math.floor(made.length / PAGE);
  for (let times = 1 + random(8); times > 0; times--) {
    const kind = random(10);
    if (kind === 0) return made.subarray(0, random(made.length));
    // Most of what a page begins with is how it is read.
    if (kind < 6) made[random(pages) * PAGE + random(64)] = random(256);
    else if (kind < 9) made[random(made.length)] = random(256);
    else made.copy(made, random(pages) * PAGE, random(pages) * PAGE, (random(pages) + 1) * PAGE);
  }
  return made;
}
const PAGE = 4096;

it('exports of Nsight Systems', async () => {
  const file = path.join(folder, 'export.sqlite');
  writeNsys(file, [{ pid: 27012, works }]);
  const whole = readFileSync(file);
  const outcomes = { read: 0, refused: 0 };
  for (let seed = 0; seed < TIMES / 2; seed++) {
    writeFileSync(file, damagedBytes(whole, randomOf(seed)));
    try {
      const [process = 0n] = isSqlite(file) ? processesOf(file, path.join(folder, 'link')) : [];
      const { events } = await readNsys(file, process, path.join(folder, 'side'));
      events.close();
      if (outcomes.read++ < MERGES / 2) {
        const { foreign, trace } = await mergeWith(file);
        expect(foreign.length).toBeGreaterThan(0);
        expect(viewTrace(readFileSync(output), { emptySlices: 'fine' }).slices).toHaveLength(trace.slices);
      }
    } catch (error) {
      expect(error, `seed ${seed}`).toBeInstanceOf(Refusal);
      outcomes.refused++;
    }
  }
  expect(outcomes.read).toBeGreaterThan(TIMES / 20);
  expect(outcomes.refused).toBeGreaterThan(TIMES / 20);
});

it("answers of NCCL's RAS, and what a file is said to be", () => {
  const answers = readdirSync(projectFile('test/fixtures/ras'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => readFileSync(projectFile(`test/fixtures/ras/${name}`), 'utf8'));
  const outcomes = { read: 0, refused: 0 };
  for (let seed = 0; seed < 5 * TIMES; seed++) {
    const random = randomOf(seed);
    const text = damaged(answers[random(answers.length)]!, random);
    expect(knownFile('answer.json', Buffer.from(text))?.what ?? '').not.toContain('$1');
    try {
      readRas(text);
      outcomes.read++;
    } catch (error) {
      expect(error, `seed ${seed}`).toBeInstanceOf(RasError);
      outcomes.refused++;
    }
  }
  expect(outcomes.read).toBeGreaterThan(TIMES / 10);
  expect(outcomes.refused).toBeGreaterThan(TIMES / 10);
});
