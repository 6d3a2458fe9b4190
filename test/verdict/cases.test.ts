/** Situations of which it is known what a person must be told. test/fixtures/cases/README.md describes them. */

import { describeVerdicts } from '../support/jobs/recorded_verdicts.js';

describeVerdicts('cases', {
  queues: {
    kind: 'hung',
    hungAfter: 2,
    culprits: [1],
    says: [/^HUNG {2}Recv on world/, /other side: +rank 1 .*alive/, /only wait: +AllReduce seq 3/],
  },
  'dead-node': {
    kind: 'hung',
    culprits: [1],
    says: [/^HUNG {2}AllReduce seq 764 on world/, /no heartbeat: +rank 1 /, /not finished: +rank 0$/],
  },
  'second-hang': {
    kind: 'hung',
    culprits: [3],
    finds: ['stuck', 'given up'],
    says: [
      /^HUNG {2}AllReduce seq 10 on shrunk \(3 of 4 ranks\)/,
      /never entered: +rank 3 .*alive/,
      /before: +AllReduce seq 6 on world, given up at 00:31:08 UTC$/,
      /rank 1 fell silent; goes on with shrunk \(3 of 4 ranks\)$/,
    ],
  },
  recovered: {
    kind: 'healthy',
    culprits: [],
    finds: ['given up'],
    says: [
      /^HEALTHY {2}everything that began since the recovery also ended$/,
      /before: +AllReduce seq 5 on world, given up at /,
      /rank 1 fell silent; goes on with shrunk \(3 of 4 ranks\)$/,
    ],
  },
  shrunk: {
    kind: 'healthy',
    says: [/before: +AllReduce seq 5 on world, given up at /, /rank 1 fell silent; goes on with shrunk/],
  },
  pods: {
    kind: 'hung',
    hungAfter: 2,
    culprits: [2],
    says: [
      /^HUNG {2}AllReduce seq 3 on world \(4 ranks\)/,
      /never entered: +rank 2 /,
      /not finished: +3 ranks \(0-1,3\)$/,
    ],
  },
  'ranks-of-two-launchers': {
    kind: 'hung',
    hungAfter: 2,
    culprits: [3],
    says: [/^HUNG {2}AllReduce seq 5 on world \(4 ranks\)/, /never entered: +rank 3 /],
  },
  'sizes-differ': {
    kind: 'hung',
    culprits: [0, 1],
    says: [
      /^HUNG {2}Recv on world \(4 ranks\): 2 ranks \(0-1\) called differently$/,
      /sizes differ: +rank 1: Recv \(786432 ncclFloat32\)$/,
      /^ +rank 0: Send \(262144 ncclFloat32\)$/,
      /not finished: +rank 1$/,
    ],
  },
  'count-p2p': {
    kind: 'hung',
    culprits: [0, 1],
    says: [/sizes differ: +rank 1: Recv \(1000 ncclFloat32\)$/, /rank 0: Send \(3000000 ncclFloat32\)$/],
  },
  'receives-more': {
    kind: 'hung',
    culprits: [0, 1],
    says: [/sizes differ: +rank 1: Recv \(262144 ncclFloat32\)$/, /only wait: +AllReduce seq 2/],
  },
  'in-destroy': {
    kind: 'unclear',
    hungAfter: 2,
    says: [
      /no heartbeat: +rank 1 /,
      /alive to end: +3 ranks \(0,2-3\): in no call that NCCL reports$/,
      /^ +\(the application, or ncclCommInit, -Destroy, -Split\)$/,
    ],
  },
  'tree-nodes': {
    kind: 'hung',
    culprits: [6],
    says: [
      /^HUNG {2}AllReduce seq 10 on world \(8 ranks\): look at rank 6$/,
      /look at: +rank 6 .*: called, no kernel began/,
    ],
  },
  'ring-nodes': {
    kind: 'hung',
    culprits: [4, 5, 6, 7],
    says: [
      /^HUNG {2}AllReduce seq 10 on world \(8 ranks\): one of ranks 4-7 of node fake-1$/,
      /all wait for: +rank 4 ch 0 recv from 3, step 2 of 28 in GPU wait$/,
      /which GPU: +one of ranks 4-7 of node fake-1: its inside is not recorded$/,
      /^ +record KernelCh to know which/,
    ],
  },
  'no-destroy': {
    kind: 'healthy',
    culprits: [],
    says: [/^HEALTHY {2}nothing unfinished was seen/, /end not known: +2 collectives/],
  },
  'killed-busy': {
    kind: 'working',
    hungAfter: 2,
    culprits: [],
    says: [/^WORKING {2}up to the end of the records: killed then, or a copy of a live job$/],
  },
  'killed-in-memory': {
    kind: 'working',
    hungAfter: 2,
    culprits: [],
    says: [/^WORKING {2}up to the end of the records: killed then/, /last movement: +3.1 s before/],
  },
  'hosts-run-ahead': {
    kind: 'healthy',
    says: [/^HEALTHY/, /rank 1 last in 56 of 59/, /so a lag stays: the run would gain 50\.\d ms$/],
  },
  'never-waits': { kind: 'healthy', says: [/^HEALTHY/, /rank 2 last in 54 of 59/, /so a lag stays/] },
  aborted: {
    kind: 'hung',
    culprits: [1],
    says: [/^HUNG, then ABORTED {2}AllReduce seq 5 on world/, /process died: +rank 1 /],
  },
});
