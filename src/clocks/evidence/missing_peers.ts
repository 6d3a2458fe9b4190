/**
 * Counters without a file that several hosts asked for the time, for example rank 0's counter if its file is missing. All these hosts
 * compared themselves with the same counter. So it is a clock of its own in the evidence, but it is not drawn.
 */

import type { ClockAxes } from '../domains.js';
import { toLocal } from '../domains.js';
import { MAX_RATE } from '../arc_limit.js';
import { median } from '../../base/median.js';
import { ticks } from '../../base/time.js';
import type { Beacon } from '../../rankfile/types.js';

/** A scanned file's beacons, and the counter that it reads. By file index, as the axes are. */
export interface Asking {
  readonly header: {
    readonly process: { readonly bootId: string };
    readonly tickSource: string;
  };
  readonly beacons: readonly Beacon[];
}

/** A raw value of the counter is at LocalNs (raw - base) * nsPerTick of its domain. */
export interface MissingPeer {
  readonly domain: number;
  readonly base: bigint;
  readonly nsPerTick: number;
}

export interface AxesWithPeers extends ClockAxes {
  /** By counter (`counterName`); their domains come after those of files. */
  readonly missing: ReadonlyMap<string, MissingPeer>;
}

export const counterName = (bootId: string, tickSource: string): string => `${bootId} ${tickSource}`;

interface Question {
  readonly file: number;
  readonly beacon: Beacon;
}

export function withMissingPeers(sources: readonly Asking[], axes: ClockAxes): AxesWithPeers {
  const known = new Set(sources.map(({ header }) => counterName(header.process.bootId, header.tickSource)));
  const asked = new Map<string, Question[]>();
  sources.forEach(({ beacons }, file) => {
    for (const beacon of beacons) {
      const name = counterName(beacon.peerBootId, beacon.peerTickSource);
      if (known.has(name)) continue;
      const questions = asked.get(name);
      if (questions) questions.push({ file, beacon });
      else asked.set(name, [{ file, beacon }]);
    }
  });
  const missing = new Map<string, MissingPeer>();
  const coarse = [...axes.coarse];
  const names = [...axes.names];
  for (const [name, questions] of asked) {
    // A counter that only one host asked relates no hosts.
    if (new Set(questions.map(({ file }) => axes.domainOf[file])).size < 2) continue;
    const { base, nsPerTick, ahead } = peerScale(questions, axes);
    missing.set(name, { domain: names.length, base, nsPerTick });
    coarse.push(ahead);
    names.push(name);
  }
  return { ...axes, coarse, names, missing };
}

/** By the file with most questions; `ahead`: LocalNs of the counter + this is the coarse axis. */
function peerScale(questions: readonly Question[], axes: ClockAxes) {
  const counts = new Map<number, number>();
  for (const { file } of questions) counts.set(file, (counts.get(file) ?? 0) + 1);
  const [asker] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
  const own = questions.filter(({ file }) => file === asker).map(({ beacon }) => beacon);
  const base = own.reduce(
    (least, { peerReceived }) => (peerReceived < least ? peerReceived : least),
    own[0]!.peerReceived,
  );
  const scale = axes.scales[asker]!;
  const middles = own.map(({ sent, received, peerReceived, peerSent }) => ({
    local: (toLocal(scale, sent) + toLocal(scale, received)) / 2,
    peer: (Number(peerReceived - base) + Number(peerSent - base)) / 2,
    trip: toLocal(scale, received) - toLocal(scale, sent),
  }));
  const quick = median(middles.map(({ trip }) => trip))!;
  const clear = middles.filter(({ trip }) => trip <= quick);
  const first = clear.reduce((a, b) => (b.local < a.local ? b : a));
  const last = clear.reduce((a, b) => (b.local > a.local ? b : a));
  const seen = (last.local - first.local) / (last.peer - first.peer);
  const unsure = (first.trip + last.trip) / (last.local - first.local) + MAX_RATE;
  // Hosts of one job are alike, so without other evidence the peer's counter is assumed to run at the asker's nominal rate.
  const isAlike = !(Math.abs(seen / scale.nsPerTick - 1) > unsure);
  const nsPerTick = isAlike ? scale.nsPerTick : seen;
  const ahead = first.local - first.peer * nsPerTick + axes.coarse[axes.domainOf[asker]!]!;
  return { base, nsPerTick, ahead };
}

export const missingPeerTime = ({ base, nsPerTick }: MissingPeer, raw: bigint): number =>
  ticks(Number(raw - base)) * nsPerTick;
