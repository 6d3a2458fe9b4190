/**
 * What slow links have in common: a channel, a NIC, a node, or nothing. If only one channel of each slow pair is slow, that channel is
 * thin. If a rank has several links and all are slow, its NIC is slow. If a host has several such ranks, the node is slow. A proxy thread
 * without CPU time also makes sends long. Links that it explains are left out. If a rank receives nothing, no record shows its thread.
 */

import { timesText } from '../base/units.js';
import { costing, longestOf, type CauseEvidence } from './cause_evidence.js';
import type { RankLabel } from './rank_labels.js';
import type { SlowLinkRow } from './slow_link_rows.js';
import type { LinkRow } from './link_rows.js';

export interface SlowLinks {
  readonly cause: 'slow link' | 'thin channel' | 'slow NIC' | 'slow node';
  /** The rank that all of them have in common; null: a node, or none. */
  readonly rank: RankLabel;
  readonly host: string | null;
  /** Sender and receiver of the first of them. */
  readonly ends: readonly [RankLabel, RankLabel];
  /** Indices into the links. */
  readonly links: readonly number[];
  /** Slow pairs of ranks, of all pairs with this rank or node as an end. */
  readonly slowPairs: number;
  readonly pairs: number;
  /** The times of the costliest link, compared with the usual ones. */
  readonly ratio: number;
  readonly by: SlowLinkRow['by'];
  readonly transfers: number;
  /** The channel that is thin; null: the cause is not about one channel. */
  readonly channel: number | null;
  /** Causes that cannot be distinguished, because the sender has only one link, or receives nothing that would show its proxy thread. */
  readonly cannotTell: 'link or NIC' | 'NIC or proxy thread' | 'link, NIC or proxy thread' | null;
  readonly costNs: number;
  readonly view: readonly [from: number, to: number];
}

/** Share of the run. A link that costs less is in the table of slow links, but is no cause. Costs are lower bounds. */
const LEAST_SHARE = 0.01;

type Slow = SlowLinkRow & { readonly row: LinkRow };
/** What a rank or host sends, receives, or both. */
type Direction = 'out' | 'in' | 'both';
interface End {
  readonly by: 'rank' | 'host';
  readonly key: RankLabel;
}

const pairOf = ({ commId, source, destination }: LinkRow): string => `${commId} ${source} ${destination}`;
const pairsOf = (rows: readonly LinkRow[]): Set<string> => new Set(rows.map(pairOf));
const endsOf = (row: LinkRow, by: End['by']): [RankLabel, RankLabel] =>
  by === 'rank' ? [row.source, row.destination] : [row.sourceHost, row.destinationHost];

function linksOf({ by, key }: End, direction: Direction, rows: readonly LinkRow[]): LinkRow[] {
  return rows.filter((row) => {
    const [from, to] = endsOf(row, by);
    return (direction !== 'in' && from === key) || (direction !== 'out' && to === key);
  });
}

/** `starved`: ranks whose proxy threads are. */
export function slowLinkCauses(evidence: CauseEvidence, starved: ReadonlySet<RankLabel>) {
  const { links, slowLinks } = evidence;
  const slow = [...slowLinks]
    .sort((a, b) => b.costNs - a.costNs)
    .map((one): Slow => ({ ...one, row: links[one.link]! }))
    .filter(({ row, by }) => !starved.has(row.source) && !(by === 'arrival' && starved.has(row.destination)));
  const thin = thinChannels(slow, evidence);
  const left = new Set(slow.filter(({ link }) => !thin.some((one) => one.links.includes(link))));
  const common = commonEnds(left, evidence);
  return [...thin, ...common, ...single(left, evidence)]
    .filter(({ costNs }) => costNs >= LEAST_SHARE * evidence.durationNs)
    .sort((a, b) => b.costNs - a.costNs)
    .map((one) => ({ ...one, says: `${linksText(one)}${costing(one.costNs)}${doubt(one)}` }));
}

function thinChannels(slow: readonly Slow[], evidence: CauseEvidence): SlowLinks[] {
  const channelOf = ({ commId, channel }: LinkRow): string => `${commId} ${channel}`;
  return [...new Set(slow.map(({ row }) => channelOf(row)))].flatMap((channel) => {
    const thin = slow.filter(({ row }) => channelOf(row) === channel);
    const isThin = thin.every(({ row }) => {
      const others = evidence.links.filter((one) => pairOf(one) === pairOf(row) && one !== row);
      // A channel that is slow, too, may stay just below the limit.
      const isQuick = (one: LinkRow): boolean => 2 * (one.meanNs ?? 0) <= (row.meanNs ?? Infinity);
      return (
        others.length > 0 && others.every((one) => isQuick(one) && !slow.some((found) => found.row === one))
      );
    });
    if (!isThin) return [];
    const sources = new Set(thin.map(({ row }) => row.source));
    const rank = sources.size === 1 ? thin[0]!.row.source : null;
    const about = described(thin, evidence, sources.size);
    return [{ ...about, cause: 'thin channel', rank, channel: thin[0]!.row.channel }];
  });
}

/** Removes the links that it explains from `left`. */
function commonEnds(left: Set<Slow>, evidence: CauseEvidence): SlowLinks[] {
  const causes: SlowLinks[] = [];
  const slowPairs = pairsOf([...left].map(({ row }) => row));
  const isWhole = (rows: readonly LinkRow[]): boolean => rows.every((row) => slowPairs.has(pairOf(row)));
  for (const by of ['host', 'rank'] as const) {
    // Within a host, all links have both ends on it.
    const links = evidence.links.filter((row) => by === 'rank' || row.sourceHost !== row.destinationHost);
    for (const direction of ['both', 'out', 'in'] as const)
      for (const key of new Set([...left].flatMap(({ row }) => endsOf(row, by)))) {
        const own = linksOf({ by, key }, direction, links);
        const pairs = pairsOf(own).size;
        const ranks = new Set(own.map((row) => (row.sourceHost === key ? row.source : row.destination)));
        if (pairs < 2 || (by === 'host' && ranks.size < 2) || !isWhole(own)) continue;
        // If all links of another end are slow, too, that end may also be the cause.
        const others = new Set(own.flatMap((row) => endsOf(row, by)).filter((end) => end !== key));
        const opposite = direction === 'out' ? 'in' : direction === 'in' ? 'out' : 'both';
        if ([...others].some((other) => isWhole(linksOf({ by, key: other }, opposite, links)))) continue;
        const found = [...left].filter(({ row }) => own.includes(row));
        if (found.length === 0) continue;
        for (const one of found) left.delete(one);
        const about = described(found, evidence, pairs);
        const isThread = by === 'rank' && direction === 'out' && !receives(key, evidence);
        causes.push(
          by === 'host'
            ? { ...about, cause: 'slow node', host: String(key) }
            : {
                ...{ ...about, cause: 'slow NIC', rank: key },
                cannotTell: isThread ? 'NIC or proxy thread' : null,
              },
        );
      }
  }
  return causes;
}

/** Only received data show how often a rank's proxy thread runs. */
const receives = (rank: RankLabel, { links }: CauseEvidence): boolean =>
  links.some(({ destination }) => destination === rank);

function single(left: ReadonlySet<Slow>, evidence: CauseEvidence): SlowLinks[] {
  return [...pairsOf([...left].map(({ row }) => row))].map((pair) => {
    const same = [...left].filter(({ row }) => pairOf(row) === pair);
    const { source } = same[0]!.row;
    const pairs = pairsOf(linksOf({ by: 'rank', key: source }, 'out', evidence.links)).size;
    const doubt = receives(source, evidence) ? 'link or NIC' : 'link, NIC or proxy thread';
    return {
      ...{ ...described(same, evidence, pairs), cause: 'slow link', rank: source },
      cannotTell: pairs === 1 ? doubt : null,
    };
  });
}

/** `all`: the costliest first. */
function described(
  all: readonly Slow[],
  { collectives }: CauseEvidence,
  pairs: number,
): Omit<SlowLinks, 'cause'> {
  const [{ row, ratio, by, costNs }] = all as [Slow];
  return {
    ...{ rank: null, host: row.sourceHost, ends: [row.source, row.destination], channel: null },
    links: all.map(({ link }) => link),
    slowPairs: pairsOf(all.map((one) => one.row)).size,
    ...{ pairs, ratio, by, costNs, cannotTell: null },
    transfers: all.reduce((sum, { transfers }) => sum + transfers, 0),
    view: longestOf(collectives, row.commId),
  };
}

function linksText({
  cause,
  rank,
  host,
  slowPairs,
  pairs,
  ratio,
  by,
  transfers,
  ends,
  channel,
}: SlowLinks): string {
  const what = by === 'send' ? 'sends' : 'transfers';
  const evidence = `${what} take ${timesText(ratio)} the usual time (${transfers} ${what})`;
  if (cause === 'slow node') return `All ${pairs} links of host ${host} to other hosts are slow: ${evidence}`;
  if (cause === 'slow NIC') return `All ${pairs} links of rank ${rank} are slow: ${evidence}`;
  if (cause === 'thin channel') {
    const where = rank === null ? `on ${slowPairs} links` : `from rank ${rank} to rank ${ends[1]}`;
    return `Channel ${channel} is thin ${where}, the other channels there are not: ${evidence}`;
  }
  const others = pairs > slowPairs ? `; rank ${rank}'s other links are not` : '';
  return `The link from rank ${rank} to rank ${ends[1]} is slow: ${evidence}${others}`;
}

function doubt({ cannotTell, rank }: SlowLinks): string {
  if (cannotTell === null) return '';
  const thread = ' or a proxy thread without CPU time';
  const what = { 'link or NIC': 'link or the NIC', 'NIC or proxy thread': `NIC${thread}` };
  return `. It is not known whether it is the ${
    cannotTell === 'link, NIC or proxy thread' ? `link, the NIC${thread}` : what[cannotTell]
  }, because rank ${rank} ${cannotTell === 'NIC or proxy thread' ? 'receives nothing' : 'sends over no other link'}`;
}
