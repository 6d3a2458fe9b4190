/** Finds a rank whose slow links (cluster/link_faults.ts) cost so much that all ranks wait for it. */

import { maxOf } from '../base/extremes.js';
import { medianOf, quantile, sortedNumbers } from '../base/quantile.js';
import { hex64 } from '../base/hex.js';
import { MUCH_LONGER } from '../cluster/connections.js';
import type { LinkFault } from '../cluster/link_faults.js';
import type { SlowLink } from '../cluster/slow_links.js';
import type { ClusterComm, Collective } from '../cluster/collective_view.js';

import { collectiveName, type Case, type LongestSend } from './case.js';
import { found, type Found, type Rule } from './finding.js';
import { logChance } from './chance.js';
import { pausedIn } from './pauses.js';
import type { SlowSends } from './types.js';

/** A slow link costs at least this share of the communicator's observed time. */
const SHARE = 0.05;

/** ns: a shorter one may come from a busy machine, unless it stops again and again. */
const STOOD_STILL = 1e9;
/**
 * It is so many times as long as any other rank's longest send, or as all of any other connection's stops: else the machines are too busy to
 * show it. The collective is as many times as long as the others. A connection that is usually so many times as slow as others did not stand
 * still, but is slow.
 */
const STANDS_OUT = 4;
/** Equal connections stop so unequally in fewer runs. */
const IS_NO_CHANCE = Math.log(1 / 1000);

/** A connection that stood still once, or some again and again. If that cost little of the run, it is told beside another headline. */
export const stoodStill: Rule = (scene) =>
  scene.comms.flatMap((comm) => {
    const once = longestStop(comm, scene);
    return (once ? [once] : manyStops(comm, scene)).map((slow): Found => {
      const isCostly = slow.cost >= SHARE * slow.span;
      const about = { kind: 'slow', slow } as const;
      return found('stood still', about, {
        ...{ stands: false, isSure: true, kind: isCostly ? 'slow' : 'healthy' },
      });
    });
  });

const lengthOf = ({ end, lastArrival }: Collective): number => (end ?? lastArrival) - lastArrival;

const took = ({ from, to }: LongestSend): number => to - from;

/** The collective in which it was on the wire. When it began, other ranks may not have ended the collective before. */
const collectiveOf = ({ collectives }: ClusterComm, { from, to }: LongestSend): Collective | undefined =>
  collectives.find(
    ({ firstArrival, end }) => firstArrival <= (from + to) / 2 && end !== null && end > (from + to) / 2,
  );

const isSlowAlways = ({ medianNs }: LongestSend, alike: readonly LongestSend[]): boolean =>
  medianNs > STANDS_OUT * medianOf(alike.map((other) => other.medianNs));

function longestStop(comm: ClusterComm, { longestSends, ranks }: Case): SlowSends | null {
  const own = longestSends.filter(({ commId }) => commId === comm.commId);
  const [worst] = own.toSorted((a, b) => took(b) - took(a));
  if (!worst || took(worst) < Math.max(STOOD_STILL, MUCH_LONGER * worst.medianNs)) return null;
  const { file, peerFile, from, to, medianNs } = worst;
  const alike = own.filter(({ file: other }) => other !== file);
  const one = collectiveOf(comm, worst);
  const others = comm.collectives.filter((other) => other !== one && other.end !== null).map(lengthOf);
  const isOne =
    alike.every((other) => STANDS_OUT * took(other) < took(worst)) &&
    !isSlowAlways(worst, alike) &&
    2 * pausedIn([file, peerFile], from, to, ranks) < took(worst);
  if (!one || others.length === 0 || !isOne || lengthOf(one) < STANDS_OUT * medianOf(others)) return null;
  return stoppedSends(comm, one, worst, { sends: 1, ns: took(worst) }, took(worst) - medianNs, ranks);
}

/** Each stop may be short, but they are many, and nearly all on one link, or on a few of at least as many others. */
function manyStops(comm: ClusterComm, { longestSends, ranks }: Case): SlowSends[] {
  const own = longestSends.filter(({ commId }) => commId === comm.commId);
  const links = longestByLink(own);
  const nsOf = ({ stops }: LongestSend): number => stops.ns;
  const long = links.filter((one) => nsOf(one) > 0 && STANDS_OUT * nsOf(one) >= nsOf(links[0]!));
  const others = links.slice(long.length);
  const least = long.at(-1);
  if (!least || (long.length > 1 && others.length < long.length)) return [];
  const each = ({ stops: { sends, ns } }: LongestSend): number[] =>
    Array.from({ length: sends }, () => ns / sends);
  const count = new Set(own.map(({ file }) => file)).size;
  const chance = logChance(long.flatMap(each), others.flatMap(each), count, long.length / count);
  const isByChance = chance + (long.length - 1) * Math.log(count) > IS_NO_CHANCE;
  if (isByChance || others.some((other) => STANDS_OUT * nsOf(other) >= nsOf(least))) return [];
  const rest = own.filter(({ file }) => long.every((one) => one.file !== file));
  const lost = lostTime(comm) / long.reduce((sum, one) => sum + nsOf(one), 0);
  return long.flatMap((worst) => {
    const one = collectiveOf(comm, worst);
    const { medianNs, stops } = worst;
    const cost = Math.min(stops.ns - stops.sends * medianNs, lost * stops.ns);
    return one && !isSlowAlways(worst, rest) ? [stoppedSends(comm, one, worst, stops, cost, ranks)] : [];
  });
}

/** Of each link the channel whose stops are longest together, the longest first. On the others the same sends stand still. */
function longestByLink(sends: readonly LongestSend[]): LongestSend[] {
  const links = new Map<string, LongestSend>();
  for (const one of sends.toSorted((a, b) => a.stops.ns - b.stops.ns))
    links.set(`${one.file} ${one.peerFile}`, one);
  return [...links.values()].sort((a, b) => b.stops.ns - a.stops.ns);
}

/** ns: sends stand still at once, so no more is lost than the collectives took longer than the quickest tenth of them. */
function lostTime({ collectives }: ClusterComm): number {
  const lengths = collectives.slice(1).map(lengthOf);
  const usual = quantile(sortedNumbers(lengths), 0.1);
  return lengths.reduce((sum, length) => sum + Math.max(0, length - usual), 0);
}

function stoppedSends(
  comm: ClusterComm,
  one: Collective,
  { file, source, peerFile, channel, from, to, step, medianNs }: LongestSend,
  { sends, ns }: LongestSend['stops'],
  cost: number,
  ranks: Case['ranks'],
): SlowSends {
  const { collectives } = comm;
  const span =
    maxOf(collectives.map(({ end, lastArrival }) => end ?? lastArrival)) - collectives[0]!.firstArrival;
  return {
    ...sendsIn(comm, one, file, ranks),
    ...{ inComm: source, cost, span },
    ...(sends === 1 && { from, to }),
    link: {
      ...{ file, peerFile, channel, sends, medianNs: ns / sends, usualNs: medianNs, isOnlyOne: true },
      stopped: { step, times: sends },
      fault: null,
    },
  };
}

/** The rank of the slow link that costs most; null: none. */
export function slowestLink({ comms, linkFaults, ranks }: Case): SlowSends | null {
  const slow = linkFaults.flatMap((fault) =>
    fault.links.flatMap((link) => (link.by === 'send' ? [{ fault, link }] : [])),
  );
  for (const { fault, link } of slow.sort((a, b) => b.link.costNs - a.link.costNs)) {
    const comm = comms.find(({ commId }) => commId === link.times.commId);
    const whole = comm?.collectives.slice(1).filter(({ end }) => end !== null) ?? [];
    if (!comm || whole.length === 0) continue;
    const span = maxOf(whole.map(({ end }) => end!)) - whole[0]!.firstArrival;
    if (link.costNs < SHARE * span) continue;
    const pairs = slow.flatMap(({ link: { times } }) =>
      times.commId === comm.commId && [times.file, times.peerFile].includes(fault.file)
        ? [`${times.file} ${times.peerFile}`]
        : [],
    );
    return describe(link, fault, new Set(pairs).size === 1, comm, span, ranks);
  }
  return null;
}

function describe(
  { times, costNs, sends, medianNs, usualNs }: SlowLink,
  fault: LinkFault,
  isOnlyOne: boolean,
  comm: ClusterComm,
  span: number,
  ranks: Case['ranks'],
): SlowSends {
  const [file, inComm] =
    fault.file === times.peerFile ? [times.peerFile, times.destination] : [times.file, times.source];
  const [, second, ...more] = comm.collectives;
  const longest = more.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a), second!);
  const { what, rank, host, ends, pairs, channel, cannotTell } = fault;
  return {
    ...sendsIn(comm, longest, file, ranks),
    ...{ inComm, cost: costNs, span },
    link: {
      ...{ file: times.file, peerFile: times.peerFile, channel: times.channel },
      ...{ sends, medianNs, usualNs, isOnlyOne, stopped: null },
      fault: { what, rank, host, ends, pairs, channel, cannotTell },
    },
  };
}

/** `longest`: the collective that shows it. */
function sendsIn(
  comm: ClusterComm,
  longest: Collective,
  file: number,
  ranks: Case['ranks'],
): Omit<SlowSends, 'inComm' | 'cost' | 'span' | 'link'> {
  const { commId, name, nRanks, collectives } = comm;
  const { lastArrival: at, end } = longest;
  return {
    ...{ commId: hex64(commId), comm: name, nRanks, file, on: 'link' },
    ...{ from: collectives[0]!.firstArrival, to: end ?? at },
    worst: { ...collectiveName(comm, longest, file, ranks), at, by: lengthOf(longest) },
  };
}
