/** A rank's proxy, its GPU or the wire is stuck. */

import { blame, next, nodeOf, someSteps, stalling, STALLED, type DrawCase } from './scenes.js';

/** With data that goes on for more steps than come before the fault. */
const LARGE = ['allreduce:256K', 'allreduce:256K,allgather:256K', 'allreduce:256K*4'];

const stuck = (kind: string): DrawCase =>
  stalling({ ops: LARGE }, ({ draw, rank, at }) => ({
    args: `--fault ${kind}:${rank}@${at}:${someSteps(draw)}`,
    truth: blame(rank),
  }));

/** Faults that only the GPUs' marks show. */
const withKernels = { least: 2, events: ['all'], abi: 6 } as const;

export const STUCK_FAULTS: Readonly<Record<string, DrawCase>> = {
  'stuck receive': stuck('recv'),
  'stuck send': stalling({ ops: LARGE }, ({ draw, rank, at, shape }) => ({
    args: `--fault send:${rank}@${at}:${someSteps(draw)}`,
    truth: blame(rank, STALLED, [next(rank, shape)]),
  })),
  'stuck GPU': stuck('gpu'),
  'stuck GPU, in a tree': stalling({ ops: LARGE, least: 4 }, ({ draw, rank, at }) => ({
    args: `--algo tree --fault gpu:${rank}@${at}:${someSteps(draw)}`,
    truth: blame(rank),
  })),
  'stuck GPU, no steps recorded': stalling(
    { ops: LARGE, events: ['CollApi,P2pApi,Coll,P2p,ProxyOp'] },
    ({ draw, rank, at }) => ({
      args: `--fault gpu:${rank}@${at}:${someSteps(draw)}`,
      // Without steps nothing tells who is stuck.
      truth: { ...blame(rank), needsName: false },
    }),
  ),
  // Its call was handed to the proxy on one channel of two.
  'stuck inside ncclGroupEnd': stalling({ ops: ['allreduce:256K'], leastAbi: 5 }, ({ rank, at }) => ({
    args: `--channels 2 --fault post:${rank}@${at}`,
    truth: blame(rank),
  })),
  'stuck receive, as by a known bug of NCCL 2.31': stalling({ ops: LARGE, abi: 7 }, ({ draw, rank, at }) => ({
    args: `--fault recv:${rank}@${at}:${someSteps(draw)}`,
    truth: { ...blame(rank), bug: 'https://github.com/NVIDIA/nccl/issues/2389' },
  })),
  // With more than two GPUs in a node it is not known which one is stuck between those that send and those that receive.
  'stuck GPU in an all-to-all': stalling({ ops: ['alltoall:256K'] }, ({ draw, rank, at }) => ({
    args: `--fault gpu:${rank}@${at}:${someSteps(draw)}`,
    truth: blame(rank),
  })),
  'two at once: slow link and stuck GPU': stalling({ least: 4, ops: LARGE }, ({ draw, rank, at, shape }) => ({
    args: `--fault gpu:${rank}@${at}:${someSteps(draw)} --slow link:${(rank + 2) % shape.ranks}:40`,
    truth: blame(rank),
  })),
  'stuck GPU, two nodes': stalling({ ranksOf: [4], ops: LARGE }, ({ draw, rank, at, shape }) => ({
    args: `--node-size ${shape.ranks / 2} --fault gpu:${rank}@${at}:${someSteps(draw)}`,
    truth: blame(rank),
  })),
  'stuck GPU, nodes of four': stalling(
    { ranksOf: [8, 12], ops: LARGE, events: ['default'] },
    ({ draw, rank, at }) => ({
      args: `--node-size 4 --fault gpu:${rank}@${at}:${someSteps(draw)}`,
      truth: blame(rank, STALLED, nodeOf(rank, 4)),
    }),
  ),
  'kernel never begins, nodes of four, with KernelCh': stalling(
    { ...withKernels, ranksOf: [8, 12], ops: LARGE },
    ({ rank, at }) => ({
      args: `--node-size 4 --fault gpu-start:${rank}@${at}`,
      truth: blame(rank),
    }),
  ),
  'stuck GPU, NVLink only': stalling({ ...withKernels, ops: LARGE }, ({ draw, rank, at, shape }) => ({
    args: `--node-size ${shape.ranks} --fault gpu:${rank}@${at}:${someSteps(draw)}`,
    // All kernels have begun and none has ended: nothing tells whose fault it is.
    truth: { ...blame(rank), needsName: false },
  })),
  'kernel never begins': stalling({ ops: LARGE }, ({ rank, at }) => ({
    args: `--fault gpu-start:${rank}@${at}`,
    truth: blame(rank),
  })),
  'kernel never begins, NVLink only': stalling({ ...withKernels, ops: LARGE }, ({ rank, at, shape }) => ({
    args: `--node-size ${shape.ranks} --fault gpu-start:${rank}@${at}`,
    truth: blame(rank),
  })),
  'stuck proxy': stalling({}, ({ draw, rank, at }) => ({
    args: `--fault stall:${rank}@${at}:${someSteps(draw)}`,
    truth: blame(rank),
  })),
  'stuck wire': stalling({ ops: LARGE }, ({ draw, shape, rank, at }) => ({
    args: `--fault drop:${rank}@${at}:${someSteps(draw)}`,
    truth: blame(rank, STALLED, [next(rank, shape)]),
  })),
  'two at once: straggler and stuck GPU': stalling({ least: 4, ops: LARGE }, ({ draw, rank, at, shape }) => ({
    args: `--fault gpu:${rank}@${at}:${someSteps(draw)} --slow host:${(rank + 2) % shape.ranks}:30ms`,
    truth: blame(rank),
  })),
};
