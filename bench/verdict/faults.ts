/** Classes of runs with a fault. Each says in a few lines what goes wrong, on whose account, and which verdicts tell of it. */

import { ALL_FILES, type Case, type FileFate, type Truth, type VerdictKind } from './case.js';
import type { Draw } from './draw.js';
import { drawLook, drawShape, shapeWords, type Shape, type Wishes } from './shapes.js';

/** A drawn case without its name. */
export type Drawn = Omit<Case, 'name' | 'className'>;
export type DrawCase = (draw: Draw) => Drawn;

const STANDS: readonly VerdictKind[] = ['hung', 'waiting', 'broken'];
/** Long enough for a live look; a job that nobody looks at is ended sooner. */
const LIVE_SECONDS = 25;
const DEAD_SECONDS = 3;

interface Wrong {
  readonly words: string;
  readonly truth: Truth;
  readonly files?: FileFate;
  readonly settings?: Readonly<Record<string, string>>;
  readonly iterations?: number;
}

/** A job that stands once something has gone wrong with `rank` in iteration `at`. */
function standing(
  wishes: Wishes,
  wrong: (draw: Draw, shape: Shape, rank: number, at: number) => Wrong,
): DrawCase {
  return (draw) => {
    const shape = drawShape(draw, { least: 3, ...wishes });
    const { words, truth, files, settings } = wrong(
      draw,
      shape,
      draw.between(0, shape.ranks - 1),
      draw.between(1, 4),
    );
    const look = drawLook(draw);
    const seconds = look.isLive ? LIVE_SECONDS : DEAD_SECONDS;
    return {
      words: `${shapeWords(shape, 6)} ${words} --hang-seconds ${seconds}`,
      settings: { ...shape.settings, ...settings },
      truth,
      look,
      files: files ?? ALL_FILES,
    };
  };
}

/** A job that comes to its end, late. */
function lasting(wishes: Wishes, wrong: (draw: Draw, shape: Shape, rank: number) => Wrong): DrawCase {
  return (draw) => {
    const shape = drawShape(draw, { least: 3, most: 8, ...wishes });
    const { words, truth, files, settings, iterations } = wrong(
      draw,
      shape,
      draw.between(0, shape.ranks - 1),
    );
    return {
      words: `${shapeWords(shape, iterations ?? 20)} ${words}`,
      settings: { ...shape.settings, ...settings },
      truth,
      look: drawLook(draw, { canBeLive: false }),
      files: files ?? ALL_FILES,
    };
  };
}

const blame = (
  rank: number,
  kinds: readonly VerdictKind[] = STANDS,
  beside: readonly number[] = [],
): Truth => ({
  culprits: [rank],
  beside,
  kinds,
});

const step = (draw: Draw): number => draw.between(1, 4);
const after = (rank: number, { ranks }: Shape): number => (rank + 1) % ranks;
const before = (rank: number, { ranks }: Shape): number => (rank + ranks - 1) % ranks;

/** All ranks do this; the one that goes wrong does the other. */
function mismatch(right: string, wrong: string): DrawCase {
  return standing({ ops: [`allreduce:8K,${right}`] }, (_, _shape, rank, at) => ({
    words: `--other-rank ${rank} --other-at ${at} --other-ops allreduce:8K,${wrong}`,
    truth: blame(rank, ['mismatch', 'hung', 'waiting']),
  }));
}

const skip = (rank: number, at: number): string => `--skip-rank ${rank} --skip-at ${at}`;

export const FAULTS: Readonly<Record<string, DrawCase>> = {
  'never calls': standing({}, (_, _shape, rank, at) => ({ words: skip(rank, at), truth: blame(rank) })),
  'killed in a collective': standing({}, (draw, _shape, rank, at) => ({
    words: `--kill-rank ${rank} --kill-at ${at}:${step(draw)}`,
    truth: blame(rank),
  })),
  'stuck proxy': standing({}, (draw, _shape, rank, at) => ({
    words: `--stall-rank ${rank} --stall-at ${at}:${step(draw)}`,
    truth: blame(rank),
  })),
  'stuck wire': standing(
    { ops: ['allreduce:256K', 'allreduce:64K,allgather:256K'] },
    (draw, shape, rank, at) => ({
      words: `--drop-rank ${rank} --drop-at ${at}:${step(draw)}`,
      truth: blame(rank, STANDS, [after(rank, shape)]),
    }),
  ),
  'other function': mismatch('allreduce:128K', 'reducescatter:128K'),
  'other count': mismatch('allreduce:128K', 'allreduce:96K'),
  'other root': mismatch('broadcast(0):128K', 'broadcast(1):128K'),
  'extra collective': mismatch('allreduce:128K', 'allreduce:128K,allreduce:16K'),
  'straggler on the host': lasting({}, (draw, _shape, rank) => ({
    words: `--slow-rank ${rank} --slow-us ${draw.between(15, 80) * 1000}`,
    truth: blame(rank, ['slow']),
  })),
  'never calls, its file missing': standing({}, (_, _shape, rank, at) => ({
    words: skip(rank, at),
    truth: blame(rank),
    files: { missing: [rank], cut: [] },
  })),
  'never calls, another file missing': standing({ least: 4 }, (_, shape, rank, at) => ({
    words: skip(rank, at),
    truth: blame(rank, STANDS, [(rank + 2) % shape.ranks]),
    files: { missing: [(rank + 2) % shape.ranks], cut: [] },
  })),
  'never calls, its file cut': standing({}, (draw, _shape, rank, at) => ({
    words: skip(rank, at),
    truth: blame(rank),
    files: { missing: [], cut: [{ rank, bytes: draw.pick([100, 4096, 100_000]) }] },
  })),
  'never calls, sampled': standing({}, (_, _shape, rank, at) => ({
    words: skip(rank, at),
    truth: blame(rank, [...STANDS, 'unclear']),
    settings: { NCCL_TRACE_SAMPLE: '3' },
  })),
  'killed, others abort': standing({ ops: ['allreduce:256K'] }, (draw, _shape, rank, at) => ({
    words: `--kill-rank ${rank} --kill-at ${at}:${step(draw)} --hang-signal ABORT`,
    truth: blame(rank, STANDS, []),
  })),
  'killed, others ended by SIGTERM': standing({}, (draw, shape, rank, at) => ({
    words: `--kill-rank ${rank} --kill-at ${at}:${step(draw)} --hang-signal TERM`,
    truth: blame(rank, STANDS, [before(rank, shape)].slice(1)),
  })),
};
