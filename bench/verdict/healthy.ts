/** Classes of runs in which nothing is wrong. None of them may raise an alarm. */

import { anyJob } from './any_job.js';
import { elsewhere, JOINT, ofProcesses, ONE_COMM, replica, skip } from './call_faults.js';
import { comparedWith } from './compared.js';
import { ALL_FILES, type Case } from './case.js';
import type { Draw } from './draw.js';
import { asDumps } from './dumps.js';
import { allRanks, type DrawCase } from './scenes.js';
import { MET, recovery } from './recovery.js';
import { drawLook, drawShape, shapeArgs, type Shape, type Wishes } from './shapes.js';

const OPS_OF_TWO = ['allreduce:64K', 'allreduce:64K,allgather:64K', 'group{send+recv:64K},allreduce:8K'];
const EXITS = ['', '', '--exit leave', '--exit abrupt', '--exit hasty'];

/** A job that does this, and is read when it has ended, or while it runs. */
function well(
  wishes: Wishes,
  iterations: readonly [number, number],
  more: (draw: Draw, shape: Shape) => string = () => '',
  earlier: (draw: Draw, shape: Shape) => Case['earlier'] = () => undefined,
): DrawCase {
  return (draw) => {
    const shape = drawShape(draw, { most: 16, ...wishes });
    const look = drawLook(draw, shape, { canBeLive: false });
    const args = [shapeArgs(shape, draw.between(...iterations)), draw.pick(EXITS), more(draw, shape)];
    const other = earlier(draw, shape);
    return {
      args: args.filter((word) => word !== '').join(' '),
      settings: shape.settings,
      truth: null,
      look,
      files: ALL_FILES,
      ...(other && { earlier: other }),
    };
  };
}

/** While it goes on. */
function watched(wishes: Wishes, more: (draw: Draw, shape: Shape) => string = () => ''): DrawCase {
  return (draw) => {
    const shape = drawShape(draw, { most: 8, ...wishes });
    return {
      args: `${shapeArgs(shape, 100_000)} --timeout 30 ${more(draw, shape)}`.trim(),
      settings: shape.settings,
      truth: null,
      look: {
        after: draw.between(1500, 4500),
        isLive: true,
        how: draw.pick(['in place', 'copy', 'snapshot']),
      },
      files: ALL_FILES,
    };
  };
}

const recovers = (draw: Draw, { ranks }: Shape): string =>
  recovery(draw, draw.between(0, ranks - 1), draw.between(1, 4));

export const HEALTHY: Readonly<Record<string, DrawCase>> = {
  'any job': anyJob,
  'dumps of any job': asDumps(well({ ops: OPS_OF_TWO.slice(0, 2), leastAbi: 4 }, [3, 20])),
  'training loop': well({}, [3, 20]),
  'idle between steps': well(
    { ops: ['allreduce:64K,sync,sleep:300ms', 'allgather:64K,sleep:100ms'] },
    [3, 8],
  ),
  checkpoints: well(
    { ops: ['allreduce:64K*20,sync,sleep:1500ms', 'allreduce:64K*8,allgather:128K*4,sync,sleep:900ms'] },
    [2, 3],
  ),
  'uneven sizes': well(
    { ops: ['allreduce:4*5,allreduce:2M,allgather:33K', 'reducescatter:1M,allreduce:8,broadcast:640K'] },
    [4, 12],
  ),
  pipeline: well(
    { ops: ['group{send+recv:256K}*3,allreduce:8K', 'group{send+recv:64K},group{send(-1)+recv(+1):64K}'] },
    [4, 20],
  ),
  '2 ranks': well({ most: 2 }, [20, 60]),
  '2 ranks that jitter': well(
    { most: 2, ops: OPS_OF_TWO },
    [20, 60],
    (draw) => `--jitter ${draw.between(1, 20)}ms`,
  ),
  'all jitter': well({ least: 3, most: 8 }, [10, 30], (draw) => `--jitter ${draw.between(1, 15)}ms`),
  'connections at first use, unnamed': well({}, [3, 10], () => '--connect-at-use --no-comm-names'),
  recovered: well({ least: 4, most: 8, ops: MET }, [6, 20], recovers),
  'recovered, full rings': (draw) => {
    const drawn = well({ least: 4, most: 8, ops: MET }, [40, 80], recovers)(draw);
    return { ...drawn, settings: { ...drawn.settings, NCCL_TRACE_RING_MB: '0.0625' } };
  },
  'RANK repeats': well(
    { least: 4, leastAbi: 4 },
    [3, 20],
    (draw, { ranks }) => `--pod-size ${draw.pick([2, ranks])}`,
  ),
  'a replica beside it': well({ most: 4 }, [3, 20], undefined, (_, shape) => ({
    args: replica(shape, ''),
    isOver: false,
  })),
  'second start': well({ most: 8 }, [3, 20], undefined, (draw, shape) => ({
    args: `${shapeArgs(shape, 4)} ${draw.pick(['', '--exit abrupt', skip(0, 1)])}`.trim(),
    isOver: true,
  })),
  'exits without ncclCommDestroy': well(
    { ranksOf: [4, 8], leastAbi: 4 },
    [3, 20],
    (draw) => `--node-size ${draw.pick([1, 2, 4])} --exit ${draw.pick(['leave', 'abrupt'])}`,
  ),
  'trees, hosts ahead': well(
    { ranksOf: [4, 6, 8], ops: ['allreduce:16K*4', 'allreduce:64K*8,sleep:20ms'] },
    [5, 20],
    () => '--algo tree',
  ),
  'trees of nodes, GPUs at work before': well(
    { ranksOf: [4, 8], ops: ['allreduce:64K', 'allreduce:256K*2'], leastAbi: 4 },
    [10, 30],
    (draw, shape) =>
      `--algo tree --node-size ${draw.pick([2, 4])} --jitter ${draw.between(1, 8)}ms ` +
      allRanks(shape)
        .map((rank) => `--slow gpu:${rank}:30ms`)
        .join(' '),
  ),
  'two nodes': well({ ranksOf: [4, 8] }, [3, 15], (draw) => `--node-size ${draw.pick([2, 4])}`),
  'sockets, threads, graphs': well(
    { ops: ['graph{allreduce:64K+allgather:32K}*3,allreduce:8K'] },
    [3, 10],
    (draw) =>
      draw.pick(['--net socket', '--non-blocking', '--net-events sockets', '--irecv-busy 2', '--registered']),
  ),
  'two GPUs per process': ofProcesses(well(ONE_COMM, [3, 20], (draw) => `--jitter ${draw.between(1, 8)}ms`)),
  'all abort at the end': well(
    { least: 3, most: 8, ops: ['allreduce:64K,sync', 'allreduce:256K*3,allgather:64K,sync,sleep:50ms'] },
    [5, 20],
    (draw) => `--exit abort --jitter ${draw.pick([1, 20, 200])}ms`,
  ),
  'compared with the same job': (draw) => {
    const drawn = well({ most: 6, ops: OPS_OF_TWO }, [12, 20])(draw);
    return comparedWith(drawn, drawn.args);
  },
  'nodes of four': well({ ranksOf: [8, 12], events: ['default', 'all'] }, [6, 20], () => '--node-size 4'),
  'nodes of four and eight, busy': well(
    {
      ranksOf: [8, 16],
      events: ['default', 'all'],
      ops: [
        'allreduce:1M*4,allgather:256K',
        'alltoall:256K,allreduce:64K*4',
        'group{send+recv:256K}*3,allreduce:512K',
      ],
    },
    [10, 30],
    (draw) => `--node-size ${draw.pick([4, 8])} --jitter ${draw.pick([0, 2, 10])}ms`,
  ),
  'very short': well({}, [1, 2]),
  'all-to-all': well(
    { ops: ['alltoall:64K', 'alltoall:256K,allreduce:8K', 'alltoall:4K*4'], most: 8 },
    [5, 20],
  ),
  'one communicator of several': well(
    {
      ranksOf: [4, 8],
      groups: 'tp=2',
      ops: ['allreduce@tp:64K*3,sleep:2ms', 'allreduce@tp:256K,allgather@tp:8K'],
    },
    [10, 40],
    (draw) => (draw.chance(0.5) ? `--jitter ${draw.between(1, 8)}ms` : ''),
  ),
  // The ranks of a communicator of their own have less time for the world than the last one.
  'GPUs busy in another communicator': well(
    {
      ranksOf: [3, 5],
      groups: 'tp=2',
      ops: ['allreduce@tp:512K,allreduce:64K', 'allreduce@tp:256K*2,allreduce:16K'],
    },
    [12, 24],
    (draw) => `--one-stream --rate-limit ${draw.between(15, 30)}`,
  ),
  'full rings': (draw) => {
    const drawn = well({}, [20, 60])(draw);
    return { ...drawn, settings: { ...drawn.settings, NCCL_TRACE_RING_MB: '0.0625' } };
  },
  'slow links everywhere': well({ ops: ['allreduce:1M'], most: 4 }, [5, 10], () => '--rate-limit 40'),
  'little recorded': well({ events: ['coll', 'default'] }, [3, 15]),
  'recorded less, then all again': (draw) => ({
    ...well(
      { most: 8, ops: ['allreduce:64K,allgather:64K,sleep:25ms', 'allreduce:8K*3,sleep:25ms'] },
      [200, 250],
    )(draw),
    control: [
      `--events ${draw.pick(['Coll,P2p', 'none'])} --sample ${draw.between(2, 20)}`,
      '--events all --sample 1',
    ],
  }),
  'watched while it works': watched({
    ops: ['allreduce:64K,sync,sleep:5ms', 'allreduce:256K,allgather:64K,sleep:20ms'],
  }),
  'watched while late joiners work elsewhere': watched(
    { ranksOf: [4, 8], groups: 'tp=2', ops: JOINT },
    (draw, { ranks }) =>
      `--hang-seconds 60 ${elsewhere(draw.between(0, ranks - 1), draw.between(1, 4), 200)}`,
  ),
  'watched after a recovery': watched({ least: 4, ops: ['allreduce:64K,sleep:5ms'] }, (draw, { ranks }) =>
    recovery(draw, draw.between(0, ranks - 1), draw.between(1, 9)).replace(/:[\d.]+$/, ':0.3'),
  ),
  'watched in pauses': watched({ ops: ['allreduce:64K*5,sync,sleep:700ms'] }),
};
