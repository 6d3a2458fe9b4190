/**
 * Finds links that are slow compared with similar links: those of the same communicator and its sisters, within a host or between hosts, size by size. This
 * one rule is for the times of sends, on which the verdict rests, and for the times until arrival. Those show a slow way into a rank, which a
 * network with buffers hides from the sender. Medians are compared, because a few long sends or one slow link do not move them.
 */

import { addTo } from '../base/grouped.js';
import { maxOf } from '../base/extremes.js';
import type { ComparedLink, TimesOfSize } from './connections.js';

export interface SlowLink {
  /** The time that is long. */
  readonly by: 'send' | 'arrival';
  readonly times: ComparedLink;
  /** The sends and sizes that were compared, and how many other pairs of ranks they were compared with. */
  readonly sends: number;
  readonly sizes: number;
  readonly like: number;
  /** ns: the link's median time and the usual one, for the size that cost most. */
  readonly medianNs: number;
  readonly usualNs: number;
  /**
   * ns: how much longer than usual its sends took in all, divided by how many are on the wire at once. The rank lost at least this time.
   */
  readonly costNs: number;
}

/** The fewest sends of one size that show anything, and the fewest other pairs of ranks that show the usual time. */
const FEWEST_SENDS = 16;
const FEWEST_LIKE = 2;
/** A slow link takes at least twice the usual time, and deviates by more than this many times the usual deviation. */
const LEAST_RATIO = 2;
const DEVIATIONS = 6;
/** Few links do not show how much links deviate. With 2 others the time must be 10 times the usual one, with 10 others 2 times. */
const UNKNOWN_DEVIATION = 9;
/**
 * A link that costs so many times less than another one of its communicator is a consequence: its sender gets its data from that one step by step,
 * and its proxy sleeps in between. It would look as if the rank between the two had a slow NIC.
 */
const BESIDE = 10;
/** At most this many sends of a connection are on the wire at once (NCCL's steps in flight). */
const IN_FLIGHT = 8;

/** The costliest first. */
export function slowLinks(links: readonly ComparedLink[], by: SlowLink['by'] = 'send'): SlowLink[] {
  const kinds = new Map<string, ComparedLink[]>();
  for (const link of links) addTo(kinds, `${link.sisters} ${link.isWithinHost}`, link);
  return [...kinds.values()].flatMap((kind) => slowIn(kind, by)).sort((a, b) => b.costNs - a.costNs);
}

function slowIn(kind: readonly ComparedLink[], by: SlowLink['by']): SlowLink[] {
  const like =
    new Set(kind.map(({ commId, source, destination }) => `${commId} ${source} ${destination}`)).size - 1;
  if (like < FEWEST_LIKE) return [];
  const usual = usualBySize(kind);
  const compared = kind.flatMap((times) => comparison(times, usual, like) ?? []);
  const deviation = lowerMedian(compared.map(({ ratio }) => Math.abs(ratio - 1)));
  const least = Math.max(LEAST_RATIO, 1 + UNKNOWN_DEVIATION / (like - 1), 1 + DEVIATIONS * deviation);
  const slow = compared
    .filter(({ ratio, ownRatio }) => ratio >= least && ownRatio >= LEAST_RATIO)
    .map(({ link }) => ({ ...link, by }));
  const most = new Map<bigint, number>();
  for (const { times, costNs } of slow) most.set(times.commId, Math.max(costNs, most.get(times.commId) ?? 0));
  return slow.filter(({ times, costNs }) => BESIDE * costNs >= most.get(times.commId)!);
}

type Usual = Pick<TimesOfSize, 'medianNs' | 'quickNs' | 'ownNs'>;

function usualBySize(kind: readonly ComparedLink[]): Map<number, Usual> {
  const bySize = new Map<number, TimesOfSize[]>();
  for (const one of kind.flatMap(({ sizes }) => sizes))
    if (one.sends >= FEWEST_SENDS) addTo(bySize, one.bytes, one);
  return new Map(
    [...bySize]
      .filter(([, all]) => all.length > FEWEST_LIKE)
      .map(([bytes, all]) => [
        bytes,
        {
          medianNs: lowerMedian(all.map(({ medianNs }) => medianNs)),
          quickNs: lowerMedian(all.map(({ quickNs }) => quickNs)),
          ownNs: lowerMedian(all.map(({ ownNs }) => ownNs)),
        },
      ]),
  );
}

/** Compares the medians, over all sizes. `ownRatio` distinguishes a slow link from a sender that sends much at once. */
function comparison(
  times: ComparedLink,
  usual: ReadonlyMap<number, Usual>,
  like: number,
): { readonly link: Omit<SlowLink, 'by'>; readonly ratio: number; readonly ownRatio: number } | null {
  const known = times.sizes.flatMap((one) => {
    const of = usual.get(one.bytes);
    if (!of || one.sends < FEWEST_SENDS) return [];
    const costNs = (one.sends * Math.max(0, one.medianNs - of.medianNs)) / IN_FLIGHT;
    // A busy processor delays many of a link's sends, but not all.
    const ratio = Math.min(one.medianNs / of.medianNs, one.quickNs / of.quickNs);
    return [{ ...one, usualNs: of.medianNs, ratio, ownRatio: one.ownNs / of.ownNs, costNs }];
  });
  if (known.length === 0) return null;
  const most = maxOf(known.map(({ costNs }) => costNs));
  const { medianNs, usualNs } = known.find(({ costNs }) => costNs === most)!;
  const sends = known.reduce((sum, one) => sum + one.sends, 0);
  const costNs = known.reduce((sum, one) => sum + one.costNs, 0);
  return {
    link: { times, sends, sizes: known.length, like, medianNs, usualNs, costNs },
    ratio: lowerMedian(known.map(({ ratio }) => ratio)),
    ownRatio: lowerMedian(known.map(({ ownRatio }) => ownRatio)),
  };
}

/** The median, or the lower of the two middle values. So with two slow links of four, the usual time is the time of the other two. */
const lowerMedian = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[(values.length - 1) >> 1] ?? NaN;
