/**
 * Faults on purpose, and the rank that the verdict names: one small run of each class of `npm run bench:verdict`, always the same one.
 * NCCL_TRACE_LONG=1 plays all runs of the bench, with a new seed. A verdict may be too wide or not known. It may neither raise an alarm on a
 * healthy run nor name a wrong rank in more than one run of a hundred.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Case } from '../../bench/verdict/case.js';
import { casesOf } from '../../bench/verdict/plan.js';
import { HUNG_AFTER, type Played } from '../../bench/verdict/play.js';
import { playAll } from '../../bench/verdict/pool.js';
import { missLines, tableOf } from '../../bench/verdict/table.js';
import { NoUsableInput } from '../../src/base/errors.js';
import { diagnose } from '../../src/report/diagnosis.js';

const LONG = process.env.NCCL_TRACE_LONG === '1';
/** They mostly sleep. */
const JOBS = LONG ? 2 : 10;
const SEED = LONG ? Date.now() % 1e6 : 1;
/** ms: no run begins later, however busy the machine is. */
const BOUND = LONG ? Infinity : 30_000;
const folder = mkdtempSync(join(tmpdir(), 'nccl-trace-verdict-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const tableText = (played: readonly Played[]): string =>
  [...tableOf(played), ...missLines(played, (name) => `seed ${SEED}: ${name}`)].join('\n');
const countOf = (played: readonly Played[], ...outcomes: string[]): number =>
  played.filter(({ outcome }) => outcomes.includes(outcome)).length;

/** The first run of each class that is small and read soon after its end. */
function chosen(sort: 'faulty' | 'healthy'): Case[] {
  if (LONG) return casesOf({ seed: SEED, runs: 10, only: sort });
  const byClass = new Map<string, Case>();
  for (const one of casesOf({ seed: SEED, runs: 40, only: sort }))
    if (isSmall(one) && !byClass.has(one.className)) byClass.set(one.className, soonOver(one));
  return [...byClass.values()];
}

function isSmall({ args, look, settings }: Case): boolean {
  const ranks = Number(/--ranks (\d+)/.exec(args)?.[1]);
  const isInMemory = settings.NCCL_TRACE_RING_DIR !== undefined && !args.includes('--node-memory');
  return ranks <= 4 && look.after <= 1000 && !look.isLive && look.how !== 'snapshot' && !isInMemory;
}

/** A stall of 1 s is enough, and heartbeats come once a second. Rings in memory are copied every 2 s. */
const soonOver = (one: Case): Case => ({
  ...one,
  args: one.args.replace(/--hang-seconds 3\b/, '--hang-seconds 2.4'),
});

/** In this process: a start of the program costs more than the verdict on a small run. */
async function look(where: string): Promise<unknown> {
  try {
    return JSON.parse(JSON.stringify(await diagnose([where], { hungAfter: HUNG_AFTER, jobs: 1 })));
  } catch (error) {
    if (error instanceof NoUsableInput) return null;
    throw error;
  }
}

const play = (cases: readonly Case[]): Promise<Played[]> =>
  playAll(cases, { folder, jobs: JOBS, look, until: performance.now() + BOUND });

it(
  'names the rank whose fault it is',
  async () => {
    const played = await play(chosen('faulty'));
    expect(played.length).toBeGreaterThanOrEqual(LONG ? 500 : 25);
    const right = countOf(played, 'right', 'too wide') / played.length;
    expect(right, tableText(played)).toBeGreaterThanOrEqual(LONG ? 0.95 : 0.85);
    expect(countOf(played, 'wrong') / played.length, tableText(played)).toBeLessThanOrEqual(
      LONG ? 0.01 : 0.03,
    );
  },
  LONG ? 7_200_000 : 120_000,
);

it(
  'raises no alarm where nothing is wrong',
  async () => {
    const played = await play(chosen('healthy'));
    expect(played.length).toBeGreaterThanOrEqual(LONG ? 500 : 10);
    // Beside other tests a rank may really be slow, and its own account does not know what its proxy thread waited for.
    const alarms = played.filter(
      ({ outcome, naming }) => outcome === 'alarm' && (LONG || naming.kind !== 'slow'),
    );
    expect(alarms.length, tableText(played)).toBe(0);
  },
  LONG ? 7_200_000 : 120_000,
);
