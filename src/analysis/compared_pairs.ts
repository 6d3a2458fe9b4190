/**
 * The numbers that two runs have in common: collectives by communicator, function and size class, links, and ranks, each before and after as a
 * level with its noise.
 */

import {
  collectivePairs,
  groupsOf,
  otherChoices,
  paired,
  subjectsMissingIn,
  type Names,
  type Pair,
  type Subject,
} from './compared_collectives.js';
import { levelOf, levelsTogether } from './noise.js';
import type { SendSeries } from '../cluster/over_time.js';
import type { RunNumbers } from './run_numbers.js';
import { medianOf } from '../base/quantile.js';

/** Sends of a connection that may be in flight at once. Their times overlap. */
const IN_FLIGHT = 8;
/** ns per transfer: shorter waits are not compared as ratios. */
const WAIT_FLOOR = 10_000;
/** Skew and lateness below this part of the collectives' median duration are not compared as ratios, either. */
const LATE_FLOOR = 0.1;

/** Includes the collectives that only one of the runs has. */
export function comparedPairs(
  before: RunNumbers,
  after: RunNumbers,
): {
  readonly pairs: readonly Pair[];
  readonly choices: ReturnType<typeof otherChoices>;
  readonly onlyBefore: readonly Subject[];
  readonly onlyAfter: readonly Subject[];
} {
  const names = commNames(before, after);
  const groups = [groupsOf(before, names), groupsOf(after, names)] as const;
  const floor = lateFloorOf(before, after);
  return {
    pairs: [
      ...collectivePairs(...groups, floor),
      ...linkPairs(before, after, names),
      ...rankPairs(before, after, floor),
    ],
    choices: otherChoices(...groups),
    onlyBefore: subjectsMissingIn(groups[1], groups[0]),
    onlyAfter: subjectsMissingIn(groups[0], groups[1]),
  };
}

function lateFloorOf(before: RunNumbers, after: RunNumbers): number {
  const all = [...before.collectives, ...after.collectives].flatMap(({ durationNs }) => durationNs ?? []);
  return Math.max(1, LATE_FLOOR * (all.length > 0 ? medianOf(all) : 0));
}

/**
 * Ids differ from run to run, and names may differ, too. A name that only one run has is not used. Then size and ranks decide which
 * communicators are compared.
 */
function commNames(before: RunNumbers, after: RunNumbers): Names {
  const namesIn = ({ collectives, pairs }: RunNumbers): Set<string> =>
    new Set([...collectives, ...pairs].map(({ comm }) => comm));
  const [a, b] = [namesIn(before), namesIn(after)];
  return (comm) => (a.has(comm) && b.has(comm) ? comm : '');
}

/** Sizes that both runs sent are compared, weighted by how many there were. */
function linkPairs(before: RunNumbers, after: RunNumbers, names: Names): Pair[] {
  const earlier = sendsByLink(before, names);
  return [...sendsByLink(after, names)].flatMap(([key, { of, sends }]): Pair[] => {
    const known = earlier.get(key)?.sends ?? [];
    const levels = sends.flatMap(({ bytes, transfers, means }) => {
      const own = levelOf(means);
      const other = levelOf(known.find((size) => size.bytes === bytes)?.means ?? []);
      return own && other ? [{ own, other, weight: transfers }] : [];
    });
    if (levels.length === 0) return [];
    return [
      {
        of,
        measure: 'send',
        before: levelsTogether(levels.map(({ other, weight }) => ({ level: other, weight }))),
        after: levelsTogether(levels.map(({ own, weight }) => ({ level: own, weight }))),
        floor: 0,
        count: levels.reduce((sum, { weight }) => sum + weight, 0) / IN_FLIGHT,
      },
    ];
  });
}

interface Link {
  readonly of: Subject;
  readonly sends: readonly SendSeries[];
}

/** Communicators without names may connect the same two ranks. The one with more traffic comes first in both runs. */
function sendsByLink({ pairs, sends }: RunNumbers, names: Names): Map<string, Link> {
  const links = new Map<string, Link>();
  pairs.forEach(({ comm, source, destination }, i) => {
    const of = { kind: 'link', comm: names(comm), source, destination } as const;
    let key = JSON.stringify(of);
    while (links.has(key)) key += '+';
    links.set(key, { of, sends: sends[i]! });
  });
  return links;
}

const RANK_WAITS = ['gpu', 'peer', 'recv', 'flush'] as const;

function rankPairs(before: RunNumbers, after: RunNumbers, lateFloor: number): Pair[] {
  const files = new Map(before.ranks.map((rank, file) => [rank, file]));
  return after.ranks.flatMap((rank, file) => {
    const other = files.get(rank);
    if (other === undefined || rank === null) return [];
    const of = { kind: 'rank', rank } as const;
    const late = [before.lateness.meanNs[other]!, after.lateness.meanNs[file]!].map((bins) =>
      levelOf(
        bins.filter((value) => value !== null),
        lateFloor,
      ),
    );
    const count = after.lateness.files[file]!.collectives;
    const waits = RANK_WAITS.flatMap((name) => {
      const [a, b] = [before.rankWaits[other]!, after.rankWaits[file]!];
      const levels = [a, b].map(({ overTime }) => levelOf(overTime[name], WAIT_FLOOR));
      return paired(levels, {
        ...{ of, measure: `${name}Wait`, floor: WAIT_FLOOR, count: b.transfers / IN_FLIGHT },
      });
    });
    return [...paired(late, { of, measure: 'lateness', floor: lateFloor, count }), ...waits];
  });
}
