/** Two runs of each class of `npm run bench:verdict`, with a new seed each time. More of them are the benchmark's: ten take two hours. */

import { casesOf } from '../../bench/verdict/plan.js';
import { expectVerdicts } from './played_faults.js';

const seed = Date.now() % 1e6;

expectVerdicts({
  seed,
  faulty: casesOf({ seed, runs: 2, only: 'faulty' }),
  healthy: casesOf({ seed, runs: 2, only: 'healthy' }),
  jobs: 2,
  right: 0.95,
  wrong: 0.01,
  maySeemSlow: false,
});
