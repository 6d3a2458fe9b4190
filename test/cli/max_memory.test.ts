/** `--max-memory`: what the records of one file may take. A file that needs more is left out with a sentence, and the others are read. */

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { writePackedStarts } from '../support/forged/packed_starts.js';
import { runHere } from '../support/program/command_line.js';
import { runProgram } from '../support/program/program.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();

/** Rank 0 has fifty times the records of rank 1. */
beforeAll(() => {
  mkdirSync(path.join(folder, 'run'));
  [1, 0.02].forEach((chunks, rank) => {
    const file = path.join(folder, 'run', `rank0000${rank}.bin`);
    writePackedStarts(file, 'collectives', { chunks, rank, bytes: 1e5 });
  });
});

const said = (err: string): string[] => err.split('\n').filter((line) => line.includes('more than'));

it('without it, the size of a file allows enough', async () => {
  expect(said((await runHere(folder, 'inspect', 'run')).err)).toEqual([]);
});

it.each([
  ['inspect', 'run'],
  ['ranks', 'run'],
  ['clocks', 'run'],
  ['diff', 'run', 'run'],
  ['scan', 'run'],
])('%s', async (...command) => {
  const { err } = await runHere(folder, ...command, '--max-memory', '4M');
  expect([...new Set(said(err))]).toEqual([
    expect.stringMatching(
      /run\/rank00000\.bin: its records need more than the 4194304 bytes of memory that --max-memory allows; allow more, or/,
    ),
  ]);
});

it('threads keep to it, too', async () => {
  const { err } = await runProgram(folder, 'merge', 'run', '-q', '--jobs', '2', '--max-memory', '4m');
  expect(said(err)).toEqual([
    expect.stringContaining('rank00000.bin: its records need more than the 4194304 bytes'),
  ]);
});

it('is of one command: the next one has the limit of the file again', async () => {
  await runHere(folder, 'inspect', 'run', '--max-memory', '4M');
  expect(said((await runHere(folder, 'inspect', 'run')).err)).toEqual([]);
});
