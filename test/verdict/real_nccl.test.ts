/**
 * Recordings made by NCCL 2.30.7's own host code, where only the GPU is a stand-in. What happened is known, so each has the verdict that a
 * person needs. test/fixtures/real/README.md describes them.
 */

import { describeVerdicts } from '../support/jobs/recorded_verdicts.js';

describeVerdicts('real', {
  lbreal: { kind: 'healthy', says: [/late: +rank 0 came last 1 of 2 times, it cost 0\.0 % \(36 us\)$/] },
  s2: {
    kind: 'healthy',
    says: [
      /late: +rank 2 came last 2 of 10 times, it cost 0\.5 % \(57\.8 ms\)$/,
      /not SLOW: equal ranks differ so much in most runs \(limit: 1 of 970\)$/,
    ],
  },
  graph: {
    kind: 'healthy',
    says: [/late: +rank 0 came last 1 of 13 times/, /not SLOW: equal ranks differ so much/],
  },
  split: {
    kind: 'healthy',
    says: [/late: +rank 2 came last 1 of 2 times/, /not SLOW: too few were compared \(2, needed 4\)$/],
  },
  reload: { kind: 'healthy', says: [/late: +no rank; 1 collective compared/] },
  slow2: { kind: 'slow', culprits: [2], says: [/^SLOW {2}rank 2 /, /late: +on the host/] },
  slow3: { kind: 'slow', culprits: [2], says: [/^SLOW {2}rank 2 /, /late: +on the GPU/] },
  slow: { kind: 'slow', culprits: [2], says: [/^SLOW {2}rank 2 /, /late: +on the GPU/] },
  slowk: { kind: 'slow', culprits: [2], says: [/^SLOW {2}rank 2 /, /late: +on the GPU.*seen in kernels/] },
  hang: { kind: 'hung', culprits: [2] },
  kill: { kind: 'hung', culprits: [2], says: [/process died: +rank 2 \(vm\)/] },
  shm: {
    kind: 'hung',
    culprits: [1],
    says: [/^HUNG, then KILLED {2}AllReduce seq 4/, /look at: +rank 1 .* no kernel began/],
  },
  shm2: {
    kind: 'hung',
    culprits: [1],
    says: [/^HUNG, then KILLED {2}AllReduce seq 5/, /look at: +rank 1 .* no kernel began/],
  },
  shm4: {
    kind: 'hung',
    culprits: [0, 1],
    says: [/^HUNG, then KILLED {2}AllReduce seq 4/, /look at: +2 ranks \(0-1\).* no kernel began/],
  },
  node: {
    kind: 'hung',
    culprits: [1],
    says: [/look at rank 1$/, /: +rank 1 ch 0 send to 2, step 0 of 12 in GPU wait/],
  },
  node0: {
    kind: 'hung',
    culprits: [0],
    says: [/look at rank 0$/, /: +rank 0 ch 0 recv from 3, step 0 of 12 in GPU wait/],
  },
  rt1: {
    kind: 'hung',
    culprits: [2],
    says: [
      /^HUNG, then KILLED {2}AllReduce on world/,
      /never called: +rank 2 /,
      /inside NCCL: +2 ranks \(0-1\): in ncclAllReduce/,
    ],
  },
  p2phang: {
    kind: 'hung',
    culprits: [1, 0],
    says: [/^HUNG {2}Send on world/, /other side: +rank 1 .*alive/, /inside NCCL: +rank 0: in ncclSend/],
  },
  exitm: {
    kind: 'broken',
    culprits: [],
    says: [
      /^BROKEN OFF {2}the whole job was ended while it worked$/,
      /left NCCL: +2 ranks \(0-1\), in the middle of it/,
    ],
  },
  initall: { kind: 'healthy', says: [/by 3 ranks/, /late: +no rank; 1 collective compared/] },
});
