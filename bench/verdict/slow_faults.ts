/** A rank, its GPU, its NIC or one of its links is slow: all the time, at times, or since a moment. */

import { ofProcesses, ONE_COMM } from './call_faults.js';
import type { Truth } from './case.js';
import type { Draw } from './draw.js';
import { blame, lasting, next, nodeOf, type DrawCase, type Wrong } from './scenes.js';

const OPS = [
  'allreduce:64K',
  'allreduce:64K,allgather:64K',
  'allreduce:64K*4',
  'reducescatter:64K,allgather:64K',
];
/** The sign that a GPU began: its own marks, or its first step. */
const EVENTS = ['all', 'default'];

type Where = 'host' | 'GPU';

const late = (rank: number, on: Where): Truth => ({ ...blame(rank, ['slow']), on });

const straggler = (on: Where, iterations: number, when: (ms: number) => string): DrawCase =>
  lasting({ ops: OPS, events: EVENTS, leastAbi: 4, iterations }, ({ draw, rank }) => ({
    args: `--slow ${on.toLowerCase()}:${rank}:${when(draw.between(60, 120))}`,
    truth: late(rank, on),
  }));

/** All of these, by as much. */
const lateTogether = (draw: Draw, ranks: readonly number[], on: Where, more = ''): Wrong => {
  const ms = draw.between(40, 80);
  const slow = ranks.map((rank) => `--slow ${on.toLowerCase()}:${rank}:${ms}ms`).join(' ');
  return { args: `${more} ${slow}`.trim(), truth: { ...blame(ranks, ['slow']), on } };
};

const everyTenth = (ms: number): string => `${ms * 5}ms/10`;
const sinceHalf = (ms: number): string => `${ms}ms@15`;
const always = (ms: number): string => `${ms}ms`;

export const SLOW_FAULTS: Readonly<Record<string, DrawCase>> = {
  'straggler on the host': straggler('host', 20, always),
  'straggler on the host, since a moment': straggler('host', 30, sinceHalf),
  'straggler on the GPU': straggler('GPU', 20, always),
  'straggler on the GPU, each tenth': straggler('GPU', 60, everyTenth),
  'straggler on the GPU, since a moment': straggler('GPU', 30, sinceHalf),
  'straggler in one communicator of several': lasting(
    { ops: ['allreduce@tp:64K*2'], ranksOf: [4, 8], groups: 'tp=2', leastAbi: 4, iterations: 40 },
    ({ draw, rank }) => ({
      args: `--slow host:${rank}:${draw.between(20, 60)}ms`,
      truth: late(rank, 'host'),
    }),
  ),
  'two ranks late together': lasting(
    { ops: OPS, least: 5, events: EVENTS, leastAbi: 4, iterations: 30 },
    ({ draw, rank, shape: { ranks } }) =>
      lateTogether(draw, [rank, (rank + draw.between(1, ranks - 1)) % ranks], draw.pick(['host', 'GPU'])),
  ),
  'a node late together': lasting(
    { ops: OPS, ranksOf: [8], events: EVENTS, leastAbi: 4, iterations: 30 },
    ({ draw, rank }) => {
      const size = draw.pick([2, 4]);
      return lateTogether(draw, nodeOf(rank, size), 'host', `--node-size ${size}`);
    },
  ),
  'straggler inside a node, in a tree': lasting(
    { ops: ['allreduce:16K', 'allreduce:4K*2'], ranksOf: [8], events: EVENTS, leastAbi: 4, iterations: 30 },
    ({ draw, rank }) => lateTogether(draw, [rank], 'host', '--node-size 4 --algo tree'),
  ),
  'GPU late where a ring leaves its node': lasting(
    { ops: OPS, ranksOf: [6, 8], leastAbi: 4, events: ['default'], iterations: 30 },
    ({ draw, rank }) => ({
      args: `--node-size 2 --slow gpu:${rank - (rank % 2) + 1}:${draw.between(40, 80)}ms`,
      truth: { ...late(rank - (rank % 2) + 1, 'GPU'), beside: nodeOf(rank, 2) },
    }),
  ),
  'GPU late inside a node, in a tree': lasting(
    {
      ops: ['allreduce:64K', 'allreduce:256K*2'],
      ranksOf: [8],
      leastAbi: 4,
      events: ['default'],
      iterations: 30,
    },
    ({ draw, rank }) => {
      const size = draw.pick([2, 4]);
      return {
        args: `--channels 2 --node-size ${size} --algo tree --slow gpu:${rank}:${draw.between(40, 80)}ms`,
        truth: { ...late(rank, 'GPU'), beside: nodeOf(rank, size) },
      };
    },
  ),
  'straggler on the host, two GPUs per process': ofProcesses(
    lasting({ ...ONE_COMM, iterations: 20 }, ({ draw, rank }) => ({
      args: `--slow host:${rank}:${draw.between(60, 120)}ms`,
      truth: late(rank, 'host'),
    })),
  ),
  'straggler by a few ms': lasting({ ops: OPS, leastAbi: 4, iterations: 120 }, ({ draw, rank }) => ({
    args: `--slow host:${rank}:${draw.between(8, 15)}ms`,
    truth: late(rank, 'host'),
  })),
  'straggler, full rings': lasting({ ops: OPS, leastAbi: 4, iterations: 40 }, ({ draw, rank }) => ({
    args: `--slow host:${rank}:${draw.between(40, 80)}ms`,
    truth: late(rank, 'host'),
    settings: { NCCL_TRACE_MODE: 'flight', NCCL_TRACE_RING_MB: '0.0625' },
  })),
  'straggler, v3': lasting({ ops: OPS, abi: 3, iterations: 40 }, ({ draw, rank }) => ({
    args: `--slow host:${rank}:${draw.between(40, 80)}ms`,
    truth: late(rank, 'host'),
  })),
  'straggler, three large waits': lasting(
    { ops: OPS, ranksOf: [4], leastAbi: 4, iterations: 40 },
    ({ draw, rank }) => ({
      args: `--slow host:${rank}:${draw.between(600, 900)}ms/13`,
      truth: late(rank, 'host'),
    }),
  ),
  'late sender in a pipeline': lasting(
    { ops: ['group{send+recv:64K}*2,allreduce:8K'], least: 4, leastAbi: 4, iterations: 30 },
    ({ draw, rank }) => ({
      args: `--slow host:${rank}:${draw.between(40, 80)}ms`,
      truth: late(rank, 'host'),
    }),
  ),
  'slow link': lasting(
    { ops: ['allreduce:1M', 'allreduce:1M,allgather:1M'], iterations: 12 },
    ({ rank, shape }) => ({
      args: `--slow link:${rank}:8`,
      truth: blame(rank, ['slow'], [next(rank, shape)]),
    }),
  ),
  'slow link of one group of several': lasting(
    { ops: ['allreduce@tp:512K'], ranksOf: [8], groups: 'tp=2', leastAbi: 4, iterations: 24 },
    ({ draw, rank }) => {
      const first = rank - (rank % 2);
      return {
        args: `--slow link:${first}:${draw.between(2, 6)}`,
        truth: blame(first, ['slow'], [first + 1]),
      };
    },
  ),
  'GPU slow with each slice': lasting(
    { ops: ['allreduce:1M'], most: 6, iterations: 16 },
    ({ draw, rank }) => ({
      args: `--slow slice:${rank}:${draw.between(15, 30)}ms`,
      truth: late(rank, 'GPU'),
    }),
  ),
  'GPU slow with each slice, nodes of four': lasting(
    { ops: ['allreduce:1M'], ranksOf: [8], leastAbi: 4, events: ['default'], iterations: 16 },
    ({ draw, rank }) => ({
      args: `--node-size 4 --slow slice:${rank}:${draw.between(15, 30)}ms`,
      truth: { ...late(rank, 'GPU'), beside: nodeOf(rank, 4) },
    }),
  ),
  'link stands still once': lasting(
    { ops: ['allreduce:256K,sleep:20ms', 'allreduce:64K,allgather:64K,sleep:20ms'], iterations: 30 },
    ({ draw, rank, shape }) => ({
      args: `--fault drop:${rank}@${draw.between(5, 25)}:${draw.between(1, 4)}/${draw.between(1200, 3000)}ms`,
      truth: blame(rank, ['slow'], [next(rank, shape)]),
    }),
  ),
  'link stops again and again': lasting(
    { ops: ['allreduce:256K,sleep:20ms'], iterations: 30 },
    ({ draw, rank, shape }) => {
      const ms = draw.between(150, 300);
      const stops = Array.from({ length: 9 }, (_, i) => `--fault drop:${rank}@${3 * i + 2}:1/${ms}ms`);
      return { args: stops.join(' '), truth: blame(rank, ['slow'], [next(rank, shape)]) };
    },
  ),
  'two links stop again and again': lasting(
    { ops: ['allreduce:256K,sleep:20ms'], least: 5, iterations: 30 },
    ({ draw, rank, shape }) => {
      const [ms, far] = [draw.between(150, 300), (rank + 2) % shape.ranks];
      const stops = Array.from({ length: 9 }, (_, i) =>
        [rank, far].map((one, j) => `--fault drop:${one}@${3 * i + 2 - j}:1/${ms}ms`).join(' '),
      );
      return {
        args: stops.join(' '),
        truth: blame([rank, far], ['slow'], [next(rank, shape), next(far, shape)]),
      };
    },
  ),
  'two slow links': lasting({ ops: ['allreduce:1M'], least: 5, iterations: 12 }, ({ rank, shape }) => {
    const far = (rank + 2) % shape.ranks;
    return {
      args: `--slow link:${rank}:8 --slow link:${far}:8`,
      truth: blame([rank, far], ['slow'], [next(rank, shape), next(far, shape)]),
    };
  }),
  'slow channel': lasting(
    { ops: ['allreduce:1M', 'allreduce:2M'], iterations: 12 },
    ({ draw, rank, shape }) => ({
      args: `--channels ${draw.between(2, 4)} --slow channel:${rank}:4`,
      truth: blame(rank, ['slow'], [next(rank, shape)]),
    }),
  ),
  'slow NIC of one group of several': lasting(
    { ops: ['allreduce@tp:1M'], ranksOf: [8], groups: 'tp=4', leastAbi: 4, iterations: 12 },
    ({ rank }) => ({ args: `--slow nic:${rank}:8`, truth: blame(rank, ['slow']) }),
  ),
  // The large sender's data hold up the others' GPUs. No GPU is slow.
  'uneven all-to-all': lasting(
    { ops: ['alltoall:128K', 'alltoall:256K,allreduce:8K', 'allreduce:64K,alltoall:128K'], iterations: 20 },
    ({ draw, rank, shape }) => ({
      args: `--ops ${shape.ops.replace('all:', `all(${rank}):`)} --rate-limit ${draw.between(20, 60)}`,
      truth: { ...blame(rank, ['slow', 'healthy']), needsName: false },
    }),
  ),
  'straggler on the host, RANK repeats': lasting(
    { ops: OPS, leastAbi: 4, iterations: 20 },
    ({ draw, rank, shape }) => ({
      args: `--pod-size ${draw.pick([2, shape.ranks])} --slow host:${rank}:${draw.between(60, 120)}ms`,
      truth: late(rank, 'host'),
    }),
  ),
  'straggler on the host, recorded less at times': lasting(
    { ops: OPS, leastAbi: 4, iterations: 60 },
    ({ draw, rank }) => ({
      args: `--slow host:${rank}:${draw.between(60, 120)}ms`,
      truth: late(rank, 'host'),
      control: [`--events ${draw.pick(['Coll', 'none'])}`, '--events all'],
    }),
  ),
  'slow NIC': lasting({ ops: ['allreduce:1M', 'allreduce:1M,allgather:1M'], iterations: 12 }, ({ rank }) => ({
    args: `--slow nic:${rank}:8`,
    truth: blame(rank, ['slow']),
  })),
};
