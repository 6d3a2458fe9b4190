/** A rank's proxy, its GPU or the wire is stuck. */

import { blame, next, someSteps, standing, STANDS, type DrawCase } from './scenes.js';

/** With data that goes on for more steps than come before the fault. */
const LARGE = ['allreduce:256K', 'allreduce:256K,allgather:256K', 'allreduce:256K*4'];

const stuck = (kind: string): DrawCase =>
  standing({ ops: LARGE }, ({ draw, rank, at }) => ({
    words: `--fault ${kind}:${rank}@${at}:${someSteps(draw)}`,
    truth: blame(rank),
  }));

/** Faults that only the GPUs' marks show. */
const withKernels = { least: 2, events: ['all'], abi: 6 } as const;

export const STUCK_FAULTS: Readonly<Record<string, DrawCase>> = {
  'stuck receive': stuck('recv'),
  'stuck send': standing({ ops: LARGE }, ({ draw, rank, at, shape }) => ({
    words: `--fault send:${rank}@${at}:${someSteps(draw)}`,
    truth: blame(rank, STANDS, [next(rank, shape)]),
  })),
  'stuck GPU': stuck('gpu'),
  // Of more than two GPUs in a node nothing tells which one stands between those that send and receive.
  'stuck GPU, two nodes': standing({ ranksOf: [4], ops: LARGE }, ({ draw, rank, at, shape }) => ({
    words: `--node-size ${shape.ranks / 2} --fault gpu:${rank}@${at}:${someSteps(draw)}`,
    truth: blame(rank),
  })),
  'stuck GPU, NVLink only': standing({ ...withKernels, ops: LARGE }, ({ draw, rank, at, shape }) => ({
    words: `--node-size ${shape.ranks} --fault gpu:${rank}@${at}:${someSteps(draw)}`,
    // All kernels have begun and none has ended: nothing tells whose fault it is.
    truth: { ...blame(rank), needsName: false },
  })),
  'kernel never begins': standing({ ops: LARGE }, ({ rank, at }) => ({
    words: `--fault gpu-start:${rank}@${at}`,
    truth: blame(rank),
  })),
  'kernel never begins, NVLink only': standing({ ...withKernels, ops: LARGE }, ({ rank, at, shape }) => ({
    words: `--node-size ${shape.ranks} --fault gpu-start:${rank}@${at}`,
    truth: blame(rank),
  })),
  'stuck proxy': standing({}, ({ draw, rank, at }) => ({
    words: `--stall-rank ${rank} --stall-at ${at}:${someSteps(draw)}`,
    truth: blame(rank),
  })),
  'stuck wire': standing({ ops: LARGE }, ({ draw, shape, rank, at }) => ({
    words: `--drop-rank ${rank} --drop-at ${at}:${someSteps(draw)}`,
    truth: blame(rank, STANDS, [next(rank, shape)]),
  })),
  'two at once: straggler and stuck GPU': standing({ least: 4, ops: LARGE }, ({ draw, rank, at, shape }) => ({
    words: `--fault gpu:${rank}@${at}:${someSteps(draw)} --slow host:${(rank + 2) % shape.ranks}:30ms`,
    truth: blame(rank),
  })),
};
