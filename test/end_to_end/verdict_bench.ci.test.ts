/** One small run of each class of `npm run bench:verdict`, always the same one. */

import type { Case } from '../../bench/verdict/case.js';
import { casesOf } from '../../bench/verdict/plan.js';
import { expectVerdicts } from './played_faults.js';

const SEED = 1;

/** The first run of each class that is small and read soon after its end. */
function chosen(sort: 'faulty' | 'healthy'): Case[] {
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

expectVerdicts({
  seed: SEED,
  faulty: chosen('faulty'),
  healthy: chosen('healthy'),
  jobs: 10,
  right: 0.85,
  wrong: 0.03,
  maySeemSlow: true,
});
