/**
 * Links that are slow compared with their like: of the same communicator, within a host or between hosts, size by size. Robust: medians, and
 * the spread of all links around them, so one slow link does not move what it is held against. Send times alone count: waiting for room at
 * the receiver or for a GPU is no wire.
 */

import type { LinkRow } from './transfers.js';
import { medianOf } from './statistics.js';

export interface SlowLink {
  /** Index into the links. */
  readonly link: number;
  /** Its send times are so many times those of its like, the median over sizes: mean, and least. */
  readonly ratio: number;
  readonly leastRatio: number;
  /** Rests on so many transfers of so many sizes, and on so many links to compare with. */
  readonly transfers: number;
  readonly sizes: number;
  readonly like: number;
  /** What its sends took longer than those of its like, in all. */
  readonly costNs: number;
}

/** Fewer tell nothing of a link, and fewer links nothing of what is usual. */
const LEAST_TRANSFERS = 16;
const LEAST_LIKE = 4;
/** So much longer, and so many times the usual spread beyond the median. */
const LEAST_RATIO = 2;
const SPREADS = 6;
/**
 * Compares the shortest sends. A busy proxy thread delays many of a link's sends but rarely all: with 64 ranks on two processors, 46 of
 * 1,024 links took 2 to 12 times the usual mean, and none twice the usual least.
 */
const LEAST_LEAST_RATIO = 2;

/** The costliest first. */
export function slowLinks(links: readonly LinkRow[]): SlowLink[] {
  const kinds = new Map<string, number[]>();
  links.forEach(({ commId, sourceHost, destinationHost }, i) => {
    if (destinationHost === null) return;
    const key = `${commId} ${sourceHost === destinationHost}`;
    const kind = kinds.get(key);
    if (kind) kind.push(i);
    else kinds.set(key, [i]);
  });
  return [...kinds.values()].flatMap((kind) => slowIn(links, kind)).sort((a, b) => b.costNs - a.costNs);
}

function slowIn(links: readonly LinkRow[], kind: readonly number[]): SlowLink[] {
  if (kind.length < LEAST_LIKE) return [];
  const usual = usualBySize(kind.map((i) => links[i]!));
  const compared = kind.flatMap((i) => comparison(links[i]!, i, usual, kind.length) ?? []);
  const ratios = compared.map(({ ratio }) => ratio);
  const middle = medianOf(ratios);
  const spread = medianOf(ratios.map((ratio) => Math.abs(ratio - middle)));
  return compared.filter(
    ({ ratio, leastRatio, transfers }) =>
      transfers >= LEAST_TRANSFERS &&
      ratio >= LEAST_RATIO &&
      leastRatio >= LEAST_LEAST_RATIO &&
      ratio > middle + SPREADS * spread,
  );
}

interface Usual {
  readonly meanNs: number;
  readonly leastNs: number;
}

/** Sizes that enough of the links have. */
function usualBySize(links: readonly LinkRow[]): Map<number, Usual> {
  const bySize = new Map<number, { means: number[]; leasts: number[] }>();
  for (const { bySize: sizes } of links)
    for (const { bytes, meanNs, leastNs } of sizes) {
      const of = bySize.get(bytes) ?? { means: [], leasts: [] };
      bySize.set(bytes, of);
      of.means.push(meanNs);
      of.leasts.push(leastNs);
    }
  return new Map(
    [...bySize]
      .filter(([, { means }]) => means.length >= LEAST_LIKE)
      .map(([bytes, { means, leasts }]) => [bytes, { meanNs: medianOf(means), leastNs: medianOf(leasts) }]),
  );
}

function comparison(
  { bySize }: LinkRow,
  link: number,
  usual: ReadonlyMap<number, Usual>,
  like: number,
): SlowLink | null {
  const known = bySize.flatMap((one) => {
    const of = usual.get(one.bytes);
    return of && of.meanNs > 0 && of.leastNs > 0 ? [{ ...one, usual: of }] : [];
  });
  if (known.length === 0) return null;
  return {
    link,
    ratio: two(medianOf(known.map(({ meanNs, usual: of }) => meanNs / of.meanNs))),
    leastRatio: two(medianOf(known.map(({ leastNs, usual: of }) => leastNs / of.leastNs))),
    transfers: known.reduce((sum, { transfers }) => sum + transfers, 0),
    sizes: known.length,
    like: like - 1,
    costNs: known.reduce(
      (sum, { transfers, meanNs, usual: of }) => sum + transfers * Math.max(0, meanNs - of.meanNs),
      0,
    ),
  };
}

const two = (value: number): number => Number(value.toFixed(2));
