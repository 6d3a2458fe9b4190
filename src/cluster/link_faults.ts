/**
 * What slow links have in common: a proxy thread without CPU time, a channel, a NIC, a node, or nothing. Here it is judged which rank or link is
 * slow, once for the verdict and the causes of a report. A proxy thread without CPU time makes the sends of its rank long. If only one channel
 * of each slow pair is slow, that channel is thin. If a rank has several links and all are slow, its NIC is slow. If a host has several such
 * ranks, the node is slow. If a rank receives nothing, no record shows its thread.
 */

import type { RankLabel, RankLabels } from '../runs/rank_labels.js';
import type { Run } from '../runs/run.js';
import { isSender, linkKey, type Connection } from './connections.js';
import type { LongWait } from './long_waits.js';
import type { SlowLink } from './slow_links.js';

/** Both ends of a link, in the job. */
export interface LinkEnds {
  readonly source: RankLabel;
  readonly destination: RankLabel;
  readonly sourceHost: string;
  /** null: its file is not here. */
  readonly destinationHost: string | null;
}

export interface LinkFault {
  readonly what: 'starved proxy thread' | 'thin channel' | 'slow NIC' | 'slow node' | 'slow link';
  /** The file to look at. */
  readonly file: number;
  /** The rank that all its links have in common; null: a node, or none. */
  readonly rank: RankLabel;
  /** A slow node's name; else the host of the first link's sender. */
  readonly host: string;
  /** The slow links that it explains, the costliest first. Empty: a proxy thread whose rank has none. */
  readonly links: readonly SlowLink[];
  /** Sender and receiver of the first one. */
  readonly ends: readonly [RankLabel, RankLabel];
  /** Slow pairs of ranks, of all pairs with this rank or node as an end. */
  readonly slowPairs: number;
  readonly pairs: number;
  /** The channel that is thin; null: it is not about one channel. */
  readonly channel: number | null;
  /** What cannot be distinguished, because the sender has only one link, or receives nothing that would show its proxy thread. */
  readonly cannotTell: 'link or NIC' | 'NIC or proxy thread' | 'link, NIC or proxy thread' | null;
  /** ns: of its costliest link, or of the waits for the proxy thread. */
  readonly costNs: number;
  /** How long what arrived waits for the proxy thread; null: it is not starved. */
  readonly wait: LongWait | null;
}

/** A link that sent something. */
interface Sent extends LinkEnds {
  /** Key of its two ranks. */
  readonly pair: string;
  /** ns; null: no send was timed. */
  readonly meanNs: number | null;
}

type Slow = SlowLink & { readonly sent: Sent };
/** What a rank or host sends, receives, or both. */
type Direction = 'out' | 'in' | 'both';
interface End {
  readonly by: 'rank' | 'host';
  readonly key: RankLabel;
}

const pairsOf = (all: readonly Sent[]): Set<string> => new Set(all.map(({ pair }) => pair));
const endsOf = (link: LinkEnds, by: End['by']): [RankLabel, RankLabel] =>
  by === 'rank' ? [link.source, link.destination] : [link.sourceHost, link.destinationHost];

function linksOf({ by, key }: End, direction: Direction, links: readonly Sent[]): Sent[] {
  return links.filter((link) => {
    const [from, to] = endsOf(link, by);
    return (direction !== 'in' && from === key) || (direction !== 'out' && to === key);
  });
}

export const linkEnds = (
  {
    commId,
    source,
    destination,
    file,
    peerFile,
  }: Pick<Connection, 'commId' | 'source' | 'destination' | 'file' | 'peerFile'>,
  { members }: Run,
  labels: RankLabels,
): LinkEnds => ({
  source: labels.inComm(commId, source, file),
  destination: labels.inComm(commId, destination, peerFile),
  sourceHost: members[file]!.scan.header.hostName,
  destinationHost: peerFile === null ? null : members[peerFile]!.scan.header.hostName,
});

/** ns: mean time of a link's sends; null: none was timed. */
export function meanTime({ sizes, nsPerTick }: Pick<Connection, 'sizes' | 'nsPerTick'>): number | null {
  const timed = sizes.reduce((sum, { counts }) => sum + counts.total, 0);
  const total = sizes.reduce((sum, { sums }) => sum + sums.total, 0);
  return timed === 0 ? null : (total / timed) * nsPerTick;
}

function sentBy(end: Connection, run: Run, labels: RankLabels): Sent {
  const ends = linkEnds(end, run, labels);
  return { ...ends, pair: `${end.commId} ${ends.source} ${ends.destination}`, meanNs: meanTime(end) };
}

/** `starved`: proxy threads without CPU time. */
export function linkFaults(
  ends: readonly Connection[],
  found: readonly SlowLink[],
  starved: readonly LongWait[],
  run: Run,
  labels: RankLabels,
): LinkFault[] {
  const sent = new Map(ends.filter(isSender).map((end) => [linkKey(end), sentBy(end, run, labels)]));
  const all = [...sent.values()];
  // A link that is slow by both its times counts by its sends, which come first.
  const slow = new Map<Sent, Slow>();
  for (const one of found) {
    const link = sent.get(linkKey(one.times));
    if (link && !slow.has(link)) slow.set(link, { ...one, sent: link });
  }
  const left = new Set([...slow.values()].sort((a, b) => b.costNs - a.costNs));
  const threads = starved.map((wait) => starvedThread(wait, left, run, labels));
  const thin = thinChannels(left, all);
  return [...threads, ...thin, ...commonEnds(left, all), ...single(left, [...slow.values()], all)];
}

/** Removes the links that a fault explains, and returns them. */
function taken(left: Set<Slow>, isOf: (one: Slow) => boolean): readonly Slow[] {
  const own = [...left].filter(isOf);
  for (const one of own) left.delete(one);
  return own;
}

function starvedThread(wait: LongWait, left: Set<Slow>, run: Run, labels: RankLabels): LinkFault {
  const { file, costNs } = wait;
  const links = taken(
    left,
    ({ times, by }) => times.file === file || (by === 'arrival' && times.peerFile === file),
  );
  const rank = labels.ofFile(file);
  const about = links.length > 0 ? described(links, 0) : null;
  return {
    ...{ ends: [rank, rank], links, slowPairs: 0, pairs: 0, ...about },
    ...{ what: 'starved proxy thread', file, rank, host: run.members[file]!.scan.header.hostName },
    ...{ channel: null, cannotTell: null, costNs, wait },
  };
}

/** The channels that alone are slow, on each pair where they are. */
function thinChannels(left: Set<Slow>, all: readonly Sent[]): LinkFault[] {
  const slow = [...left];
  const channelOf = ({ times: { commId, channel } }: Slow): string => `${commId} ${channel}`;
  return [...new Set(slow.map(channelOf))].flatMap((channel): LinkFault[] => {
    const isOf = (one: Slow): boolean => channelOf(one) === channel;
    const thin = slow.filter(isOf);
    const isThin = thin.every(({ sent }) => {
      const others = all.filter((one) => one.pair === sent.pair && one !== sent);
      // A channel that is slow, too, may stay just below the limit.
      const isQuick = (one: Sent): boolean => 2 * (one.meanNs ?? 0) <= (sent.meanNs ?? Infinity);
      return (
        others.length > 0 && others.every((one) => isQuick(one) && !slow.some((found) => found.sent === one))
      );
    });
    if (!isThin) return [];
    const links = taken(left, isOf);
    const sources = new Set(links.map(({ sent }) => sent.source));
    const [{ sent, times }] = links as [Slow];
    const rank = sources.size === 1 ? sent.source : null;
    return [{ ...described(links, sources.size), what: 'thin channel', rank, channel: times.channel }];
  });
}

/** Hosts and ranks all of whose links are slow, or all in one direction. */
function commonEnds(left: Set<Slow>, all: readonly Sent[]): LinkFault[] {
  const faults: LinkFault[] = [];
  const slowPairs = pairsOf([...left].map(({ sent }) => sent));
  const isWhole = (links: readonly Sent[]): boolean => links.every(({ pair }) => slowPairs.has(pair));
  for (const by of ['host', 'rank'] as const) {
    // Within a host, all links have both ends on it.
    const links = all.filter((one) => by === 'rank' || one.sourceHost !== one.destinationHost);
    for (const direction of ['both', 'out', 'in'] as const)
      for (const key of new Set([...left].flatMap(({ sent }) => endsOf(sent, by)))) {
        const own = linksOf({ by, key }, direction, links);
        const pairs = pairsOf(own).size;
        const ranks = new Set(own.map((one) => (one.sourceHost === key ? one.source : one.destination)));
        if (pairs < 2 || (by === 'host' && ranks.size < 2) || !isWhole(own)) continue;
        // If all links of another end are slow, too, that end may also be the cause.
        const others = new Set(own.flatMap((one) => endsOf(one, by)).filter((end) => end !== key));
        const opposite = direction === 'out' ? 'in' : direction === 'in' ? 'out' : 'both';
        if ([...others].some((other) => isWhole(linksOf({ by, key: other }, opposite, links)))) continue;
        const found = taken(left, ({ sent }) => own.includes(sent));
        const [first] = found;
        if (!first) continue;
        const [source] = endsOf(first.sent, by);
        const file = source === key ? first.times.file : first.times.peerFile;
        const about = { ...described(found, pairs), file };
        const isThread = by === 'rank' && direction === 'out' && !receives(key, all);
        faults.push(
          by === 'host'
            ? { ...about, what: 'slow node', host: String(key) }
            : { ...about, what: 'slow NIC', rank: key, cannotTell: isThread ? 'NIC or proxy thread' : null },
        );
      }
  }
  return faults;
}

/** Only received data show how often a rank's proxy thread runs. */
const receives = (rank: RankLabel, all: readonly Sent[]): boolean =>
  all.some(({ destination }) => destination === rank);

/** The end at which more slow pairs end is looked at first. */
function single(left: ReadonlySet<Slow>, slow: readonly Slow[], all: readonly Sent[]): LinkFault[] {
  const pairsAt = (file: number, { commId }: Slow['times']): number =>
    pairsOf(
      slow
        .filter(({ times }) => times.commId === commId && (times.file === file || times.peerFile === file))
        .map(({ sent }) => sent),
    ).size;
  return [...pairsOf([...left].map(({ sent }) => sent))].map((pair): LinkFault => {
    const same = [...left].filter(({ sent }) => sent.pair === pair);
    const [{ sent, times }] = same as [Slow];
    const { source } = sent;
    const pairs = pairsOf(linksOf({ by: 'rank', key: source }, 'out', all)).size;
    const doubt = receives(source, all) ? 'link or NIC' : 'link, NIC or proxy thread';
    const isReceiver = pairsAt(times.peerFile, times) > pairsAt(times.file, times);
    return {
      ...{ ...described(same, pairs), what: 'slow link', rank: source },
      ...{ file: isReceiver ? times.peerFile : times.file, cannotTell: pairs === 1 ? doubt : null },
    };
  });
}

/** `links`: the costliest first. */
function described(links: readonly Slow[], pairs: number): Omit<LinkFault, 'what'> {
  const [{ sent, times, costNs }] = links as [Slow];
  return {
    ...{ file: times.file, rank: null, host: sent.sourceHost, links, ends: [sent.source, sent.destination] },
    ...{ slowPairs: pairsOf(links.map((one) => one.sent)).size, pairs, channel: null, cannotTell: null },
    ...{ costNs, wait: null },
  };
}
