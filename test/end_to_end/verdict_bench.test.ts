/**
 * Faults on purpose, and whom the verdict names: a part of `npm run bench:verdict` here, small and always the same; NCCL_TRACE_LONG=1
 * plays what the bench plays, drawn anew. A verdict may be too wide, or say that it does not know; an alarm on a healthy run, or a wrong name in more
 * than one run of a hundred, it may not.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { casesOf } from '../../bench/verdict/plan.js';
import type { Played } from '../../bench/verdict/play.js';
import { playAll } from '../../bench/verdict/pool.js';
import { missLines, tableOf } from '../../bench/verdict/table.js';
import type { Case } from '../../bench/verdict/case.js';

const LONG = process.env.NCCL_TRACE_LONG === '1';
const JOBS = LONG ? 2 : 4;
const SEED = LONG ? Date.now() % 1e6 : 1;
const folder = mkdtempSync(join(tmpdir(), 'nccl-trace-verdict-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const told = (played: readonly Played[]): string =>
  [...tableOf(played), ...missLines(played, (name) => `seed ${SEED}: ${name}`)].join('\n');
const countOf = (played: readonly Played[], ...outcomes: string[]): number =>
  played.filter(({ outcome }) => outcomes.includes(outcome)).length;

/** What a person meets most, each once; the long form plays all classes ten times. */
const FAULTS = [
  'never calls',
  'other count',
  'killed in a collective',
  'stopped in a collective',
  'node dies in a collective',
  'stuck receive',
  'stuck wire',
  'straggler on the host',
];
const CALM = ['any job', 'training loop', 'pipeline', '2 ranks', 'idle between steps'];

/** Here the first of each class that is small and looked at soon. */
function chosen(sort: 'faulty' | 'healthy', names: readonly string[]): Case[] {
  if (LONG) return casesOf({ seed: SEED, runs: 10, only: sort });
  return names.map((name) => {
    const small = casesOf({ seed: SEED, runs: 20, only: name }).find(
      ({ className, words, look }) =>
        className === name && Number(/--ranks (\d+)/.exec(words)?.[1]) <= 5 && look.after <= 4000,
    );
    if (small === undefined) throw new Error(`no run of '${name}' is small`);
    return small;
  });
}

it(
  'names the rank whose fault it is',
  async () => {
    const played = await playAll(chosen('faulty', FAULTS), { folder, jobs: JOBS });
    expect(played.length).toBeGreaterThanOrEqual(FAULTS.length);
    const right = countOf(played, 'right', 'too wide') / played.length;
    expect(right, told(played)).toBeGreaterThanOrEqual(LONG ? 0.95 : 0.75);
    expect(countOf(played, 'wrong') / played.length, told(played)).toBeLessThanOrEqual(0.01);
  },
  LONG ? 7_200_000 : 120_000,
);

it(
  'raises no alarm where nothing is wrong',
  async () => {
    const played = await playAll(chosen('healthy', CALM), { folder, jobs: JOBS });
    expect(played.length).toBeGreaterThanOrEqual(CALM.length);
    // Beside other tests a rank may really be slow, and its own account does not know what its GPU thread waited for.
    const alarms = played.filter(
      ({ outcome, naming }) => outcome === 'alarm' && (LONG || naming.kind !== 'slow'),
    );
    expect(alarms.length, told(played)).toBe(0);
  },
  LONG ? 7_200_000 : 120_000,
);
