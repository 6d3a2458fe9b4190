/** Files with more transfers than a scan keeps: steps give the bytes of `merge`. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { traceTexts } from '../../src/report/headline.js';

import { writeManyFiles } from '../../bench/merge/many_files.js';
import { mergeInSteps } from '../support/traces/sharded.js';
import { seeded } from '../support/clocks/simulated_links.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();

// As in test/scan/step_sample.test.ts: two files of a job in which a scan keeps the smallest share.
const files = writeManyFiles(folder, 1024, 4200, { only: [7, 8] });

it('two hosts with more transfers than a scan keeps give the same trace in steps', async () => {
  const select = { last: 20e6 };
  const output = join(folder, 'merged.pftrace');
  await merge({ inputs: files, output, select, texts: traceTexts, jobs: 1 });
  const joined = await mergeInSteps(files, folder, seeded(5), { select });
  expect(readFileSync(joined).equals(readFileSync(output))).toBe(true);
});
