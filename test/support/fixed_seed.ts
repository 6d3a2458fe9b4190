/** Property tests try the same cases in every run, so a failure is caused by a change. `npm run test:long` tries new cases. */

import fc from 'fast-check';

if (process.env.NCCL_TRACE_LONG !== '1') fc.configureGlobal({ seed: 20_261_121 });
