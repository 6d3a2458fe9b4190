/**
 * The bandwidth that a communicator's network would allow. It is compared with the bus bandwidth. There are two such rates: that of the
 * communicator's best link, and that which the user states for the hosts' NICs (`--peak`). The bus bandwidth is the rate out of each node,
 * so both are rates out of a node. A node is a host, or a rank if the communicator's links do not leave a host. Both are upper bounds,
 * because channels may share a wire, and a ring may not use all NICs of a host.
 */

import { UsageError } from '../base/errors.js';
import { minOf } from '../base/extremes.js';
import { addTo, entryOf } from '../base/grouped.js';
import { hint } from '../base/nearest.js';
import type { CollectiveGroup } from './collectives.js';
import type { LinkRow } from './link_rows.js';

/** GB/s that all NICs of a host together send. */
export interface Peaks {
  /** null: only for the named hosts. */
  readonly all: number | null;
  readonly byHost: ReadonlyMap<string, number>;
}

export interface AllowedRate {
  /** The best link's rate, times the number of channels of the node with the fewest. null: no link has a fitted line. */
  readonly linksAllowGBs: number | null;
  /** null: not given, or the communicator does not use the network. */
  readonly peakGBs: number | null;
  /** The median bus bandwidth against the smaller of the two. */
  readonly achieved: number | null;
}

/** A fitted line that explains less of the variance shows little about the rate. */
const LEAST_R2 = 0.9;

export function withAllowedRates<Group extends Pick<CollectiveGroup, 'commId' | 'busbwGBs'>>(
  groups: readonly Group[],
  links: readonly LinkRow[],
  peaks: Peaks | null,
): (Group & AllowedRate)[] {
  const byComm = new Map<string, LinkRow[]>();
  for (const link of links) addTo(byComm, link.commId, link);
  const allowed = new Map([...byComm].map(([commId, own]) => [commId, allowedBy(own, peaks)]));
  return groups.map((group) => {
    const { linksAllowGBs = null, peakGBs = null } = allowed.get(group.commId) ?? {};
    const least = Math.min(linksAllowGBs ?? Infinity, peakGBs ?? Infinity);
    const isKnown = group.busbwGBs !== null && Number.isFinite(least);
    const achieved = isKnown ? Number((group.busbwGBs / least).toPrecision(3)) : null;
    return { ...group, linksAllowGBs, peakGBs, achieved };
  });
}

function allowedBy(links: readonly LinkRow[], peaks: Peaks | null): Omit<AllowedRate, 'achieved'> {
  const across = links.filter(
    ({ sourceHost, destinationHost }) => destinationHost !== null && sourceHost !== destinationHost,
  );
  const used = across.length > 0 ? across : links;
  const channels = new Map<unknown, Set<number | null>>();
  for (const { sourceHost, source, channel } of used) {
    const node = across.length > 0 ? sourceHost : source;
    entryOf(channels, node, () => new Set()).add(channel);
  }
  const fewest = minOf([...channels.values()].map(({ size }) => size));
  const rates = used.flatMap(({ least }) => (least && least.r2 >= LEAST_R2 ? (least.rateGBs ?? []) : []));
  const best = rates.reduce((most, rate) => Math.max(most, rate), 0);
  const hosts = [...new Set(across.map(({ sourceHost }) => sourceHost))];
  const known = hosts.flatMap((host) => peaks?.byHost.get(host) ?? peaks?.all ?? []);
  return {
    linksAllowGBs: best === 0 ? null : Number((best * fewest).toPrecision(3)),
    // If one host's rate is not known, it may be the smallest.
    peakGBs: known.length === 0 || known.length < hosts.length ? null : minOf(known),
  };
}

/** Hosts are named as in the files, or by their aliases with `--redact`. Throws UsageError for a host that the run does not have. */
export function checkedPeaks(
  peaks: Peaks | undefined,
  hosts: readonly string[],
  aliases: ReadonlyMap<string, string> | null,
): Peaks | null {
  if (peaks === undefined) return null;
  const known = new Set(hosts);
  const byHost = [...peaks.byHost].map(([host, rate]) => {
    const shown = aliases === null ? host : (aliases.get(host) ?? '');
    if (!known.has(shown))
      throw new UsageError(`--peak: no host ${host} in this run${aliases === null ? hint(host, hosts) : ''}`);
    return [shown, rate] as const;
  });
  return { all: peaks.all, byHost: new Map(byHost) };
}
