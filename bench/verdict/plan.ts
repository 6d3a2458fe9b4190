/** Lists the cases: every class several times, faulty and healthy ones about equally often. */

import type { Case } from './case.js';
import { Draw } from './draw.js';
import { FAULTS } from './faults.js';
import { HEALTHY } from './healthy.js';
import type { DrawCase } from './scenes.js';

export interface Asked {
  readonly seed: number;
  /** Of each class of faults. */
  readonly runs: number;
  /** A class, a run ("never calls#3"), "faulty" or "healthy"; null: all. */
  readonly only: string | null;
}

export function casesOf({ seed, runs, only }: Asked): Case[] {
  const healthyRuns = Math.ceil((runs * Object.keys(FAULTS).length) / Object.keys(HEALTHY).length);
  const classes: [name: string, draw: DrawCase, runs: number, sort: string][] = [
    ...Object.entries(FAULTS).map(
      ([name, draw]) => [name, draw, runs, 'faulty'] as [string, DrawCase, number, string],
    ),
    ...Object.entries(HEALTHY).map(
      ([name, draw]) => [name, draw, healthyRuns, 'healthy'] as [string, DrawCase, number, string],
    ),
  ];
  const [wantedClass, wantedRun] = only?.split('#') ?? [];
  const chosen = classes.filter(
    ([name, , , sort]) =>
      wantedClass === undefined ||
      (wantedRun === undefined ? wantedClass === sort || name.includes(wantedClass) : name === wantedClass),
  );
  if (chosen.length === 0) {
    throw new Error(
      `--only ${only}: there is ${classes.map(([name]) => name).join('; ')}; or faulty, healthy`,
    );
  }
  const rounds = Math.max(...chosen.map(([, , count]) => count));
  // Round by round, so that an interrupted benchmark has seen every class.
  return wantedRun === undefined
    ? Array.from({ length: rounds }, (_, run) =>
        chosen.filter(([, , count]) => run < count).map(([name, draw]) => caseOf(name, draw, seed, run)),
      ).flat()
    : chosen.slice(0, 1).map(([name, draw]) => caseOf(name, draw, seed, Number(wantedRun)));
}

function caseOf(className: string, drawCase: DrawCase, seed: number, run: number): Case {
  const draw = new Draw(seed, className, run);
  const drawn = drawCase(draw);
  const args = `${drawn.args} --seed ${draw.between(1, 1 << 30)}`;
  return { ...drawn, args, className, name: `${className}#${run}` };
}
