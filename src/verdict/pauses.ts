/**
 * Times in which a machine gave none of its processes time to run: no recorder thread wrote a heartbeat. Work that did not go on in such a
 * time does not show a hang, and a rank without a heartbeat in it is not silent.
 */

import type { Spell } from '../cluster/collective_types.js';
import { addTo } from '../base/grouped.js';
import { together } from '../cluster/late_spans.js';
import { SILENT_AFTER } from './absence.js';
import { cached } from './case.js';
import type { RankWitness } from './file_facts.js';

/** ns between the two times in which the machines of these files stood still. */
export function pausedIn(
  files: readonly number[],
  from: number,
  to: number,
  ranks: readonly RankWitness[],
): number {
  const pauses = pausesByMachine(ranks);
  const machines = new Set(files.map((file) => ranks[file]!.node.machine));
  const spells = [...machines].flatMap((machine) => pauses.get(machine) ?? []);
  return together(spells).reduce(
    (sum, one) => sum + Math.max(0, Math.min(to, one.to) - Math.max(from, one.from)),
    0,
  );
}

const FEWEST = 4;

const pausesByMachine = cached((ranks: readonly RankWitness[]): ReadonlyMap<string, readonly Spell[]> => {
  const machines = new Map<string, RankWitness[]>();
  for (const rank of ranks) addTo(machines, rank.node.machine, rank);
  return new Map([...machines].map(([machine, all]) => [machine, pausesOf(all)]));
});

/** What all have in common. After its newest heartbeat nothing is known of a process. */
function pausesOf(ranks: readonly RankWitness[]): Spell[] {
  const [first = [], ...more] = ranks.map(({ life: { heartbeats } }): Spell[] => {
    const gaps = heartbeats.slice(1).map((to, i) => ({ from: heartbeats[i]!, to }));
    const long = gaps.filter(({ from, to }) => to - from > SILENT_AFTER);
    const after = { from: heartbeats.at(-1) ?? -Infinity, to: Infinity };
    // A file with few heartbeats may lack them for another reason.
    return gaps.length >= FEWEST && 2 * long.length < gaps.length ? [...long, after] : [];
  });
  const common = more.reduce(
    (spells, own) =>
      spells.flatMap(({ from, to }) =>
        own
          .map((one) => ({ from: Math.max(from, one.from), to: Math.min(to, one.to) }))
          .filter((one) => one.to > one.from),
      ),
    first,
  );
  return common.filter(({ to }) => Number.isFinite(to));
}
