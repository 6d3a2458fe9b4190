/** Each cause of slowness as a sentence: what happened, the evidence, and what is not known. */

import type {
  Cause,
  Contention,
  LateRank,
  SlowerSince,
  SlowGpu,
  SlowLinks,
  StarvedThread,
  UnlikePlan,
} from '../analysis/cause_types.js';
import { binarySize } from '../base/units.js';
import { durationText } from '../base/duration.js';
import { distinctNames } from '../runs/communicators.js';
import type { Diagnosis } from './diagnosis.js';
import { printable, timesText } from './text.js';
import { clockTime, type VerdictReport } from './verdict_phrases.js';

type Times = Pick<VerdictReport, 'traceStart'>;
type Named = Pick<Diagnosis, 'communicators'>;

export function causeText(cause: Cause, about: Times & Named): string {
  const costs = cause.costNs === null ? '' : `; costs at least ${durationText(cause.costNs)}`;
  switch (cause.cause) {
    case 'slower since':
      return slowerText(cause, about);
    case 'late rank':
      return `${lateText(cause, about)}${costs}`;
    case 'starved proxy thread':
      return `${threadText(cause)}${costs}`;
    case 'slow GPU':
      return `${gpuText(cause)}${costs}${cause.side === 'consumes' ? '' : '. Whether its kernels are slow or begin late is not known'}`;
    case 'contention':
      return `${contentionText(cause, namesIn(about))}${costs}. Whether they share a wire or a GPU is not known`;
    case 'unlike algorithm':
      return `${planText(cause, namesIn(about))}${costs}`;
    default:
      return `${linksText(cause)}${costs}${doubt(cause)}`;
  }
}

const moment = (about: Times, at: number): string =>
  `${clockTime(about, at)} (${durationText(at)} into the trace)`;

const slowerText = (
  { sinceNs, factor, before, after, slowerKinds, kinds, costNs }: SlowerSince,
  about: Times,
): string =>
  `Collectives take ${factor} times as long since ${moment(about, sinceNs)}: ${slowerKinds} of ${kinds} kinds ` +
  `of them, ${before} collectives before and ${after} after; costs ${durationText(costNs ?? 0)}`;

function lateText({ rank, on, when, fromNs, toNs, late, of }: LateRank, about: Times): string {
  const [from, to] = [moment(about, fromNs), moment(about, toNs)];
  const times = { always: '', since: ` since ${from}`, until: ` until ${to}`, once: ` once, at ${from}` };
  const time = when === 'between' ? ` from ${from} to ${to}` : times[when];
  const where = on === 'host' ? 'it calls last' : 'its GPU begins last';
  return `Rank ${rank} is late${time}: ${where} in ${late} of ${of} collectives`;
}

const threadText = ({ rank, waitNs, usualNs, transfers, like }: StarvedThread): string =>
  `The proxy thread of rank ${rank} gets too little CPU time: what arrived waits ${durationText(waitNs)} until the thread looks again, ` +
  `${durationText(usualNs)} on ${like} other ranks (${transfers} transfers)`;

function gpuText({ rank, side, waitNs, usualNs, transfers, like }: SlowGpu): string {
  const what = side === 'consumes' ? 'what arrives waits' : 'it waits for no data, and what it sends waits';
  const until = side === 'consumes' ? 'until it is taken' : 'until it is filled in';
  return (
    `The GPU of rank ${rank} is slow: ${what} ${durationText(waitNs)} ${until}, ` +
    `${durationText(usualNs)} on ${like} other ranks (${transfers} transfers)`
  );
}

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
