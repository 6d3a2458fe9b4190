/** What came of it: a row per class, and sums. */

import { FAULTY_OUTCOMES, HEALTHY_OUTCOMES, type Outcome } from './judge.js';
import type { Played } from './play.js';

/** Columns. */
const NAME = 50;

export function tableOf(results: readonly Played[]): string[] {
  const faulty = results.filter((one) => one.case.truth !== null);
  const healthy = results.filter((one) => one.case.truth === null);
  return [
    ...(faulty.length > 0 ? part('fault', faulty, FAULTY_OUTCOMES) : []),
    ...(faulty.length > 0 ? [share(faulty)] : []),
    ...(healthy.length > 0 ? part('nothing wrong', healthy, HEALTHY_OUTCOMES) : []),
    ...(healthy.length > 0
      ? [`false alarms: ${count(healthy, 'alarm').replace('·', '0')} in ${healthy.length} healthy runs\n`]
      : []),
  ];
}

function part(title: string, results: readonly Played[], outcomes: readonly Outcome[]): string[] {
  const rows = new Map<string, Played[]>();
  for (const one of results) rows.set(one.case.className, [...(rows.get(one.case.className) ?? []), one]);
  const line = (name: string, some: readonly Played[]): string =>
    name.padEnd(NAME) +
    String(some.length).padStart(6) +
    outcomes.map((outcome) => count(some, outcome).padStart(10)).join('');
  const head =
    title.padEnd(NAME) + 'runs'.padStart(6) + outcomes.map((outcome) => outcome.padStart(10)).join('');
  return [head, ...[...rows].map(([name, some]) => line(name, some)), line('all', results), ''];
}

const count = (some: readonly Played[], outcome: Outcome): string =>
  String(some.filter((one) => one.outcome === outcome).length || '·');

function share(faulty: readonly Played[]): string {
  const percent = (...outcomes: readonly Outcome[]): string =>
    ((100 * faulty.filter(({ outcome }) => outcomes.includes(outcome)).length) / faulty.length).toFixed(1);
  const named = faulty.filter(({ case: { truth } }) => truth !== null && truth.needsName !== false);
  const hits = (most: number): string =>
    `${named.filter((one) => isAmong(one, most)).length} of ${named.length}`;
  return (
    `right or too wide: ${percent('right', 'too wide')} %   wrong: ${percent('wrong')} %\n` +
    `a culprit is the first rank named in ${hits(1)}, among the first two in ${hits(2)}\n`
  );
}

/** Of the ranks in the order in which they are named, a culprit is among the first `most`. */
const isAmong = ({ case: { truth }, naming }: Played, most: number): boolean =>
  [...new Set(naming.groups.flat())].slice(0, most).some((rank) => truth?.culprits.includes(rank));

/** What is not as it should be, each with what it takes to have it again. */
export function missLines(results: readonly Played[], again: (name: string) => string): string[] {
  const fine: readonly Outcome[] = ['right', 'too wide', 'quiet', 'true'];
  return results
    .filter(({ outcome }) => !fine.includes(outcome))
    .map(({ case: one, outcome, naming }) => {
      const truth = one.truth === null ? 'nothing wrong' : `rank ${one.truth.culprits.join(', ')}`;
      const named = naming.groups.map((group) => group.join(' ')).join(' | ') || 'nobody';
      return `${outcome.padEnd(8)} ${one.name}: ${truth}; ${naming.kind} names ${named}\n         ${again(one.name)}`;
    });
}
