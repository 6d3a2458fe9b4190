/** Loopback options of runs that differ in size and in what NCCL reports. */

import { seeded } from '../clocks/simulated_links.js';

/** Several progress threads, old interfaces, events of network plugins, a hang, late starts, wrong handles. */
const WAYS = [
  '--groups tp=2 --ops allreduce:1M,allreduce@tp:64K*3',
  '--abi 3 --ops allreduce:256K*2,allgather:64K',
  '--net-events ib --ops allreduce:256K,allreduce:64K*2',
  '--abuse --ops allreduce:64K*4',
  '--abi 4 --ops allreduce:256K*2',
  '--irecv-busy 2 --registered --ops allgather:1M,group{send+recv:256K}',
  '--pxn 0:1 --ops alltoall:64K*2',
  '--fault skip:1@2 --hang-seconds 1 --ops allreduce:256K*3',
  '--exit hasty --ops allreduce:1M,allreduce:64K*2',
];

export function randomRun(run: number): string {
  const random = seeded(run + 1);
  const pick = (most: number): number => 1 + Math.floor(random() * most);
  return `--ranks 4 --channels ${pick(3)} --iterations ${2 + pick(6)} ${WAYS[(run * 4) % WAYS.length]!}`;
}
