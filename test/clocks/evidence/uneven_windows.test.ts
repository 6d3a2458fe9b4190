/** The two files of a connection hold different parts of the run. Every pair of rows that both have is found. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { STEP_ROW } from '../../../src/scan/step_file.js';
import {
  joinTransfers,
  linksBetween,
  type StepSource,
} from '../../../src/clocks/evidence/joined_transfers.js';
import { seeded } from '../../support/clocks/simulated_links.js';
import { writeSteps } from '../../support/made_up/step_rows.js';
import { folderOfFile } from '../../support/program/temporary_folder.js';

const folder = folderOfFile();

/** Steps of an operation. */
const STEPS = 32;
let files = 0;

/** `steps`: numbered through the run, in the order of the file. */
const endOf = (isSend: boolean, steps: readonly number[]): StepSource =>
  writeSteps(
    join(folder, `steps-${files++}`),
    isSend,
    steps.map((step) => ({
      ordinal: Math.floor(step / STEPS),
      step: step % STEPS,
      bytes: 4096,
      check: 1 + Math.floor(step / STEPS),
      steps: STEPS,
      before: step,
      seen: step,
    })),
  );

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

/** Expects the pairs that both ends have, each once, and the rest counted as single. */
function expectAllPairs(sends: readonly number[], receives: readonly number[]): void {
  const sources = [endOf(true, sends), endOf(false, receives)];
  const found: number[] = [];
  let wrong = 0;
  const counts = joinTransfers(
    sources,
    linksBetween(sources, () => true),
    (_, send, receive) => {
      if (send[STEP_ROW.seen] !== receive[STEP_ROW.seen]) wrong++;
      found.push(send[STEP_ROW.seen]!);
    },
  );
  expect(wrong).toBe(0);
  const received = new Set(receives);
  const both = sends.filter((step) => received.has(step)).sort((a, b) => a - b);
  expect(found.sort((a, b) => a - b)).toEqual(both);
  expect(counts.pairs).toBe(both.length);
  expect(counts.single).toBe(sends.length + receives.length - 2 * both.length);
}

const ALL = range(0, 60_000);

describe('ends in files that hold different parts of the run', () => {
  it.each([
    ['one begins 5,000 steps later', ALL, range(5000, 60_000)],
    ['one ends 50,000 steps earlier', ALL, range(0, 10_000)],
    ['one holds a short part in the middle', range(30_000, 30_200), ALL],
    ['the windows overlap by their ends only', range(0, 40_000), range(39_000, 60_000)],
    ['one has a hole of 10,000 steps', [...range(0, 20_000), ...range(30_000, 60_000)], ALL],
    [
      'both have holes, at different times',
      [...range(0, 10_000), ...range(18_000, 60_000)],
      [...range(0, 30_000), ...range(45_000, 60_000)],
    ],
    ['they have no step in common', range(0, 20_000), range(20_000, 60_000)],
    ['one has no step at all', [], ALL],
  ])('are joined wherever both have a step: %s', (_, one, other) => {
    expectAllPairs(one, other);
    expectAllPairs(other, one);
  });

  it('are joined if both lost whole chunks at random', () => {
    const random = seeded(3);
    const withoutChunks = (): number[] =>
      range(0, 60).flatMap((chunk) => (random() < 0.4 ? [] : range(chunk * 1000, chunk * 1000 + 1000)));
    for (let draw = 0; draw < 5; draw++) expectAllPairs(withoutChunks(), withoutChunks());
  });

  it('are joined if the recorder of one got hardly any CPU time', () => {
    const random = seeded(4);
    expectAllPairs(
      ALL,
      range(0, 6000).flatMap((few) => (random() < 0.1 ? range(few * 10, few * 10 + 3) : [])),
    );
  });

  it('are joined if the rows of two concurrent operations alternate', () => {
    // At one end the steps of two operations alternate. At the other end one operation follows the other.
    const inTurns = range(0, 30_000).map(
      (i) => Math.floor(i / 64) * 64 + (i % 2) * STEPS + Math.floor((i % 64) / 2),
    );
    expectAllPairs(inTurns, range(7000, 60_000));
    expectAllPairs(range(0, 20_000), inTurns.slice(9000));
  });
});

it('a first look finds its pairs in the common part, and stops when it has them', () => {
  const sources = [endOf(true, ALL), endOf(false, range(50_000, 60_000))];
  let seen = 0;
  const counts = joinTransfers(
    sources,
    linksBetween(sources, () => true),
    () => seen++,
    256,
  );
  expect(counts.pairs).toBeGreaterThanOrEqual(256);
  expect(counts.pairs).toBeLessThan(600);
  expect(seen).toBe(counts.pairs);
});
