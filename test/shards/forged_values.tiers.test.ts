/** Numbers in a .scan and a .study that no check can see: they are refused with a sentence or change the result, and nothing takes long. */

import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeScan } from '../../src/shards/scan_step.js';
import { SectionFile, SectionWriter } from '../../src/shards/sections.js';
import type { ScanHead, StoredScan, StudyHead } from '../../src/shards/stored.js';
import { examineStudy } from '../../src/shards/study_file.js';
import { makeStudy } from '../../src/shards/study_step.js';
import { forgeValue } from '../support/forged/forged_value.js';
import { randomOf } from '../support/forged/forged_values.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import { inTier } from '../support/tiers/tier.js';

const samples = fileURLToPath(new URL('../../samples', import.meta.url));
const { folder, remove } = temporaryFolder();
afterAll(remove);
const ROUNDS = Number(process.env.ROUNDS ?? inTier({ first: 10, ci: 30, long: 3000 }));
const MOST_MS = 2000;

interface Stored {
  readonly head: ScanHead;
  readonly files: readonly StoredScan[];
  readonly steps: readonly Uint8Array[];
}
const stored: Stored[] = [];
let head: StudyHead;
const ofStudy: StoredScan[] = [];

beforeAll(async () => {
  for (const sample of ['hosts', 'hang', 'straggler']) {
    const output = path.join(folder, `${sample}.scan`);
    await makeScan({ inputs: [path.join(samples, sample)], output, jobs: 1 });
    const file = new SectionFile(output, 'scan');
    stored.push({
      head: file.value('head', 0, 'ScanHead'),
      files: Array.from({ length: file.count('file') }, (_, i) => file.value('file', i, 'StoredScan')),
      steps: Array.from({ length: file.count('step') }, (_, i) => file.bytes('step', i)),
    });
    file.close();
  }
  const output = path.join(folder, 'run.study');
  await makeStudy({ inputs: [path.join(folder, 'hosts.scan')], output });
  const file = new SectionFile(output, 'study');
  head = file.value('head', 0, 'StudyHead');
  for (let i = 0; i < file.count('file'); i++) ofStudy.push(file.value('file', i, 'StoredScan'));
  file.close();
});

/** Of a field that knows few numbers, no other can be written. */
function writeAny(writer: SectionWriter, forged: StoredScan, original: StoredScan): void {
  try {
    writer.value('file', 'StoredScan', forged);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    writer.value('file', 'StoredScan', original);
  }
}

/** What it ends with that is no sentence for users; null: nothing. */
async function fault(work: () => unknown): Promise<string | null> {
  const before = process.cpuUsage();
  try {
    await work();
  } catch (error) {
    const { name, stack } = error as Error;
    if (name !== 'NoUsableInput' && name !== 'UsageError')
      return String(stack).split('\n').slice(0, 5).join('\n');
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e3 > MOST_MS ? `${((user + system) / 1e3).toFixed(0)} ms` : null;
}

it('forged numbers in a .scan', async () => {
  const faults: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const random = randomOf(round);
    const { head: start, files, steps } = stored[round % stored.length]!;
    const own = mkdtempSync(path.join(folder, 'forged-'));
    const input = path.join(own, 'forged.scan');
    const writer = new SectionWriter(input, 'scan');
    writer.value('head', 'ScanHead', start);
    const which = random(files.length);
    let changed = '';
    let section = 0;
    files.forEach((file, i) => {
      const copy = structuredClone(file);
      if (i === which) changed = forgeValue(copy, random);
      writeAny(writer, copy, file);
      for (let step = 0; step < file.stepSections; step++) writer.bytes('step', steps[section++]!);
    });
    writer.close();
    const found = await fault(() =>
      makeStudy({ inputs: [input], output: path.join(own, 'run.study'), allowMissing: true }),
    );
    if (found !== null) faults.push(`${round} ${changed}\n${found}`);
    rmSync(own, { recursive: true });
  }
  expect(faults).toEqual([]);
}, 3_000_000);

it('forged numbers in a .study', async () => {
  const faults: string[] = [];
  const input = path.join(folder, 'forged.study');
  for (let round = 0; round < ROUNDS; round++) {
    const random = randomOf(round + 1e6);
    rmSync(input, { force: true });
    const writer = new SectionWriter(input, 'study');
    const which = random(ofStudy.length + 1) - 1;
    const own = structuredClone(head);
    let changed = which < 0 ? forgeValue(own, random) : '';
    try {
      writer.value('head', 'StudyHead', own);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      writer.value('head', 'StudyHead', head);
    }
    ofStudy.forEach((file, i) => {
      const copy = structuredClone(file);
      if (i === which) changed = forgeValue(copy, random);
      writeAny(writer, copy, file);
    });
    writer.close();
    const found = await fault(() => examineStudy(input));
    if (found !== null) faults.push(`${round} ${changed}\n${found}`);
  }
  expect(faults).toEqual([]);
}, 3_000_000);
