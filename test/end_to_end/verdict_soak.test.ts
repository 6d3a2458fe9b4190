/**
 * Drawn jobs: on healthy ones no alarm, whatever their shape; on faulty ones the verdict names the rank whose fault it is. A bounded
 * sample here; `NCCL_TRACE_LONG=1` draws new ones, many, and counts.
 */

import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { mergeNext } from '../../src/report/next_command.js';
import { verdictText } from '../../src/report/verdict_text.js';
import type { Diagnosis } from '../../src/report/diagnosis.js';
import { temporaryFolder } from '../support/made_up_run.js';
import { faultyJob, healthyJob, HANGS, type Job } from '../support/random_jobs.js';
import { seeded } from '../support/simulated_links.js';
import { judgeJob, namingOf } from '../support/soak_verdicts.js';

const LONG = process.env.NCCL_TRACE_LONG === '1';
const FIRST_SEED = LONG ? Date.now() % 1e6 : 7;
/** Of each fault. */
const ROUNDS = 6;

const { folder, remove } = temporaryFolder();
afterAll(remove);

const seeds = (count: number): number[] => Array.from({ length: count }, (_, i) => FIRST_SEED + i);
const words = (job: Job, diagnosis: Diagnosis): string =>
  [job.words, JSON.stringify(job.settings), ...verdictText(diagnosis, mergeNext(diagnosis, ['RUN']))].join(
    '\n',
  );

describe('no alarm', () => {
  it.each(seeds(LONG ? 60 : 4))(
    'on the healthy job of seed %i',
    async (seed) => {
      const job = healthyJob(seeded(seed * 7919));
      const { code, diagnosis, isTrulySlow } = await judgeJob(job, join(folder, `healthy${seed}`), seed);
      expect(code).toBe(0);
      const { kind } = diagnosis.verdict;
      const isAlarm = kind === 'hung' || kind === 'mismatch' || (kind === 'slow' && !isTrulySlow);
      expect(isAlarm ? words(job, diagnosis) : '').toBe('');
    },
    120_000,
  );
});

describe.concurrent('the one whose fault it is', () => {
  it.for(['skip', 'other', 'kill', 'lost file'] as const)('is named: %s', async (fault, { expect }) => {
    const seed = FIRST_SEED;
    const job = faultyJob(seeded(seed * 7919), fault);
    const without = fault === 'lost file' ? job.culprit : undefined;
    const { diagnosis } = await judgeJob(job, join(folder, fault), seed, without);
    expect(namingOf(job, diagnosis) === 'named' ? '' : words(job, diagnosis)).toBe('');
  });
});

it.skipIf(!LONG)(
  'is named in nine of ten, drawn by chance, and else it is not said that all is well',
  async () => {
    const missed: string[] = [];
    let jobs = 0;
    for (const fault of [...HANGS, 'slow'] as const)
      for (const seed of seeds(ROUNDS)) {
        const job = faultyJob(seeded(seed * 104_729), fault);
        const without = fault === 'lost file' ? job.culprit : undefined;
        const { diagnosis } = await judgeJob(job, join(folder, `${fault}${seed}`), seed, without);
        jobs++;
        const naming = namingOf(job, diagnosis);
        if (naming !== 'named')
          missed.push(`${naming}: ${job.fault} of ${job.culprit}: ${words(job, diagnosis)}`);
      }
    expect(missed.length, missed.join('\n\n')).toBeLessThanOrEqual(jobs / 10);
    expect(missed.filter((text) => text.startsWith('not seen'))).toEqual([]);
  },
  1_800_000,
);
