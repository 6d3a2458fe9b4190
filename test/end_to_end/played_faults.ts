/**
 * Faults on purpose, and the rank that the verdict names: runs of `npm run bench:verdict`. A verdict may be too wide or not known. It may
 * neither raise an alarm on a healthy run nor name a wrong rank in more than a few runs.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Case } from '../../bench/verdict/case.js';
import { HUNG_AFTER, type Played } from '../../bench/verdict/play.js';
import { playAll } from '../../bench/verdict/pool.js';
import { missLines, tableOf } from '../../bench/verdict/table.js';
import { NoUsableInput } from '../../src/base/errors.js';
import { diagnose } from '../../src/report/diagnosis.js';

export interface PlayedFaults {
  readonly seed: number;
  readonly faulty: readonly Case[];
  readonly healthy: readonly Case[];
  /** Runs at a time. They mostly sleep. */
  readonly jobs: number;
  /** Part of the faulty runs whose rank is named, alone or among others; and part where another one is. */
  readonly right: number;
  readonly wrong: number;
  /** Beside other tests a rank may really be slow, and its own account does not know what its proxy thread waited for. */
  readonly maySeemSlow: boolean;
}

/** In this process: a start of the program costs more than the verdict on a small run. */
async function look(where: string): Promise<unknown> {
  try {
    return JSON.parse(JSON.stringify(await diagnose([where], { hungAfter: HUNG_AFTER, jobs: 1 })));
  } catch (error) {
    if (error instanceof NoUsableInput) return null;
    throw error;
  }
}

export function expectVerdicts(options: PlayedFaults): void {
  const { seed, faulty, healthy, jobs, right, wrong, maySeemSlow } = options;
  const folder = mkdtempSync(join(tmpdir(), 'nccl-trace-verdict-'));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const play = (cases: readonly Case[]): Promise<Played[]> => playAll(cases, { folder, jobs, look });
  const tableText = (played: readonly Played[]): string =>
    [...tableOf(played), ...missLines(played, (name) => `seed ${seed}: ${name}`)].join('\n');
  const countOf = (played: readonly Played[], ...outcomes: string[]): number =>
    played.filter(({ outcome }) => outcomes.includes(outcome)).length;

  it('names the rank whose fault it is', async () => {
    const played = await play(faulty);
    expect(played).toHaveLength(faulty.length);
    const named = countOf(played, 'right', 'too wide') / played.length;
    expect(named, tableText(played)).toBeGreaterThanOrEqual(right);
    expect(countOf(played, 'wrong') / played.length, tableText(played)).toBeLessThanOrEqual(wrong);
  });

  it('raises no alarm where nothing is wrong', async () => {
    const played = await play(healthy);
    expect(played).toHaveLength(healthy.length);
    const alarms = played.filter(
      ({ outcome, naming }) => outcome === 'alarm' && !(maySeemSlow && naming.kind === 'slow'),
    );
    expect(alarms.length, tableText(played)).toBe(0);
  });
}
