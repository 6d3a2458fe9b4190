/** Whether some times of one run are longer than others by more than chance. On a log scale, as in noise.ts. */

import { medianOf } from '../base/quantile.js';
import { deviation, meanOf, studentQuantile, studentsT } from './noise.js';

/** Limits for a cause of slowness: its chance, its factor, and its share of the run's time. */
const SLOWER = { chance: 0.001, factor: 1.5, share: 0.05 };
/** Neighbouring times have the machine's load in common, so a smaller factor is enough. `least`: it must occur at least this often. */
const SIDE_BY_SIDE = { factor: 1.25, least: 8 };

/** Times of one run that may be longer than the others, and the others. In order of time. */
export interface ComparedTime {
  readonly ns: number;
  readonly mayBeLonger: boolean;
}

/** The factor if the times are longer by more than chance, and by enough to be reported. null: they are not. */
export function slowerThan(
  times: readonly ComparedTime[],
  durationNs: number,
): { readonly factor: number; readonly costNs: number } | null {
  const [usual, longer] = [false, true].map((side) =>
    times.filter(({ mayBeLonger }) => mayBeLonger === side).map(({ ns }) => ns),
  ) as [number[], number[]];
  const costNs = longer.length * (medianOf(longer) - medianOf(usual));
  const factor = factorOfAll(usual.map(Math.log), longer.map(Math.log)) ?? factorSideBySide(times);
  if (factor === null || costNs < SLOWER.share * durationNs) return null;
  return { factor: Number(factor.toPrecision(3)), costNs: Math.round(costNs) };
}

/** null: not sure, or too small. */
function factorOfAll(usual: readonly number[], longer: readonly number[]): number | null {
  const factor = Math.exp(medianOf(longer) - medianOf(usual));
  const isSure = studentsT(usual, longer) > studentQuantile(SLOWER.chance, usual.length + longer.length - 2);
  return isSure && factor >= SLOWER.factor ? factor : null;
}

/** Each time is compared only with its neighbours, so neither a drift of the machine nor a long load counts. */
function factorSideBySide(times: readonly ComparedTime[]): number | null {
  const differences = neighbours(times).map(({ usual, longer }) => meanOf(longer) - meanOf(usual));
  if (differences.length < SIDE_BY_SIDE.least) return null;
  const error = deviation(differences) / Math.sqrt(differences.length);
  const limit = error * studentQuantile(SLOWER.chance, differences.length - 1);
  const difference = meanOf(differences);
  return difference > limit && difference >= Math.log(SIDE_BY_SIDE.factor) ? Math.exp(difference) : null;
}

/** Logarithms, cut into the shortest stretches that have times of both sorts. */
function neighbours(times: readonly ComparedTime[]): { usual: number[]; longer: number[] }[] {
  const found: { usual: number[]; longer: number[] }[] = [];
  let open = { usual: [] as number[], longer: [] as number[] };
  times.forEach(({ ns, mayBeLonger }, i) => {
    (mayBeLonger ? open.longer : open.usual).push(Math.log(ns));
    const endsHere = times[i + 1]?.mayBeLonger !== mayBeLonger;
    if (!endsHere || open.usual.length === 0 || open.longer.length === 0) return;
    found.push(open);
    open = { usual: [], longer: [] };
  });
  return found;
}
