/** Each cause of slowness as a sentence: what happened, the evidence, and what is not known. */

import type {
  Cause,
  Contention,
  LongWait,
  SlowGroup,
  SlowerSince,
  SlowLinks,
  UnevenAllToAll,
  UnlikePlan,
} from '../analysis/cause_types.js';
import type { RunNumbers } from '../analysis/run_numbers.js';
import { binarySize } from '../base/units.js';
import { durationText } from '../base/duration.js';
import { distinctNames } from '../runs/communicators.js';
import type { Diagnosis, LinkCause, VerdictReport } from './diagnosed.js';
import { printable, timesText } from './text.js';
import { clockTime, name } from './verdict_phrases.js';

type Times = Pick<VerdictReport, 'traceStart'>;
type Named = Pick<Diagnosis, 'communicators'>;

export function causeText(cause: Cause, about: Times & Named): string {
  const costs = cause.costNs === null ? '' : `; costs at least ${durationText(cause.costNs)}`;
  switch (cause.cause) {
    case 'slower since':
      return slowerText(cause, about);
    case 'starved proxy thread':
      return `${threadText(cause)}${costs}`;
    case 'slow GPU':
      return `${gpuText(cause)}${costs}. Whether its kernels are slow or begin late is not known`;
    case 'contention':
      return `${contentionText(cause, namesIn(about))}${costs}. Whether they share a wire or a GPU is not known`;
    case 'unlike algorithm':
      return `${planText(cause, namesIn(about))}${costs}`;
    case 'slow group':
      return `${groupText(cause, namesIn(about))}${costs}. Which of its ranks or links is the reason is not seen`;
    case 'uneven AlltoAll':
      return `AlltoAll on ${namesIn(about)(cause.comm, cause.commId)} is uneven: ${unevenText(cause)}`;
    default:
      return `${linksText(cause)}${costs}${doubt(cause)}`;
  }
}

/** The cause that accuses the sender of a slow link, or both its ends; null if the numbers show none. */
export function linkCause(
  { causes, ranks }: Pick<RunNumbers, 'causes' | 'ranks'>,
  { file, peerFile }: { readonly file: number; readonly peerFile: number },
): LinkCause | null {
  const [rank, peer] = [ranks[file], ranks[peerFile]];
  const found = causes.flatMap((cause): LinkCause[] => {
    switch (cause.cause) {
      case 'starved proxy thread':
        return cause.rank === rank || cause.rank === peer
          ? [{ says: `the proxy thread of rank ${cause.rank} gets too little CPU time`, isSure: true }]
          : [];
      case 'slow node':
      case 'slow NIC':
      case 'thin channel':
      case 'slow link':
        return (cause.ends.includes(rank!) && cause.ends.includes(peer!)) ||
          cause.rank === rank ||
          cause.rank === peer
          ? [{ says: shortLinksText(cause), isSure: cause.cannotTell === null }]
          : [];
      default:
        return [];
    }
  });
  // A thread without CPU time makes the links of its rank slow.
  return found.find(({ says }) => says.startsWith('the proxy')) ?? found[0] ?? null;
}

function shortLinksText({ cause, rank, host, pairs, ends, channel, cannotTell }: SlowLinks): string {
  if (cause === 'slow node') return `host ${name(host ?? '')}: all ${pairs} links are slow`;
  if (cause === 'slow NIC') return `the NIC of rank ${rank}: all its ${pairs} links are slow`;
  if (cause === 'thin channel') return `channel ${channel} alone: the other channels there are not slow`;
  if (cannotTell === null) return `the link to rank ${ends[1]}: rank ${rank}'s other links are not slow`;
  if (cannotTell === 'link or NIC') return `the link or the NIC: rank ${rank} sends over no other link`;
  if (cannotTell === 'NIC or proxy thread') return `the NIC or a proxy thread: rank ${rank} receives nothing`;
  return `the link, NIC or proxy thread: rank ${rank} has no other link`;
}

const moment = (about: Times, at: number): string =>
  `${clockTime(about, at)} (${durationText(at)} into the trace)`;

const slowerText = (
  { sinceNs, factor, before, after, slowerKinds, kinds, costNs }: SlowerSince,
  about: Times,
): string =>
  `Collectives take ${factor} times as long since ${moment(about, sinceNs)}: ${slowerKinds} of ${kinds} kinds ` +
  `of them, ${before} collectives before and ${after} after; costs ${durationText(costNs ?? 0)}`;

const waitText = ({ waitNs, usualNs, transfers, like }: LongWait, until: string): string =>
  `waits ${durationText(waitNs)} until ${until}, ${durationText(usualNs)} on ${like} other ranks (${transfers} transfers)`;

const threadText = (cause: LongWait): string =>
  `The proxy thread of rank ${cause.rank} gets too little CPU time: what arrived ${waitText(cause, 'the thread looks again')}`;

const gpuText = (cause: LongWait): string =>
  `The GPU of rank ${cause.rank} is slow: it waits for no data, and what it sends ${waitText(cause, 'it is filled in')}`;

function namesIn({ communicators }: Named): (comm: string, commId: string) => string {
  const labels = distinctNames(communicators);
  return (comm, commId) => printable(labels.get(commId) ?? (comm || commId));
}

const contentionText = (
  { comm, commId, func, with: other, withId, factor, together, alone }: Contention,
  name: ReturnType<typeof namesIn>,
): string =>
  `${printable(func)} on ${name(comm, commId)} takes ${factor} times as long while ${name(other, withId)} is under way ` +
  `(${together} together, ${alone} alone)`;

const planText = (
  { func, bytes, comm, commId, plan, usual, count, peers, factor }: UnlikePlan,
  name: ReturnType<typeof namesIn>,
): string =>
  `${count} ${printable(func)} of ${bytes === null ? 'the same size' : binarySize(bytes)} on ${name(comm, commId)} ran as ` +
  `${printable(plan)}, ${peers} others as ${printable(usual)}: they take ${timesText(factor)} the time`;

const groupText = (
  { func, bytes, comm, commId, tookNs, usualNs, count, sisters }: SlowGroup,
  name: ReturnType<typeof namesIn>,
): string =>
  `${printable(func)} of ${bytes === null ? 'the same size' : binarySize(bytes)} on ${name(comm, commId)} takes ` +
  `${timesText(tookNs / usualNs)} as long as on ${sisters} groups of its kind (${durationText(tookNs)}, there ` +
  `${durationText(usualNs)}; ${count} calls)`;

/** Also what may make that rank late. */
export const unevenText = ({ rank, receives, bytes, usual, calls }: UnevenAllToAll): string =>
  `rank ${rank} ${receives ? 'receives' : 'sends'} ${binarySize(bytes)} in each of ${calls} calls, the others ` +
  (usual === 0 ? 'nothing' : `${binarySize(usual)} (${timesText(bytes / usual)})`);

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
