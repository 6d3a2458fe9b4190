/** A rank never calls, and some events are not recorded, or files are missing or cut short. */

import { skip } from './call_faults.js';
import { blame, stalling, STALLED, type DrawCase } from './scenes.js';

export const FILE_FAULTS: Readonly<Record<string, DrawCase>> = {
  'never calls, its file missing': stalling({}, ({ rank, at }) => ({
    args: skip(rank, at),
    truth: blame(rank),
    files: { missing: [rank], cut: [] },
  })),
  'never calls, its file missing, in a tree': stalling({ least: 4 }, ({ rank, at }) => ({
    args: `--algo tree ${skip(rank, at)}`,
    truth: blame(rank),
    files: { missing: [rank], cut: [] },
  })),
  'never calls, another file missing': stalling({ least: 4 }, ({ rank, at, shape }) => {
    const missing = (rank + 2) % shape.ranks;
    return {
      args: skip(rank, at),
      truth: blame(rank, STALLED, [missing]),
      files: { missing: [missing], cut: [] },
    };
  }),
  'never calls, its file cut': stalling({}, ({ draw, rank, at }) => ({
    args: skip(rank, at),
    truth: blame(rank),
    files: { missing: [], cut: [{ rank, bytes: draw.pick([100, 4096, 100_000]) }] },
  })),
  'never calls, one file left': stalling({ ops: ['allreduce:256K'] }, ({ rank, at, shape }) => {
    const left = (rank + 1) % shape.ranks;
    const missing = Array.from({ length: shape.ranks }, (_, other) => other).filter(
      (other) => other !== left,
    );
    return {
      args: skip(rank, at),
      truth: { ...blame(rank, STALLED, missing), needsName: false },
      files: { missing, cut: [] },
    };
  }),
  'never calls, sampled': stalling({}, ({ rank, at }) => ({
    args: skip(rank, at),
    truth: blame(rank, [...STALLED, 'unclear']),
    settings: { NCCL_TRACE_SAMPLE: '3' },
  })),
};
