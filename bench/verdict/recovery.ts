/** A rank dies, and the others go on without it: aborted or shrunk communicators, then new ones, in the same processes. */

import { skip } from './call_faults.js';
import type { Draw } from './draw.js';
import { blame, ITERATIONS, someSteps, stalling, type DrawCase, type Place } from './scenes.js';
import { shapeArgs } from './shapes.js';

/** All ranks meet in each iteration, so all are stuck when one has died. */
export const MET = ['allreduce:256K', 'allreduce:64K,allgather:256K', 'allreduce:64K*4,sleep:20ms'];

/** Rank `rank` dies in iteration `at`. */
export const recovery = (draw: Draw, rank: number, at: number): string =>
  `--fault kill:${rank}@${at}:${draw.pick(['before', String(someSteps(draw))])} ` +
  `--recover ${draw.pick(['abort', 'shrink'])}:${draw.pick([0.5, 1.5, 2.5])}`;

/** Iterations count on after the recovery. The present hang is what counts, the old one is history. */
const again = (wrong: (place: Place) => string): DrawCase =>
  stalling({ least: 4, ops: MET }, (place) => {
    const { draw, rank, at, shape } = place;
    const other = (rank + draw.between(1, shape.ranks - 1)) % shape.ranks;
    const later = wrong({ ...place, rank: other, at: ITERATIONS + draw.between(1, 4) });
    return { args: `${recovery(draw, rank, at)} ${later}`, truth: blame(other) };
  });

export const RECOVERY_FAULTS: Readonly<Record<string, DrawCase>> = {
  'never calls after a recovery': again(({ rank, at }) => skip(rank, at)),
  'stuck GPU after a recovery': again(({ draw, rank, at }) => `--fault gpu:${rank}@${at}:${someSteps(draw)}`),
  // Of the attempt before, the files of two ranks are left, which others of this run replaced.
  'never calls, after two processes were replaced': stalling(
    { least: 4, most: 8 },
    ({ rank, at, shape }) => ({
      args: skip(rank, at),
      truth: blame(rank),
      earlier: {
        args: `${shapeArgs(shape, 4)} --fault kill:${(rank + 1) % shape.ranks}@1 --hang-seconds 1`,
        isOver: true,
        left: [(rank + 1) % shape.ranks, (rank + 2) % shape.ranks],
      },
    }),
  ),
  'killed after a recovery': again(({ draw, rank, at }) => `--fault kill:${rank}@${at}:${someSteps(draw)}`),
};
