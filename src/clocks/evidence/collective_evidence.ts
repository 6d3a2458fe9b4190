/**
 * Turns collectives into pairs of stamps: no rank leaves one before all ranks whose data it needs have entered. A pair spans a whole
 * collective, so it adds little to transfers. It is for hosts without these, or with traffic in one direction only.
 */

import { entryOf } from '../../base/grouped.js';
import { ticks } from '../../base/time.js';
import { toLocal, type ClockAxes } from '../domains.js';
import { outcomeAt, type WorkEndTable } from '../../model/work_end_table.js';
import type { RankScan } from '../../scan/scan.js';

export type CollectiveSource = Pick<RankScan, 'communicators' | 'works' | 'workEnds' | 'rings'>;

/** One collective, as the domains of its ranks saw it. LocalNs. */
export interface SeenCollective {
  /** Per domain: the last entry of a rank whose data others need. */
  readonly entered: ReadonlyMap<number, number>;
  /** Per domain: the first end of a rank that needed others' data. */
  readonly left: ReadonlyMap<number, number>;
}

interface Draft {
  readonly entered: Map<number, number>;
  readonly left: Map<number, number>;
}

/** Which ranks wait for which. Functions that are not listed show nothing about this. */
const FLOWS: Readonly<Record<string, 'all to all' | 'from root' | 'to root'>> = {
  AllReduce: 'all to all',
  AllGather: 'all to all',
  ReduceScatter: 'all to all',
  AlltoAll: 'all to all',
  Broadcast: 'from root',
  Reduce: 'to root',
};

/** The collectives that ranks of more than one domain saw, in no order. */
export function seenCollectives(sources: readonly CollectiveSource[], axes: ClockAxes): SeenCollective[] {
  const drafts = new Map<string, Draft>();
  sources.forEach((source, file) => {
    const comms = new Map(source.communicators.map((comm) => [comm.number, comm]));
    const whole = isWhole(source);
    const { works, workEnds } = source;
    for (let row = 0; row < works.comm.length; row++) {
      const comm = comms.get(works.comm[row]!);
      const func = works.funcs[works.func[row]!]!;
      const flow = FLOWS[func];
      // A replay is announced by a thread that may come late.
      const counts = works.seq[row]! >= 0 && works.ordinalAbsolute[row] === 1 && works.ordinal[row] === 0;
      if (!comm || comm.commId === 0n || !flow || !counts || works.count[row] === 0) continue;
      const key = `${comm.commId} ${func} ${works.seq[row]!}`;
      const draft = entryOf(drafts, key, (): Draft => ({ entered: new Map(), left: new Map() }));
      const isRoot = works.root[row] === comm.rank;
      const domain = axes.domainOf[file]!;
      const at = (tick: number): number => toLocal(axes.scales[file]!, ticks(tick));
      if (flow === 'all to all' || isRoot === (flow === 'from root')) {
        const start = at(works.arrival[row]!);
        draft.entered.set(domain, Math.max(draft.entered.get(domain) ?? -Infinity, start));
      }
      if (flow === 'all to all' || isRoot === (flow === 'to root')) {
        const end = whole ? endOf(workEnds, row) : null;
        if (end !== null) draft.left.set(domain, Math.min(draft.left.get(domain) ?? Infinity, at(end)));
      }
    }
  });
  return [...drafts.values()].filter(({ entered, left }) =>
    [...entered.keys()].some((from) => [...left.keys()].some((to) => to !== from)),
  );
}

/** Its last receive, or the kernels, which wait for it. A send may be done before the others have begun. */
function endOf(ends: WorkEndTable, row: number): number | null {
  const [lastRecv, noticed] = [ends.lastRecv[row]!, ends.noticed[row]!];
  if (outcomeAt(ends, row) !== 'complete' || (Number.isNaN(lastRecv) && Number.isNaN(noticed))) return null;
  return Math.max(lastRecv || 0, noticed || 0);
}

/** If records are missing in between, the last receive that was seen may not be the last. */
function isWhole({ rings }: CollectiveSource): boolean {
  return rings.every(
    ({ class: ringClass, lost }) => ringClass === 'steps' || lost.torn + lost.copy + lost.dropped === 0,
  );
}

/**
 * How far the axis of one set of domains lies from that of another set, by the evidence in both directions. null if one direction has none.
 * Exact to the length of a collective.
 */
export function distanceByCollectives(
  collectives: readonly SeenCollective[],
  here: (domain: number) => number | undefined,
  there: (domain: number) => number | undefined,
): number | null {
  let least = -Infinity;
  let most = Infinity;
  for (const { entered, left } of collectives) {
    // True time: entered ≤ left. There's axis + distance = here's axis.
    least = Math.max(least, latest(entered, here) - earliest(left, there));
    most = Math.min(most, earliest(left, here) - latest(entered, there));
  }
  return Number.isFinite(least) && Number.isFinite(most) ? (least + most) / 2 : null;
}

function latest(times: ReadonlyMap<number, number>, offset: (domain: number) => number | undefined): number {
  let found = -Infinity;
  for (const [domain, time] of times) found = Math.max(found, time + (offset(domain) ?? -Infinity));
  return found;
}

function earliest(
  times: ReadonlyMap<number, number>,
  offset: (domain: number) => number | undefined,
): number {
  let found = Infinity;
  for (const [domain, time] of times) found = Math.min(found, time + (offset(domain) ?? Infinity));
  return found;
}

/**
 * Pairs between groups of domains that are not on one axis yet: the latest entry of one group into a collective, and the earliest end in
 * the other group. Within a group these are known. Only pairs with the largest group are given, which is enough to connect all.
 */
export function visitCollectives(
  collectives: readonly SeenCollective[],
  references: readonly number[],
  time: (domain: number, local: number) => number,
  visit: (from: number, sent: number, to: number, received: number) => void,
): void {
  const centre = largestGroup(references);
  for (const { entered, left } of collectives) {
    const lastIn = extremes(entered, references, time, (a, b) => a > b);
    const firstOut = extremes(left, references, time, (a, b) => a < b);
    const inCentre = lastIn.get(centre);
    const outCentre = firstOut.get(centre);
    for (const [group, out] of firstOut)
      if (group !== centre && inCentre) visit(inCentre.domain, inCentre.at, out.domain, out.at);
    for (const [group, into] of lastIn)
      if (group !== centre && outCentre) visit(into.domain, into.at, outCentre.domain, outCentre.at);
  }
}

/** The reference of the largest group. */
export function largestGroup(references: readonly number[]): number {
  const sizes = new Map<number, number>();
  for (const reference of references) sizes.set(reference, (sizes.get(reference) ?? 0) + 1);
  return [...sizes].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
}

function extremes(
  times: ReadonlyMap<number, number>,
  references: readonly number[],
  time: (domain: number, local: number) => number,
  isBetter: (a: number, b: number) => boolean,
): Map<number, { readonly domain: number; readonly at: number }> {
  const found = new Map<number, { readonly domain: number; readonly at: number }>();
  for (const [domain, local] of times) {
    const at = time(domain, local);
    const known = found.get(references[domain]!);
    if (!known || isBetter(at, known.at)) found.set(references[domain]!, { domain, at });
  }
  return found;
}
