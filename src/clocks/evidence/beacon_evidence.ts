/**
 * Makes pairs of stamps from beacons. Each exchange gives one pair per direction, independent of the application's traffic. The peer is
 * found by its counter, not by its rank, because any file of the same boot gives the counter's values a meaning.
 */

import { ticks } from '../../base/time.js';
import { toLocal, type ClockAxes, type ClockWitness } from '../domains.js';
import { counterName, missingPeerTime, type AxesWithPeers } from './missing_peers.js';
import type { Beacon } from '../../rankfile/types.js';

/** A scanned file's beacons. By file index, as the axes are. */
export interface BeaconSource {
  readonly header: ClockWitness['header'];
  readonly beacons: readonly Beacon[];
}

export interface BeaconCounts {
  /** Exchanges that were used. */
  exchanges: number;
  /** Exchanges whose peer's counter is in no file and was asked by one host only, or is in files that contradict each other. */
  peerUnknown: number;
  /** Their peer's times lie outside the run. */
  impossible: number;
}

/** A stamp before the cause and one after the effect; LocalNs of their domains. */
export type VisitBeacon = (from: number, sent: number, to: number, received: number) => void;

/** No peer answers longer than this before the first file of its boot begins, or after the run. */
const OUTSIDE_NS = 3600e9;

export function visitBeacons(
  sources: readonly BeaconSource[],
  axes: AxesWithPeers,
  visit: VisitBeacon,
): BeaconCounts {
  const counts: BeaconCounts = { exchanges: 0, peerUnknown: 0, impossible: 0 };
  const peers = peersByCounter(sources, axes);
  const longest = OUTSIDE_NS + spanOf(sources, axes);
  sources.forEach(({ beacons }, file) => {
    const own = axes.domainOf[file]!;
    const scale = axes.scales[file]!;
    for (const beacon of beacons) {
      const peer = peers.get(counterName(beacon.peerBootId, beacon.peerTickSource));
      if (peer === undefined) {
        counts.peerUnknown++;
        continue;
      }
      const other = peer.domain;
      if (other === own) continue; // one clock: nothing to learn
      const peerReceived = peer.time(beacon.peerReceived);
      const peerSent = peer.time(beacon.peerSent);
      if (peerReceived < -OUTSIDE_NS || peerSent > longest) {
        counts.impossible++;
        continue;
      }
      counts.exchanges++;
      visit(own, toLocal(scale, beacon.sent), other, peerReceived);
      visit(other, peerSent, own, toLocal(scale, beacon.received));
    }
  });
  return counts;
}

interface Peer {
  readonly domain: number;
  /** Converts a raw value of its counter to LocalNs of its domain. */
  readonly time: (raw: bigint) => number;
}

/** Counters: those with files (one domain each), and those without any file. */
function peersByCounter(sources: readonly BeaconSource[], axes: AxesWithPeers): Map<string, Peer> {
  const found = new Map<string, Peer>();
  for (const [name, peer] of axes.missing)
    found.set(name, { domain: peer.domain, time: (raw) => missingPeerTime(peer, raw) });
  for (const [name, file] of filesByCounter(sources, axes)) {
    const base = sources[file]!.header.tickBase;
    const scale = axes.scales[file]!;
    found.set(name, {
      domain: axes.domainOf[file]!,
      time: (raw) => toLocal(scale, ticks(Number(raw - base))),
    });
  }
  return found;
}

function filesByCounter(sources: readonly BeaconSource[], axes: ClockAxes): Map<string, number> {
  const peers = new Map<string, number>();
  const split = new Set<string>();
  sources.forEach(({ header }, file) => {
    const name = counterName(header.process.bootId, header.tickSource);
    const known = peers.get(name);
    if (known === undefined) peers.set(name, file);
    else if (axes.domainOf[known] !== axes.domainOf[file]) split.add(name);
  });
  for (const name of split) peers.delete(name);
  return peers;
}

function spanOf(sources: readonly BeaconSource[], axes: ClockAxes): number {
  let last = 0;
  sources.forEach(({ beacons }, file) => {
    for (const { received } of beacons) last = Math.max(last, toLocal(axes.scales[file]!, received));
  });
  return last;
}
