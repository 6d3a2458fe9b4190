/** Turns a class of faults into a case: a job that gets stuck, or one that goes on to its end. */

import { ALL_FILES, type Case, type FileFate, type Truth, type VerdictKind } from './case.js';
import type { Draw } from './draw.js';
import { drawLook, drawShape, shapeArgs, type Shape, type Wishes } from './shapes.js';

/** A drawn case without its name. */
export type Drawn = Omit<Case, 'name' | 'className'>;
export type DrawCase = (draw: Draw) => Drawn;

export const STALLED: readonly VerdictKind[] = ['hung', 'waiting', 'broken'];

/** s. Long enough for a live look; a job that nobody looks at is ended sooner, but rings in memory are copied every 2 s. */
const LIVE = 25;
const DEAD = 3;
const DEAD_IN_MEMORY = 5;

export interface Wrong extends Pick<Case, 'control' | 'earlier'> {
  readonly args: string;
  readonly truth: Truth;
  readonly files?: FileFate;
  readonly settings?: Readonly<Record<string, string>>;
}

export interface Place {
  readonly draw: Draw;
  readonly shape: Shape;
  readonly rank: number;
  /** Iteration, from 1. */
  readonly at: number;
}

/** A job that stalls once something has gone wrong with `rank` in iteration `at`. */
export function stalling(wishes: Wishes, wrong: (place: Place) => Wrong): DrawCase {
  return (draw) => {
    const shape = drawShape(draw, { least: 3, ...wishes });
    const place = { draw, shape, rank: draw.between(0, shape.ranks - 1), at: draw.between(1, 4) };
    const { args, truth, files, settings, ...more } = wrong(place);
    const look = drawLook(draw, shape, { canBeLive: wishes.canBeLive ?? true });
    const seconds = look.isLive ? LIVE : shape.inMemory ? DEAD_IN_MEMORY : DEAD;
    return {
      args: `${shapeArgs(shape, ITERATIONS)} ${args} --hang-seconds ${seconds}`,
      settings: { ...shape.settings, ...settings },
      truth,
      look,
      files: files ?? ALL_FILES,
      ...more,
    };
  };
}

/** Of a job that stalls, if nothing went wrong. */
export const ITERATIONS = 6;

/** A job that comes to its end, late. */
export function lasting(
  wishes: Wishes & { readonly iterations: number },
  wrong: (place: Omit<Place, 'at'>) => Wrong,
): DrawCase {
  return (draw) => {
    const shape = drawShape(draw, { least: 3, most: 8, ...wishes });
    const { args, truth, files, settings, ...more } = wrong({
      draw,
      shape,
      rank: draw.between(0, shape.ranks - 1),
    });
    return {
      args: `${shapeArgs(shape, wishes.iterations)} ${args}`,
      settings: { ...shape.settings, ...settings },
      truth,
      look: drawLook(draw, shape, { canBeLive: false }),
      files: files ?? ALL_FILES,
      ...more,
    };
  };
}

export const blame = (
  culprits: number | readonly number[],
  kinds: readonly VerdictKind[] = STALLED,
  beside: readonly number[] = [],
): Truth => ({ culprits: typeof culprits === 'number' ? [culprits] : culprits, beside, kinds });

/** Proxy steps after which it happens: early enough for the smallest job. */
export const someSteps = (draw: Draw): number => draw.between(1, 4);
export const next = (rank: number, { ranks }: Shape): number => (rank + 1) % ranks;
export const nodeOf = (rank: number, size: number): number[] =>
  Array.from({ length: size }, (_, i) => rank - (rank % size) + i);
export const allRanks = ({ ranks }: Shape): number[] => Array.from({ length: ranks }, (_, rank) => rank);
