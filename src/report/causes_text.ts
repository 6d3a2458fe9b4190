/** Each cause of slowness as a sentence: what, its evidence, and what is not known. */

import type {
  Cause,
  Contention,
  LateRank,
  SlowerSince,
  SlowGpu,
  SlowLinks,
} from '../analysis/cause_types.js';
import { durationText } from '../base/duration.js';
import { printable } from './text.js';
import { clockTime, type VerdictReport } from './verdict_phrases.js';

type Times = Pick<VerdictReport, 'traceStart'>;

export function causeText(cause: Cause, about: Times): string {
  const costs = cause.costNs === null ? '' : `; costs at least ${durationText(cause.costNs)}`;
  switch (cause.cause) {
    case 'slower since':
      return slowerText(cause, about);
    case 'late rank':
      return `${lateText(cause, about)}${costs}`;
    case 'slow GPU':
      return `${gpuText(cause)}${costs}`;
    case 'contention':
      return `${contentionText(cause)}${costs}. Whether they share a wire or a GPU is not known`;
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

const gpuText = ({ rank, waitNs, usualNs, transfers, like }: SlowGpu): string =>
  `The GPU of rank ${rank} is slow: what arrives waits ${durationText(waitNs)} until it is taken, ` +
  `${durationText(usualNs)} on ${like} other ranks (${transfers} transfers)`;

const contentionText = ({
  comm,
  commId,
  func,
  with: other,
  withId,
  factor,
  together,
  alone,
}: Contention): string =>
  `${printable(func)} on ${printable(comm || commId)} takes ${factor} times as long while ${printable(other || withId)} is under way ` +
  `(${together} together, ${alone} alone)`;

function linksText({
  cause,
  rank,
  host,
  slowPairs,
  pairs,
  ratio,
  transfers,
  ends,
  channel,
}: SlowLinks): string {
  const evidence = `sends take up to ${Number(ratio.toPrecision(2))} times the usual time (${transfers} sends)`;
  if (cause === 'slow node') return `All ${pairs} links of host ${host} to other hosts are slow: ${evidence}`;
  if (cause === 'slow NIC') return `All ${pairs} links of rank ${rank} are slow: ${evidence}`;
  if (cause === 'thin channel') {
    const where = rank === null ? `on ${slowPairs} links` : `from rank ${rank} to rank ${ends[1]}`;
    return `Channel ${channel} is thin ${where}, the other channels there are not: ${evidence}`;
  }
  const others = pairs > slowPairs ? `; rank ${rank}'s other links are not` : '';
  return `The link from rank ${rank} to rank ${ends[1]} is slow: ${evidence}${others}`;
}

const doubt = ({ cannotTell, rank }: SlowLinks): string =>
  cannotTell === null
    ? ''
    : cannotTell === 'NIC or proxy thread'
      ? `. It is not known whether it is the NIC or a proxy thread without processor time, because only what rank ${rank} sends is slow`
      : `. It is not known whether it is the link, the NIC or a proxy thread without processor time, because rank ${rank} sends over no other link`;
