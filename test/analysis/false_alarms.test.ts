/**
 * Healthy runs whose times jitter, by the thousand: how often a cause is named for no reason. Made-up rows of collectives; the jitter of an hour of
 * recordings would be that of one machine.
 */

import { describe, expect, it } from 'vitest';
import type { CauseEvidence } from '../../src/analysis/cause_evidence.js';
import type { CollectiveRow } from '../../src/analysis/collectives.js';
import { contention } from '../../src/analysis/contention.js';
import { changePoint, slowerSince } from '../../src/analysis/slower_since.js';
import { slowGroups } from '../../src/analysis/slow_groups.js';
import { unlikePlans } from '../../src/analysis/unlike_plans.js';
import { seeded } from '../support/clocks/simulated_links.js';

type Uniform = () => number;

const deviate = (uniform: Uniform): number =>
  Math.sqrt(-2 * Math.log(uniform() + 1e-12)) * Math.cos(2 * Math.PI * uniform());

describe('of 1,000 runs, at most one is called slower since a moment', () => {
  it.each<[string, (uniform: Uniform, i: number, count: number) => number]>([
    ['times scatter by 10 %', (uniform) => 0.1 * deviate(uniform)],
    ['times scatter by a factor of 5', (uniform) => 1.5 * deviate(uniform)],
    ['each tenth takes 8 times as long', (uniform) => 0.2 * deviate(uniform) + (uniform() < 0.1 ? 2 : 0)],
    ['each second takes 8 times as long', (uniform) => 0.2 * deviate(uniform) + (uniform() < 0.5 ? 2 : 0)],
    ['times have a long tail', (uniform) => -Math.log(uniform() + 1e-12)],
    ['the first ones are slow', (uniform, i) => 0.2 * deviate(uniform) + (i < 10 ? 1.4 : 0)],
    [
      'the machine drifts to half its speed',
      (uniform, i, count) => 0.1 * deviate(uniform) + (0.7 * i) / count,
    ],
    ['the machine drifts to a quarter', (uniform, i, count) => 0.1 * deviate(uniform) + (1.4 * i) / count],
  ])('%s', (_, at) => {
    for (const count of [24, 40, 100]) {
      const alarms = Array.from({ length: 1000 }, (_run, seed) => {
        const uniform = seeded(seed + 1);
        return changePoint(Array.from({ length: count }, (_value, i) => at(uniform, i, count)));
      }).filter((found) => found !== null);
      expect(alarms.length).toBeLessThanOrEqual(1);
    }
  });
});

/** Load of the machine at a time, as a logarithm. */
type Load = (uniform: Uniform) => (at: number) => number;

/** On and off, for so long on average. */
const bursts =
  (dwell: number, factor: number): Load =>
  (uniform) => {
    let [isOn, until] = [true, 0];
    return (at) => {
      while (until <= at) [isOn, until] = [!isOn, until - dwell * Math.log(uniform() + 1e-12)];
      return isOn ? Math.log(factor) : 0;
    };
  };

/** Two communicators on streams of their own. Time unit: a collective without load. */
function healthyRun(seed: number, gap: number, load: Load): CauseEvidence {
  const uniform = seeded(seed);
  const loads = new Map<number, number>();
  const loadAt = load(seeded(seed));
  // In order of time: the load is drawn as it is met.
  for (let at = 0; at < 4000; at++) loads.set(at, loadAt(at));
  const rows = ['tp', 'dp'].flatMap((comm) => {
    let at = uniform();
    return Array.from({ length: 200 }, () => {
      const slow = Math.exp(loads.get(Math.floor(at)) ?? 0);
      const skew = 0.3 * uniform() * slow;
      const took = slow * Math.exp(0.2 * deviate(uniform)) + (uniform() < 0.03 ? 10 * uniform() : 0);
      const row = {
        ...{ comm, commId: comm, commSize: 4, func: 'AllReduce', bytes: 65536, lateRank: null },
        ...{ startNs: 1e6 * at, skewNs: 1e6 * skew, durationNs: 1e6 * (skew + took) },
        plan: uniform() < 0.2 ? 'TREE/LL' : 'RING/SIMPLE',
      };
      at += skew + took + 2 * gap * uniform();
      return row as CollectiveRow;
    });
  });
  rows.sort((a, b) => a.startNs - b.startNs);
  return {
    ...{ collectives: rows, durationNs: rows.at(-1)!.startNs, faults: [] },
  } as unknown as CauseEvidence;
}

describe('of 30 runs of two communicators on a machine with a varying load, none has a cause', () => {
  it.each<[string, Load]>([
    ['short loads, 3 times as slow', bursts(5, 3)],
    ['loads, 3 times as slow', bursts(20, 3)],
    ['loads, 8 times as slow', bursts(20, 8)],
    ['long loads, 8 times as slow', bursts(100, 8)],
  ])('%s', (_, load) => {
    const found = [0.5, 2, 6].flatMap((gap) =>
      Array.from({ length: 10 }, (_run, seed) => healthyRun(1000 * gap + seed + 1, gap, load)).flatMap(
        (run) => [
          ...contention(run),
          ...unlikePlans(run),
          ...slowGroups({ ...run, links: [], kindOf: (commId) => commId }),
          slowerSince(run),
        ],
      ),
    );
    expect(found.filter((one) => one !== null)).toEqual([]);
  });
});
