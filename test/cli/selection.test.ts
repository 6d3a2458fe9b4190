/** The options that select a part, as a person types them. */

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MergeReport } from '../../src/report/report.js';
import { runHere } from '../support/program/command_line.js';
import { writeRun } from '../support/made_up/made_up_run.js';
import { runProgram, type ProgramResult } from '../support/program/program.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

const { folder, remove } = temporaryFolder();
beforeAll(() => {
  mkdirSync(join(folder, 'run'));
  writeRun(join(folder, 'run'));
});
afterAll(remove);

const run = (...args: string[]): Promise<ProgramResult> => runProgram(folder, 'merge', 'run', ...args);

it('draws a part, says which, and writes the same bytes with any number of workers', async () => {
  const args = ['--ranks', '1-2,9', '--comm', 'world', '--from', '100us', '--to', '0.0003'];
  const [one, many] = await Promise.all([
    run(...args, '-o', 'one.pftrace', '-j', '1', '--summary', 'one.json'),
    run(...args, '-o', 'many.pftrace', '-j', '4'),
  ]);
  expect([one.code, many.code]).toEqual([0, 0]);
  expect(one.err).toContain(
    'selected: ranks 1-2,9; communicator world; from 0.0001s; to 0.0003s; left out: 2 ranks, ',
  );
  expect(one.err).toContain('\nno file here: rank 9\n');
  expect(readFileSync(join(folder, 'one.pftrace')).equals(readFileSync(join(folder, 'many.pftrace')))).toBe(
    true,
  );
  const { selection, ranks } = JSON.parse(readFileSync(join(folder, 'one.json'), 'utf8')) as MergeReport;
  expect(selection).toMatchObject({
    asked: 'ranks 1-2,9; communicator world; from 0.0001s; to 0.0003s',
    isWhole: false,
    isReduced: false,
    absentRanks: [[9, 9]],
    leftOut: { files: 2 },
    rest: null,
  });
  expect(ranks).toHaveLength(4);
  const window = [100_000, 300_000];
  expect(selection.drawn).toEqual([{ files: [1, 2], windows: { coll: window, op: window, step: window } }]);
});

describe('an impossible selection is a usage error, and nothing is written', () => {
  it.each([
    [
      ['--comm', 'wrld'],
      'nccl-trace: --comm wrld: there is no such communicator; there are world, 0x000000abcdef0123\n',
    ],
    [['--last', '1s', '--around', '1s'], '--around and --last exclude each other'],
    [['--last', 'soon'], 'give a duration, as in 60s, 1.5m or 500ms;'],
    [['--detail', 'all'], '--detail all: must be one of coll, op, step;'],
  ])('%j', async (args, sentence) => {
    const { code, out, err } = await runHere(folder, 'merge', 'run', ...args, '-o', '-');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(sentence);
  });
});

it('help has an example of each', async () => {
  const { out } = await runHere(folder, 'merge', '--help', '--all');
  for (const option of ['--ranks', '--comm', '--last', '--around', '--from', '--to', '--detail'])
    expect(out).toMatch(new RegExp(`\\$ nccl-trace merge .*${option}`));
});
