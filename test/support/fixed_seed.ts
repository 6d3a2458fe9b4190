/** Property tests try the same cases in every run, so that a failure is the change's. `npm run test:long` tries new ones. */

import fc from 'fast-check';

if (process.env.NCCL_TRACE_LONG !== '1') fc.configureGlobal({ seed: 20_261_121 });
