/** A file that may still be written is copied before it is read twice. */

import { copyFileSync, mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freeze, mayBeWritten, openRankFile } from '../../src/rankfile/index.js';
import { madeUpRank, SMALL_RUN } from '../support/made_up/made_up_run.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

let folder: string;
let remove: () => void;
beforeEach(() => ({ folder, remove } = temporaryFolder()));
afterEach(() => {
  remove();
});

function rankFile(life: 'recording' | 'closed'): string {
  const path = join(folder, 'rank00000.bin');
  madeUpRank(0, SMALL_RUN, { life }).write(path);
  return path;
}

it('a closed file is not copied, nor a file without a write for minutes', () => {
  expect(mayBeWritten(rankFile('recording'))).toBe(true);
  const path = rankFile('closed');
  expect(mayBeWritten(path)).toBe(false);
  madeUpRank(0, SMALL_RUN, { life: 'recording' }).write(path);
  utimesSync(path, new Date(), new Date(Date.now() - 120_000));
  expect(mayBeWritten(path)).toBe(false);
});

it('the copy reads like the file, and saved rings are copied with it', () => {
  const path = rankFile('recording');
  writeFileSync(`${path}.rings`, 'saved');
  const to = join(folder, 'copy.bin');
  freeze(path, to);
  expect(statSync(to).size).toBe(statSync(path).size);
  expect(statSync(`${to}.rings`).size).toBe(5);
  copyFileSync(path, join(folder, 'alone.bin'));
  const alone = join(folder, 'alone2.bin');
  freeze(join(folder, 'alone.bin'), alone);
  const [a, b] = [openRankFile(alone), openRankFile(join(folder, 'alone.bin'))];
  expect(a.rings).toEqual(b.rings);
});

it('names the file and what to do if the copy fails', () => {
  const path = rankFile('recording');
  mkdirSync(join(folder, 'taken'));
  expect(() => {
    freeze(path, join(folder, 'taken'));
  }).toThrow(/rank00000.bin: may still be written, and cannot be copied .* make room where the output goes/);
});
