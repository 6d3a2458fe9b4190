/** A process, or a whole node, is gone or stopped. */

import type { Draw } from './draw.js';
import { allRanks, blame, ITERATIONS, next, someSteps, stalling, STALLED, type DrawCase } from './scenes.js';
import { NODE_MEMORY, type Wishes } from './shapes.js';

/** Stages that pass data on. */
const CHAINS = ['allreduce:8K,group{send+recv:64K}*4', 'group{send(-1)+recv(+1):256K}*3,allreduce:8K'];

type Moment = 'before' | 'in' | 'after';

const momentOf = (draw: Draw, moment: Moment): string => (moment === 'in' ? String(someSteps(draw)) : moment);

const ofProcess = (kind: string, moment: Moment): DrawCase =>
  stalling({}, ({ draw, rank, at }) => ({
    args: `--fault ${kind}:${rank}@${at}:${momentOf(draw, moment)}`,
    truth: blame(rank),
  }));

/** Rings lie in the memory of the nodes, as they do by default; the job has gone on for long enough to be copied. */
const ofNode = (moment: Moment, wishes: Wishes = {}): DrawCase =>
  stalling(
    { ranksOf: [4, 4, 8], inMemory: true, ops: ['allreduce:64K', 'allreduce:64K,allgather:64K'], ...wishes },
    (place) => {
      const { draw, rank, at, shape } = place;
      const size = shape.ranks / 2;
      const first = rank - (rank % size);
      return {
        args:
          `--node-size ${size} --node-memory ${NODE_MEMORY} --settle ${draw.pick([0, 2500])} ` +
          `--fault node:${rank}@${at}:${momentOf(draw, moment)}`,
        truth: blame(allRanks(shape).slice(first, first + size)),
      };
    },
  );

export const PROCESS_FAULTS: Readonly<Record<string, DrawCase>> = {
  'killed before a collective': ofProcess('kill', 'before'),
  'killed before a collective, NVLink only': stalling({ least: 2 }, ({ rank, at, shape }) => ({
    args: `--node-size ${shape.ranks} --fault kill:${rank}@${at}:before`,
    truth: blame(rank),
  })),
  'killed in a collective': ofProcess('kill', 'in'),
  'killed after a collective': ofProcess('kill', 'after'),
  'stopped before a collective': ofProcess('stop', 'before'),
  'stopped in a collective': ofProcess('stop', 'in'),
  'stopped after a collective': ofProcess('stop', 'after'),
  'node dies before a collective': ofNode('before'),
  'node dies in a collective': ofNode('in'),
  'node dies after a collective': ofNode('after'),
  'node dies, pairs beside the world': ofNode('in', {
    ops: ['allreduce@tp:64K,allreduce:64K'],
    ranksOf: [8],
    groups: 'tp=2',
  }),
  'exits in a collective': ofProcess('exit', 'in'),
  'aborts in a collective': ofProcess('abort', 'in'),
  'all exit in a collective': stalling(
    { canBeLive: false, ops: ['allreduce:256K'] },
    ({ draw, at, shape }) => ({
      args: `--fault exit:all@${at}:${someSteps(draw)}`,
      truth: { ...blame(allRanks(shape), ['broken']), needsName: false },
    }),
  ),
  'killed, others abort': stalling({ ops: ['allreduce:256K'] }, ({ draw, rank, at }) => ({
    args: `--fault kill:${rank}@${at}:${someSteps(draw)} --hang-signal ABORT`,
    truth: blame(rank),
  })),
  'killed, others ended by SIGTERM': stalling({}, ({ draw, rank, at }) => ({
    args: `--fault kill:${rank}@${at}:${someSteps(draw)} --hang-signal TERM`,
    truth: blame(rank),
  })),
  // The wrong call goes through, because its data fit.
  'other type that all got past, then another killed': stalling(
    { ops: ['allreduce:64K,allreduce:8K'] },
    (place) => {
      const { rank, shape } = place;
      const wrong = `other:${next(rank, shape)}@${place.draw.between(0, 2)}:allreduce:64K/i32,allreduce:8K`;
      return { args: `--fault ${wrong} --fault kill:${rank}@${ITERATIONS - 1}:before`, truth: blame(rank) };
    },
  ),
  'killed in a pipeline': stalling({ ops: CHAINS }, ({ draw, rank, at }) => ({
    args: `--fault kill:${rank}@${at}:${draw.pick(['before', 'in'])}`,
    truth: blame(rank),
  })),
  'stopped in an all-to-all': stalling({ ops: ['alltoall:64K', 'alltoall:64K,allreduce:8K'] }, (place) => ({
    args: `--fault stop:${place.rank}@${place.at}:${place.draw.pick(['before', 'in'])}`,
    truth: blame(place.rank),
  })),
  'killed, RANK repeats': stalling({ least: 4, leastAbi: 4 }, ({ draw, rank, at, shape }) => ({
    args: `--pod-size ${draw.pick([2, shape.ranks])} --fault kill:${rank}@${at}:${draw.pick(['before', 'in'])}`,
    truth: blame(rank),
  })),
  'killed, v1 to v3': stalling({ abi: 3 }, ({ draw, rank, at }) => ({
    args: `--abi ${draw.between(1, 3)} --fault kill:${rank}@${at}:${someSteps(draw)}`,
    truth: blame(rank),
  })),
  'exits, others have more behind': stalling({ ops: ['allreduce:256K*4'] }, ({ draw, rank, at }) => ({
    args: `--fault exit:${rank}@${at}:${draw.pick(['before', 'in'])}`,
    truth: blame(rank),
  })),
  'two at once: two killed': stalling({ least: 5 }, ({ draw, rank, at, shape }) => {
    const other = (rank + 2) % shape.ranks;
    return {
      args: `--fault kill:${rank}@${at}:${someSteps(draw)} --fault kill:${other}@${at}:before`,
      truth: blame([rank, other]),
    };
  }),
  'two at once: killed and stopped': stalling({ least: 4 }, ({ draw, rank, at, shape }) => {
    const other = (rank + 2) % shape.ranks;
    return {
      args: `--fault kill:${rank}@${at}:${someSteps(draw)} --fault stop:${other}@${at}`,
      truth: blame([rank, other], STALLED),
    };
  }),
};
