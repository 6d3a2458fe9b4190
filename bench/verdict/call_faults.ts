/** A rank does not call, or calls something else than the others. */

import { blame, ITERATIONS, stalling, STALLED, type DrawCase, type Place } from './scenes.js';
import type { Wishes } from './shapes.js';

export const skip = (rank: number, at: number): string => `--skip-rank ${rank} --skip-at ${at}`;

const other = ({ rank, at }: Pick<Place, 'rank' | 'at'>, ops: string): string =>
  `--other-rank ${rank} --other-at ${at} --other-ops ${ops}`;

/** All ranks do the first; the faulty one does the second. */
const mismatch = (right: string, wrong: string): DrawCase =>
  stalling({ ops: [`allreduce:8K,${right}`] }, (place) => ({
    args: other(place, `allreduce:8K,${wrong}`),
    truth: blame(place.rank, ['mismatch', 'hung', 'waiting']),
  }));

const never = (wishes: Wishes, more = ''): DrawCase =>
  stalling(wishes, ({ rank, at, shape }) => ({
    args: `${skip(rank, at)} ${more.replace('RANKS', String(shape.ranks))}`.trim(),
    truth: blame(rank),
  }));

/** Neighbours exchange; one of them never sends. */
const noSend = (behind: string, at: (drawn: number) => number): DrawCase =>
  stalling({ ops: [`allreduce:8K,group{send+recv:64K}${behind}`] }, (place) => ({
    args: other({ rank: place.rank, at: at(place.at) }, `allreduce:8K,recv:64K${behind}`),
    truth: blame(place.rank, [...STALLED, 'mismatch']),
  }));

export const CALL_FAULTS: Readonly<Record<string, DrawCase>> = {
  'never calls': never({}),
  'never calls, NVLink only': never({ least: 2, events: ['all'], abi: 6 }, '--node-size RANKS'),
  'never calls, others have more behind': never({
    ops: ['allreduce:64K*6', 'allreduce:64K,allgather:32K,allreduce:8K*3'],
  }),
  'never calls a group': never({ ops: ['group{allreduce:64K+allgather:32K},allreduce:8K*2'] }),
  'never calls an all-to-all': never({ ops: ['allreduce:8K,alltoall:64K', 'alltoall:64K'] }),
  'never calls, one communicator of several': never({
    ops: ['allreduce@tp:64K*3'],
    ranksOf: [4, 8],
    groups: 'tp=2',
  }),
  'other function': mismatch('allreduce:128K', 'reducescatter:128K'),
  'other count': mismatch('allreduce:128K', 'allreduce:96K'),
  'other type': mismatch('allreduce:128K', 'allreduce:128K/i32'),
  'other root': mismatch('broadcast(0):128K', 'broadcast(1):128K'),
  'other order': mismatch('allreduce:128K,allgather:128K', 'allgather:128K,allreduce:128K'),
  'extra collective': mismatch('allreduce:128K', 'allreduce:128K,allreduce:16K'),
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
