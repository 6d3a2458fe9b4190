/** All runs of `npm run bench:verdict`, with a new seed each time. */

import { casesOf } from '../../bench/verdict/plan.js';
import { expectVerdicts } from './played_faults.js';

const seed = Date.now() % 1e6;

expectVerdicts({
  seed,
  faulty: casesOf({ seed, runs: 10, only: 'faulty' }),
  healthy: casesOf({ seed, runs: 10, only: 'healthy' }),
  jobs: 2,
  bound: Infinity,
  timeout: 7_200_000,
  atLeast: { faulty: 500, healthy: 500 },
  right: 0.95,
  wrong: 0.01,
  maySeemSlow: false,
});
