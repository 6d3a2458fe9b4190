/**
 * Every command that opens rank files, on runs of which one file has forged sizes, offsets, process ids, times and checks that hold: each ends, by an
 * exit code of its own, within a gigabyte and a minute, and removes nothing.
 */

import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { projectFile } from '../../src/base/project.js';
import { forger, randomOf } from '../support/forged/forged_values.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { commandsOn, EVERY_COMMAND } from './commands.js';
import { recordedAt, samplesIn } from './run_with.js';

const folder = folderOfFile();

const samples = samplesIn(projectFile('samples'));
/** What decides where a reader looks, how much it takes, and whose process it asks. */
const GEOMETRY =
  /^(area|chunk)\.|^header\.(areaCount|directoryOffset|chunks|pid|process|tick|start|rank|world|life|placement|snapshot|copied)/;

it.each([0, 1])('forged geometry, seed %i', (seed) => {
  const random = randomOf(40_000 + seed);
  // Every other one with blocks that were copied out of rings.
  const sample =
    seed % 2 === 0 ? samples.find(({ name }) => name === 'stream-killed')! : samples[random(samples.length)]!;
  const own = path.join(folder, String(seed));
  mkdirSync(own);
  const which = random(sample.files.length);
  sample.files.forEach((file, i) => {
    if (i !== which) copyFileSync(file, path.join(own, path.basename(file)));
  });
  const { bytes, changes } = forger(recordedAt(sample, which), { fields: GEOMETRY })!(random);
  writeFileSync(path.join(own, path.basename(sample.files[which]!)), bytes);
  const before = sample.files.map((file) => path.basename(file));
  const faults = commandsOn(own, EVERY_COMMAND).flatMap(({ faults }, i) =>
    faults.map((fault) => `${sample.name}/${which}: ${changes.join(', ')}: ${EVERY_COMMAND[i]}: ${fault}`),
  );
  expect(faults).toEqual([]);
  expect(readdirSync(own)).toEqual(expect.arrayContaining(before));
});
