/**
 * Recordings made by NCCL on one H100, which several ranks shared. What happened is known, so each has the verdict that a person needs.
 * test/fixtures/gpu/README.md describes them.
 */

import { describeVerdicts } from '../support/jobs/recorded_verdicts.js';

describeVerdicts('gpu', {
  'v4-all': { kind: 'healthy' },
  'v5-all': { kind: 'healthy', says: [/no end: +92 sends, receives of a rank to itself/] },
  'slow-gpu-flight': {
    kind: 'slow',
    culprits: [2],
    says: [
      /^SLOW {2}rank 2 .*its GPU begins last/,
      /on the GPU: called in time, began late \(seen in steps\)/,
    ],
  },
  'node-slow-gpu': {
    kind: 'slow',
    culprits: [1],
    says: [
      /^SLOW {2}rank 1 .*its GPU begins last/,
      /on the GPU: called in time, began late \(seen in kernels\)/,
    ],
  },
  'slow-host': {
    kind: 'slow',
    culprits: [1],
    says: [/^SLOW {2}rank 1 .*it calls last/, /on the host: it called late/],
  },
  kill: { kind: 'hung', culprits: [1], says: [/no heartbeat: +rank 1 /] },
  'gpu-error': { kind: 'hung', culprits: [1], says: [/no heartbeat: +rank 1 /] },
  exit: { kind: 'hung', culprits: [2], says: [/no heartbeat: +rank 2 /] },
  stop: { kind: 'hung', culprits: [2], says: [/no heartbeat: +rank 2 /] },
  skip: { kind: 'hung', culprits: [1], says: [/never entered: +rank 1 .*alive to the end/] },
  'hang-gpu': {
    kind: 'hung',
    culprits: [1],
    says: [/all wait for: +rank 1 ch 0 send to 2, step 0 of 8 in GPU wait/],
  },
  'one-node-hang': { kind: 'hung', culprits: [1], says: [/look at: +rank 1 .*no kernel began/] },
  'torch-groups': {
    kind: 'hung',
    culprits: [3],
    says: [/on ranks 1,3 /, /never entered: +rank 3 .*alive to the end/, /only wait: +AllReduce/],
  },
  'parallel-exit': {
    kind: 'hung',
    culprits: [2],
    says: [/^HUNG, then KILLED {2}ReduceScatter seq 8 /, /process died: +rank 2 /, /only wait: +AllReduce/],
  },
  order: {
    kind: 'mismatch',
    says: [/rank 0: +AllReduce call 8/, /rank 1: +AllGather call 8/, /no hang is seen/],
  },
  size: { kind: 'mismatch', says: [/rank 0: .*2097152/, /rank 1: .*1048576/] },
  'kernel-count': {
    kind: 'working',
    says: [
      // The broadcasts, which NCCL 2.30 reports as calls only.
      /end not known: +46 collectives/,
      /no end: +92 sends, receives of a rank to itself/,
      /the last work of 2 ranks/,
      /not known: no heartbeat was recent/,
    ],
  },
});
