/** What slow links have in common: a channel, a NIC, a node, or nothing. */

import { around, type CauseEvidence, type SlowLinks } from './cause_types.js';
import type { CollectiveRow } from './collectives.js';
import type { RankLabel } from './rank_labels.js';
import type { LinkRow } from './transfers.js';

/**
 * If only one channel of each slow pair is slow, that channel is thin. If all links of a rank are slow and it has several, its NIC is slow. If
 * a host has several such ranks, the node is. If only what a rank sends is slow, its proxy thread may be starved instead. Latency and rate do not tell
 * these apart: on a busy wire sends queue, and their times no longer depend on their sizes.
 */
export function slowLinkCauses({ links, slowLinks, collectives }: CauseEvidence): SlowLinks[] {
  const slow = slowLinks.map((one) => ({ ...one, row: links[one.link]! }));
  const pairOf = ({ commId, source, destination }: LinkRow): string => `${commId} ${source} ${destination}`;
  const slowPairs = new Set<string>();
  const ends = (row: LinkRow, by: 'rank' | 'host'): (RankLabel | null)[] =>
    by === 'rank' ? [row.source, row.destination] : [row.sourceHost, row.destinationHost];
  const left = new Set(slow);
  const causes: SlowLinks[] = [];
  const add = (
    cause: SlowLinks['cause'],
    key: RankLabel,
    all: typeof slow,
    pairCount: number,
    cannotTell: SlowLinks['cannotTell'] = null,
  ): void => {
    for (const one of all) left.delete(one);
    const [first] = all as [(typeof slow)[number]];
    const longest = collectives
      .filter(({ commId, durationNs }) => commId === first.row.commId && durationNs !== null)
      .reduce<CollectiveRow | null>((a, b) => (a === null || b.durationNs! > a.durationNs! ? b : a), null);
    causes.push({
      cause,
      rank: cause === 'slow node' ? null : key,
      host: cause === 'slow node' ? String(key) : first.row.sourceHost,
      ends: [first.row.source, first.row.destination],
      links: all.map(({ link }) => link),
      channel: cause === 'thin channel' ? first.row.channel : null,
      slowPairs: new Set(all.map(({ row }) => pairOf(row))).size,
      pairs: pairCount,
      ratio: all.reduce((most, { ratio }) => Math.max(most, ratio), 0),
      transfers: all.reduce((sum, { transfers }) => sum + transfers, 0),
      costNs: all.reduce((most, { costNs }) => Math.max(most, costNs), 0),
      cannotTell,
      view: longest ? around(longest.startNs + longest.durationNs! / 2, longest.durationNs!) : [0, 0],
    });
  };
  for (const channel of new Set(slow.map(({ row }) => `${row.commId} ${row.channel}`))) {
    const thin = slow.filter(({ row }) => `${row.commId} ${row.channel}` === channel);
    const isThin = thin.every(({ row }) => {
      const others = links.filter((one) => pairOf(one) === pairOf(row) && one.channel !== row.channel);
      return others.length > 0 && !slow.some((one) => others.includes(one.row));
    });
    const sources = new Set(thin.map(({ row }) => row.source));
    if (isThin) add('thin channel', sources.size === 1 ? [...sources][0]! : null, thin, sources.size);
  }
  for (const { row } of left) slowPairs.add(pairOf(row));
  const among = (
    by: 'rank' | 'host',
    direction: 0 | 1 | null,
    key: RankLabel,
    rows: readonly LinkRow[],
  ): LinkRow[] =>
    rows.filter((row) =>
      direction === null ? ends(row, by).includes(key) : ends(row, by)[direction] === key,
    );
  const isWhole = (
    by: 'rank' | 'host',
    direction: 0 | 1 | null,
    key: RankLabel,
    rows: readonly LinkRow[],
  ): boolean => among(by, direction, key, rows).every((row) => slowPairs.has(pairOf(row)));
  for (const [cause, by] of [
    ['slow node', 'host'],
    ['slow NIC', 'rank'],
  ] as const)
    for (const direction of [null, 0, 1] as const)
      for (const key of new Set([...left].flatMap(({ row }) => ends(row, by)))) {
        // Within a host, all links have both ends on it.
        const all = by === 'rank' ? links : links.filter((row) => row.sourceHost !== row.destinationHost);
        const own = among(by, direction, key, all);
        const ownPairs = new Set(own.map(pairOf));
        const ranks = new Set(own.map((row) => (row.sourceHost === key ? row.source : row.destination)));
        if (ownPairs.size < 2 || (by === 'host' && ranks.size < 2) || !isWhole(by, direction, key, all))
          continue;
        // If all links of an other end are slow, too, it may as well be at fault.
        const others = new Set(own.flatMap((row) => ends(row, by)).filter((end) => end !== key));
        const opposite = direction === null ? null : direction === 0 ? 1 : 0;
        if ([...others].some((other) => isWhole(by, opposite, other, all))) continue;
        const found = [...left].filter(({ row }) => own.includes(row));
        const doubt = cause === 'slow NIC' && direction === 0 ? 'NIC or proxy thread' : null;
        if (found.length > 0) add(cause, key, found, ownPairs.size, doubt);
      }
  for (const one of [...left]) {
    if (!left.has(one)) continue;
    const same = [...left].filter(({ row }) => pairOf(row) === pairOf(one.row));
    const own = new Set(among('rank', 0, one.row.source, links).map(pairOf)).size;
    add('slow link', one.row.source, same, own, own === 1 ? 'link, NIC or proxy thread' : null);
  }
  return causes.sort((a, b) => b.costNs! - a.costNs!);
}
