/**
 * The collectives that two runs have in common, by communicator, function and size class: duration, bus bandwidth and skew, before and after, as
 * levels with their noise.
 */

import { entryOf } from '../base/grouped.js';
import { sizeClassOf, type CollectiveRow } from './collectives.js';
import { levelOf, type Level } from './noise.js';
import type { RankLabel } from '../runs/rank_labels.js';
import type { RunNumbers } from './run_numbers.js';

export type Subject =
  | {
      readonly kind: 'collectives';
      readonly comm: string;
      readonly commSize: number;
      readonly func: string;
      /** Lower end, bytes; null: not known. */
      readonly sizeClass: number | null;
    }
  | {
      readonly kind: 'link';
      readonly comm: string;
      readonly source: RankLabel;
      readonly destination: RankLabel;
    }
  | { readonly kind: 'rank'; readonly rank: RankLabel };

export type Measure =
  'duration' | 'busbw' | 'skew' | 'send' | 'lateness' | 'gpuWait' | 'peerWait' | 'recvWait' | 'flushWait';

/** A number that both runs have. `count`: how often the second run had this time. null: another number includes it. */
export interface Pair {
  readonly of: Subject;
  readonly measure: Measure;
  readonly before: Level;
  readonly after: Level;
  readonly floor: number;
  readonly count: number | null;
}

/** A communicator's name, if both runs have it. */
export type Names = (comm: string) => string;
interface Group {
  readonly of: Subject;
  readonly rows: CollectiveRow[];
}

/** The first of each kind on a communicator connects and allocates, so it does not count. */
export function groupsOf({ collectives }: RunNumbers, names: Names): Map<string, Group> {
  const groups = new Map<string, Group>();
  const seen = new Set<string>();
  for (const row of collectives) {
    const { commId, commSize, func, bytes } = row;
    const sizeClass = bytes === null ? null : sizeClassOf(bytes);
    const of = { kind: 'collectives', comm: names(row.comm), commSize, func, sizeClass } as const;
    const key = JSON.stringify(of);
    const group = entryOf(groups, key, () => ({ of, rows: [] }));
    if (seen.has(`${commId} ${key}`)) group.rows.push(row);
    seen.add(`${commId} ${key}`);
  }
  return groups;
}

export const subjectsMissingIn = (
  here: ReadonlyMap<string, Group>,
  there: ReadonlyMap<string, Group>,
): Subject[] => [...there].flatMap(([key, { of }]) => (here.has(key) ? [] : [of]));

export function collectivePairs(
  before: ReadonlyMap<string, Group>,
  after: ReadonlyMap<string, Group>,
  lateFloor: number,
): Pair[] {
  return [...after].flatMap(([key, { of, rows }]) => {
    const earlier = before.get(key)?.rows ?? [];
    const pair = (measure: Measure, pick: (row: CollectiveRow) => number | null, floor = 0): Pair[] =>
      paired(
        [earlier, rows].map((all) =>
          levelOf(
            all.map(pick).filter((value) => value !== null),
            floor,
          ),
        ),
        { of, measure, floor, count: measure === 'busbw' ? null : rows.length },
      );
    return [
      ...pair('duration', ({ durationNs }) => durationNs),
      ...pair('busbw', ({ busbwGBs }) => busbwGBs),
      ...pair('skew', ({ skewNs }) => skewNs, lateFloor),
    ];
  });
}

export function paired(
  [before, after]: readonly (Level | null | undefined)[],
  about: Omit<Pair, 'before' | 'after'>,
): Pair[] {
  return before && after ? [{ ...about, before, after }] : [];
}

/** What NCCL chose for most collectives of a kind. It is no matter of noise. */
export interface Choice {
  readonly plan: string;
  /** 0: not known. */
  readonly channels: number;
  /** How many made this choice, of all. */
  readonly count: number;
  readonly of: number;
}

/** Kinds for which most collectives of the two runs were made in another way. */
export function otherChoices(
  before: ReadonlyMap<string, Group>,
  after: ReadonlyMap<string, Group>,
): { readonly of: Subject; readonly before: Choice; readonly after: Choice }[] {
  return [...after].flatMap(([key, { of, rows }]) => {
    const [a, b] = [choiceOf(before.get(key)?.rows ?? []), choiceOf(rows)];
    const isSame = a?.plan === b?.plan && a?.channels === b?.channels;
    return a && b && !isSame ? [{ of, before: a, after: b }] : [];
  });
}

/** null: no choice is known, or none is that of most. */
function choiceOf(rows: readonly CollectiveRow[]): Choice | null {
  const counts = new Map<string, Choice>();
  for (const { plan, channels } of rows) {
    const key = `${plan} ${channels}`;
    counts.set(key, { plan, channels, count: (counts.get(key)?.count ?? 0) + 1, of: rows.length });
  }
  const [most] = [...counts.values()].sort((a, b) => b.count - a.count);
  return most && most.plan !== '' && 2 * most.count > rows.length ? most : null;
}
