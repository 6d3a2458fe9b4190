/** Situations of which it is known what a person must be told. test/fixtures/cases/README.md describes them. */

import { describeVerdicts } from '../support/jobs/recorded_verdicts.js';

describeVerdicts('cases', {
  queues: {
    kind: 'hung',
    hungAfter: 2,
    culprits: [1],
    says: [
      /^HUNG {2}Recv on world/,
      /other side: +rank 1 .*alive/,
      /only wait: +AllReduce seq 3 on \S+, AllReduce seq 3 on world and 2 more$/,
    ],
  },
  'dead-node': {
    kind: 'hung',
    culprits: [1],
    says: [/^HUNG {2}AllReduce seq 764 on world/, /no heartbeat: +rank 1 /, /not finished: +rank 0$/],
  },
  'uneven-alltoall': {
    kind: 'healthy',
    says: [
      /uneven: +AlltoAll on world is uneven: rank 2 receives 768 KiB in each$/,
      /of 20 calls, the others 128 KiB \(6 times\)$/,
    ],
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
  'no-proxy-slots': {
    kind: 'hung',
    hungAfter: 2,
    culprits: [2],
    says: [
      /^HUNG {2}AllReduce seq 25 on world \(4 ranks\): rank 2 stuck inside ncclGroupEnd$/,
      /inside NCCL: +rank 2: in ncclGroupEnd since /,
      /^ +NCCL has not handed it to its proxy: operations on 1 of 4 channels$/,
      /^ +all others called it, and returned$/,
    ],
  },
  'tree-inside': {
    kind: 'hung',
    culprits: [4, 5, 6, 7],
    says: [
      /^HUNG, then KILLED {2}AllReduce seq 10 on world: one of ranks 4-7 of node fake-1$/,
      /all wait for: +rank 4 ch 0 send to 0, step 0 of 2 in GPU wait$/,
      /which GPU: +one of ranks 4-7 of node fake-1: its inside is not recorded$/,
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
  'count-ag': {
    kind: 'mismatch',
    culprits: [3],
    says: [
      /^ {2}rank 3: +AllGather seq 0 \(1200000 ncclInt8\)/,
      /^ {2}3 ranks \(0-2\): +AllGather seq 0 \(2400000 ncclInt8\)/,
    ],
  },
  'abort-at-end': {
    kind: 'healthy',
    hungAfter: 2,
    culprits: [],
    says: [/^HEALTHY/, /end not known: +1 collective/],
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
  'late-join': {
    kind: 'waiting',
    says: [
      /^WAITING {2}AllReduce seq 10 on world \(3 ranks\): 2 ranks \(0-1\) did not enter it yet$/,
      /no hang yet: .*; the missing ones are at work$/,
      /^ +at work: AllReduce seq 75 on pair, 01:36:56 UTC$/,
    ],
  },
  leaves: {
    kind: 'hung',
    culprits: [1],
    says: [/never entered: +rank 1 \(vm\), it destroyed the communicator at 01:25:06 UTC$/],
  },
  'bcast-hang': {
    kind: 'hung',
    culprits: [1, 2, 3],
    says: [
      /^HUNG {2}Broadcast on world \(4 ranks\): look at rank 1 or 2 or 3$/,
      /all called: +ncclBroadcast \(3000000 ncclFloat32, root 0\)$/,
      /not past it: +3 ranks \(1-3\)$/,
    ],
  },
  circle3: {
    kind: 'hung',
    culprits: [0, 2, 1],
    says: [
      /3 orders: +rank 0: AllReduce seq 10 on a, then AllReduce seq 10 on c$/,
      /^ +rank 2: AllReduce seq 10 on c, then AllReduce seq 10 on b$/,
      /^ +rank 1: AllReduce seq 10 on b, then AllReduce seq 10 on a$/,
    ],
  },
  'node-misses-recv': {
    kind: 'hung',
    culprits: [0],
    says: [
      /^HUNG {2}Send on world \(3 ranks\): rank 0 never entered it$/,
      /no other side: +rank 2: 1 Send to 0 more than 0 received$/,
      /only wait: +AllGather seq 0 on world$/,
    ],
  },
  'extra-send': {
    kind: 'mismatch',
    culprits: [2],
    says: [
      /^MISMATCH {2}on world: a Send has no receive; the last ones are$/,
      /rank 1: +Send \(1000 ncclFloat32\)/,
      /rank 2: +Recv \(1000 ncclFloat32\)/,
    ],
  },
  'one-group': {
    kind: 'slow',
    culprits: [2],
    says: [/^SLOW {2}rank 2 .*: its sends to rank 3 take \d+ times the others' time$/, /on: +dp ranks 2-3/],
  },
  'link-stop': {
    kind: 'slow',
    culprits: [2],
    finds: ['stood still'],
    says: [
      /^SLOW {2}rank 2 .*: its sends to rank 3 stood still once, for 2\.5 s$/,
      /when: +11:11:16 UTC, in AllReduce seq 17, record 8:299$/,
      /step: +2 to 3, ch 1, step 2; usually 23 us$/,
      /cost: +2\.5 s of 3\.9 s$/,
    ],
  },
  'link-stop-early': {
    kind: 'slow',
    culprits: [3],
    says: [/^SLOW {2}rank 3 \(vm gpu3\): its sends to rank 4 stood still once, for 1\.3 s$/],
  },
  'slow-nodes': {
    kind: 'slow',
    culprits: [4, 5, 6, 7],
    finds: ['late'],
    says: [
      /^SLOW {2}one of ranks 4-7 of node fake-1: data wait for it in 21 of 23 collectives$/,
      /cost: +all waited 811.0 ms of 1.4 s for it alone/,
      /when: +since 01:47:24 UTC, 868.6 ms of 1.4 s$/,
      /which GPU: +data come in at rank 4; where in the node they stay is not$/,
    ],
  },
  'slow-inside': {
    kind: 'slow',
    culprits: [4, 5, 6, 7],
    says: [
      /^SLOW {2}one of ranks 4-7 of node node-1: data wait for it in 7 of 7 collectives$/,
      /cost: +all waited 946.8 ms of 1.2 s for it alone$/,
      /which GPU: +data come in at rank 4; where in the node they stay is not$/,
    ],
  },
  'slow-channel': {
    kind: 'slow',
    culprits: [1],
    says: [/^SLOW {2}rank 1 \(vm\): data wait for its GPU on ch 0 in 26 of 34 collectives$/],
  },
  'hosts-run-ahead': {
    kind: 'healthy',
    says: [/^HEALTHY/, /rank 1 came last 56 of 59 times/, /hosts run ahead, so only 50\.\d ms were lost$/],
  },
  'late-and-ahead': {
    kind: 'slow',
    culprits: [3],
    says: [
      /^SLOW {2}rank 3 \(vm\): it calls last in 59 of 59 collectives$/,
      /cost: +all waited 1\.3 s of 1\.5 s for it alone$/,
    ],
  },
  'late-in-tree': {
    kind: 'slow',
    culprits: [4],
    says: [
      /^SLOW {2}rank 4 \(vm\): it calls last in 38 of 49 collectives$/,
      /late: +on the host: it called late/,
    ],
  },
  'late-in-pipeline': {
    kind: 'slow',
    culprits: [5],
    says: [
      /^SLOW {2}rank 5 \(vm gpu5\): it calls last in 10 of 10 collectives$/,
      /late: +on the host: it called late/,
    ],
  },
  'never-waits': {
    kind: 'healthy',
    says: [/^HEALTHY/, /rank 2 came last 54 of 59 times/, /hosts run ahead, so only/],
  },
  'died-later': {
    kind: 'hung',
    culprits: [3],
    finds: ['stuck', 'given up'],
    says: [
      /^HUNG {2}AllReduce seq 1 on world \(size not known\): rank 3 fell silent$/,
      /^ +rank 1 fell silent; goes on with world \(size not known\)$/,
    ],
  },
  'left-long-ago': {
    kind: 'healthy',
    finds: [],
    says: [/^HEALTHY/, /never closed: +rank 2 \(vm gpu2\), last sign of life /],
  },
  'long-elsewhere': {
    kind: 'waiting',
    hungAfter: 2,
    says: [/^WAITING {2}AllReduce seq 1 on world/, /not known: +no records of that time: 2 ranks \(2-3\)$/],
  },
  uneven: {
    kind: 'healthy',
    says: [
      /^HEALTHY/,
      /late: +no rank; 15 collectives compared$/,
      /uneven: +AlltoAll on world is uneven: rank 2 sends /,
    ],
  },
  'recorded-less': {
    kind: 'hung',
    hungAfter: 2,
    culprits: [1],
    says: [/^HUNG {2}AllReduce seq 50 on world \(3 ranks\): rank 1 never entered it$/],
  },
  'file-missing': {
    kind: 'hung',
    hungAfter: 2,
    culprits: [2, 3],
    says: [
      /^HUNG, then KILLED {2}AllReduce seq 6 on world \(8 ranks\): look at rank 2 or 3$/,
      /look at: +rank 2 ch 0 send to 3, step 4 of 8 in send wait$/,
      /no file: +rank 5 of 8: what it did is not known$/,
    ],
  },
  'culprit-missing': {
    kind: 'hung',
    lacks: { rank: 2, of: 'real/hang' },
    says: [
      /^HUNG, then KILLED {2}AllReduce seq 20 on world \(4 ranks\): look at rank 2 \(no file\)$/,
      /all wait for: +rank 3 ch 0 recv from 2 \(no file\)/,
    ],
  },
  'dead-half': {
    kind: 'hung',
    culprits: [5, 6, 7],
    says: [/^HUNG {2}AllReduce seq 3 on dp \(4 of 8 ranks\): 3 ranks \(5-7\) fell silent$/],
  },
  aborted: {
    kind: 'hung',
    culprits: [1],
    says: [/^HUNG, then ABORTED {2}AllReduce seq 5 on world/, /process died: +rank 1 /],
  },
});
