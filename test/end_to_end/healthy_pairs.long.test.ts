/** `nccl-trace diff` on 20 pairs of recordings of several healthy jobs. */

import { expectNoDifference } from './healthy_pairs.js';

const JOBS = [
  '--ranks 4 --channels 1 --iterations 60 --ops allreduce:64K,sleep:5ms --rate-limit 20',
  '--ranks 4 --channels 2 --iterations 60 --ops allreduce:1M,allgather:256K,allreduce:64K',
  '--ranks 4 --channels 1 --iterations 60 --ops allreduce:256K,sleep:5ms --rate-limit 200',
  '--ranks 8 --channels 1 --iterations 30 --ops allreduce@dp:64K,allgather@tp:128K --groups tp=2 --groups-strided dp=2',
  '--ranks 3 --channels 2 --iterations 40 --ops allreduce:256K*2,group{send+recv:64K}',
];

expectNoDifference(
  Array.from({ length: 20 }, (_, i) => JOBS[i % JOBS.length]!),
  0,
);
