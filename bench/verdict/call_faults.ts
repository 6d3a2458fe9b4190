/** A rank does not call, or calls something else than the others. */

import { allRanks, blame, ITERATIONS, stalling, STALLED, type DrawCase, type Place } from './scenes.js';
import { shapeArgs, type Shape, type Wishes } from './shapes.js';

/** In the second one, of each pair, only its own ranks meet. */
export const JOINT = ['allreduce@tp:64K,allreduce:64K'];
/** Takes some seconds. */
export const PACED = ['allreduce:64K,allgather:64K,sleep:25ms'];

/**
 * In iteration `at` the pair of `rank` works by itself, `times` times 50 ms long, while the others wait for it. With each `sync` a rank
 * writes down what it did.
 */
export const elsewhere = (rank: number, at: number, times: number): string => {
  const first = rank - (rank % 2);
  const own = Array.from({ length: times }, () => 'allreduce@tp:8K,sync,sleep:50ms');
  return [first, first + 1].map((one) => `--fault other:${one}@${at}:${own.join(',')}`).join(' ');
};

/** Goes on until it is ended, or hangs. */
export const replica = (shape: Shape, wrong: string): string =>
  `${shapeArgs(shape, 100_000)} --timeout 60 --hang-seconds 60 ${wrong}`.trim();

export const skip = (rank: number, at: number): string => `--fault skip:${rank}@${at}`;

const other = ({ rank, at }: Pick<Place, 'rank' | 'at'>, ops: string): string =>
  `--fault other:${rank}@${at}:${ops}`;

/** All ranks do the first; the faulty one does the second. */
export const mismatch = (right: string, wrong: string, wishes: Wishes = {}): DrawCase =>
  stalling({ ...wishes, ops: [`allreduce:8K,${right}`] }, (place) => ({
    args: other(place, `allreduce:8K,${wrong}`),
    truth: blame(place.rank, ['mismatch', 'hung', 'waiting']),
  }));

export const never = (wishes: Wishes, more = ''): DrawCase =>
  stalling(wishes, ({ rank, at, shape }) => ({
    args: `${skip(rank, at)} ${more.replace('RANKS', String(shape.ranks))}`.trim(),
    truth: blame(rank),
  }));

/** Makes the connections that a send to a wrong peer needs. */
const FAR = 'group{send(+2)+recv(-2):8K}';

/** Neighbours exchange; one of them never sends. */
const noSend = (behind: string, at: (drawn: number) => number): DrawCase =>
  stalling({ ops: [`allreduce:8K,group{send+recv:64K}${behind}`] }, (place) => ({
    args: other({ rank: place.rank, at: at(place.at) }, `allreduce:8K,recv:64K${behind}`),
    truth: blame(place.rank, [...STALLED, 'mismatch']),
  }));

/** One communicator: putting files together knows no more. */
export const ONE_COMM = {
  ranksOf: [4, 8],
  ops: ['allreduce:64K', 'allreduce:64K,allgather:256K'],
  leastAbi: 5,
  inMemory: false,
} as const;

/** Its ranks are two by two in one process. Files of stream mode are written as text without their chunks' order in time. */
export const ofProcesses =
  (drawCase: DrawCase): DrawCase =>
  (draw) => {
    const drawn = drawCase(draw);
    return {
      ...drawn,
      settings: { ...drawn.settings, NCCL_TRACE_MODE: 'flight' },
      look: { ...drawn.look, how: 'in place', gpusPerProcess: 2 },
    };
  };

export const CALL_FAULTS: Readonly<Record<string, DrawCase>> = {
  'never calls': never({}),
  'never calls, NVLink only': never({ least: 2, events: ['all'], abi: 6 }, '--node-size RANKS'),
  'never calls, others have more behind': never({
    ops: ['allreduce:64K*6', 'allreduce:64K,allgather:32K,allreduce:8K*3'],
  }),
  'never calls a group': never({ ops: ['group{allreduce:64K+allgather:32K},allreduce:8K*2'] }),
  'never calls an all-to-all': never({ ops: ['allreduce:8K,alltoall:64K', 'alltoall:64K'] }),
  'never calls, two GPUs per process': ofProcesses(
    stalling({ ...ONE_COMM, canBeLive: false }, ({ rank, at }) => ({
      args: skip(rank, at),
      truth: blame(rank),
    })),
  ),
  'never calls, one communicator of several': never({
    ops: ['allreduce@tp:64K*3'],
    ranksOf: [4, 8],
    groups: 'tp=2',
  }),
  'never calls, RANK repeats': stalling({ least: 4, leastAbi: 4 }, ({ draw, rank, at, shape }) => ({
    args: `--pod-size ${draw.pick([2, shape.ranks])} ${skip(rank, at)}`,
    truth: blame(rank),
  })),
  'never calls, a replica beside it': stalling({ most: 4 }, ({ draw, rank, at, shape }) => ({
    args: skip(rank, at),
    truth: blame(rank),
    earlier: { args: replica(shape, draw.pick(['', skip(0, 1)])), isOver: false },
  })),
  'never calls, older than a replica': stalling({ most: 4, ops: PACED, canBeLive: false }, ({ shape }) => ({
    args: '--iterations 300',
    truth: blame(0),
    earlier: { args: replica(shape, skip(0, 1)), isOver: false },
  })),
  'never calls, the second start': stalling({ most: 8 }, ({ draw, rank, at, shape }) => ({
    args: skip(rank, at),
    truth: blame(rank),
    earlier: { args: `${shapeArgs(shape, 4)} ${draw.pick(['', skip(0, 1)])}`.trim(), isOver: true },
  })),
  'late joiners stop': stalling({ ranksOf: [4, 8], groups: 'tp=2', ops: JOINT }, ({ rank, at }) => ({
    args: `${elsewhere(rank, at, 12)} ${skip(rank, at + 1)}`,
    truth: blame(rank),
  })),
  'never calls, recorded less before': stalling({ ops: PACED }, ({ draw, rank }) => ({
    args: `--iterations 400 ${skip(rank, draw.between(150, 180))}`,
    truth: blame(rank),
    control: [
      `--events ${draw.pick(['Coll,P2p', 'Coll,P2p,ProxyOp', 'none'])}`,
      ...draw.pick([['--events all'], ['--events Coll,P2p,ProxyOp']]),
    ],
  })),
  'other function': mismatch('allreduce:128K', 'reducescatter:128K'),
  'other count': mismatch('allreduce:128K', 'allreduce:96K'),
  'other type': mismatch('allreduce:128K', 'allreduce:128K/i32'),
  'other root': mismatch('broadcast(0):128K', 'broadcast(1):128K'),
  'other order': mismatch('allreduce:128K,allgather:128K', 'allgather:128K,allreduce:128K'),
  'a wrong branch, whose data may fit': mismatch(
    'allreduce:64K*2,sleep:20ms,allreduce:64K*3',
    'allreduce:64K,allgather:64K,sleep:20ms,allreduce:64K*3',
  ),
  // One against one: nobody can be accused.
  'a tie: other function': stalling({ most: 2, least: 2, ops: ['allreduce:8K,allreduce:128K'] }, (place) => ({
    args: other(place, 'allreduce:8K,reducescatter:128K'),
    truth: { ...blame([], ['mismatch', 'hung', 'waiting']), needsName: false },
  })),
  'extra collective': mismatch('allreduce:128K', 'allreduce:128K,allreduce:16K'),
  'one call more than the others': stalling(
    { least: 3, ops: ['allreduce:64K', 'allgather:64K,allreduce:8K'] },
    (place) => ({
      args: other({ ...place, at: ITERATIONS - 1 }, `${place.shape.ops},allreduce:64K`),
      truth: blame(place.rank, [...STALLED, 'mismatch']),
    }),
  ),
  'crossed communicators': stalling(
    { ops: ['allreduce:8K,allreduce@pair:64K'], groups: 'pair=RANKS' },
    (place) => ({
      args: `--one-stream ${other(place, 'allreduce@pair:64K,allreduce:8K')}`,
      truth: blame(place.rank, [...STALLED, 'mismatch']),
    }),
  ),
  'crossed communicators, each call waited for': stalling(
    { ops: ['allreduce:8K,sync,allreduce@pair:64K,sync'], groups: 'pair=RANKS', least: 3 },
    (place) => ({
      args: other(place, 'allreduce@pair:64K,sync,allreduce:8K,sync'),
      truth: blame(place.rank, [...STALLED, 'mismatch']),
    }),
  ),
  'three orders of three communicators': stalling(
    {
      ops: ['allreduce@a:8K,allreduce@b:64K,allreduce@c:8K'],
      ranksOf: [3],
      groups: 'a=3 --groups b=3 --groups c=3',
      leastAbi: 4,
    },
    ({ at, shape }) => ({
      args: `--one-stream ${['b:64K,c:8K,a:8K', 'c:8K,a:8K,b:64K']
        .map((order, i) => other({ rank: i + 1, at }, `allreduce@${order.replaceAll(',', ',allreduce@')}`))
        .join(' ')}`,
      truth: blame(allRanks(shape), [...STALLED, 'mismatch']),
    }),
  ),
  'two circles at once': stalling(
    { ops: ['allreduce@tp:8K,allreduce@pp:64K'], ranksOf: [4, 8], groups: 'tp=2 --groups pp=2' },
    ({ at, shape }) => ({
      args: `--one-stream ${[0, 2].map((rank) => other({ rank, at }, 'allreduce@pp:64K,allreduce@tp:8K')).join(' ')}`,
      truth: blame(allRanks(shape).slice(0, 4), [...STALLED, 'mismatch']),
    }),
  ),
  'sends to a wrong peer': stalling(
    { ops: [`allreduce:8K,${FAR},group{send+recv:64K}`], least: 4 },
    (place) => ({
      args: other(place, `allreduce:8K,${FAR},group{send(+2)+recv:64K}`),
      truth: blame(place.rank, [...STALLED, 'mismatch']),
    }),
  ),
  // NCCL reports only the call.
  'never calls a Broadcast': stalling(
    { ops: ['broadcast:64K,sync', 'allreduce:8K,broadcast:64K,sync'], abi: 6, events: ['default'] },
    ({ rank, at }) => ({ args: skip(rank, at), truth: blame(rank, [...STALLED, 'unclear']) }),
  ),
  'startup: never calls the first collective': stalling(
    { ops: ['allreduce:64K', 'allgather:64K,allreduce:8K'], leastAbi: 5 },
    (place) => ({
      args: `--connect-at-use ${skip(place.rank, 0)}`,
      truth: blame(place.rank),
    }),
  ),
  'startup: never sends nor receives': stalling(
    { ops: ['group{send+recv:64K},allreduce:8K'], leastAbi: 5 },
    ({ rank }) => ({
      args: `--connect-at-use ${other({ rank, at: 0 }, 'allreduce:8K')}`,
      truth: blame(rank, [...STALLED, 'mismatch']),
    }),
  ),
  'never sends, no work behind': noSend('', () => ITERATIONS - 1),
  'never sends, work behind': noSend(',allreduce:64K*3', (at) => at),
};
