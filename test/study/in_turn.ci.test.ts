/** One thread writes what it finds into shared files, several write files of their own. Nobody can tell from the trace. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

import { PROGRAM } from '../support/program/program.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const HOSTS = path.join(import.meta.dirname, '../../samples/hosts');
const folder = folderOfFile();

it.each(['pftrace', 'pftrace.zst'])('ranks on several hosts, one thread or two: the same .%s', (ending) => {
  const [one, two] = [1, 2].map((jobs) => {
    const output = path.join(folder, `${jobs}.${ending}`);
    const args = [PROGRAM, 'merge', HOSTS, '-o', output, '--jobs', String(jobs)];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    // The clocks are aligned by the steps in the side files.
    expect(stderr).toMatch(/transfers/);
    return readFileSync(output);
  });
  expect(one!.equals(two!)).toBe(true);
});
