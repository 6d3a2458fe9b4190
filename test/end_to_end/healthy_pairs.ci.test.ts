/** `nccl-trace diff` on two pairs of recordings of one healthy job. */

import { expectNoDifference } from './healthy_pairs.js';

/** It waits most of its time, so that two recordings are alike on a busy machine too. */
const JOB = '--ranks 4 --channels 1 --iterations 60 --ops allreduce:64K,sleep:5ms --rate-limit 20';

expectNoDifference([JOB, JOB], 2);
