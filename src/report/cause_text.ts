/** A cause of a slow run in one sentence: what happened, the evidence, and what is not known. The same for terminal, page, Markdown and JSON. */

import type { Cause } from '../analysis/causes.js';
import type { slowLinkCauses } from '../analysis/slow_link_causes.js';
import { durationText, timeOfDay } from '../base/duration.js';
import { binarySize } from '../base/units.js';
import { nameOrId } from '../runs/communicators.js';
import type { CallName, SlowSends } from '../verdict/types.js';
import { printable, timesText } from './text.js';
import { name } from './verdict_phrases.js';

type About<Rule extends Cause['rule']> = Extract<Cause, { readonly rule: Rule }>['about'];
type LinkCause = ReturnType<typeof slowLinkCauses>[number];

/** `traceStart`: ns since the Unix epoch. */
export function causeText(cause: Cause, traceStart: bigint): string {
  const { where, cost } = cause;
  const on = where ? `${printable(where.func)} on ${commText(where)}` : '';
  const costs = cost === null ? '' : `; costs at least ${durationText(cost)}`;
  switch (cause.rule) {
    case 'slower since': {
      const { factor, slowerKinds, kinds, before, after } = cause.about;
      const since = `${timeOfDay(traceStart, cause.since!)} (${durationText(cause.since!)} into the trace)`;
      return (
        `Collectives take ${factor} times as long since ${since}: ${slowerKinds} of ` +
        `${kinds} kinds of them, ${before} collectives before and ${after} after; costs ${durationText(cost!)}`
      );
    }
    case 'starved proxy thread':
      return `The proxy thread of rank ${cause.about.rank} gets too little CPU time: what arrived ${waitText(cause.about, 'the thread looks again')}${costs}`;
    case 'slow GPU':
      return (
        `The GPU of rank ${cause.about.rank} is slow: it waits for no data, and what it sends ${waitText(cause.about, 'it is filled in')}` +
        `${costs}. Whether its kernels are slow or begin late is not known`
      );
    case 'contention': {
      const { factor, together, alone, with: comm, withId: commId } = cause.about;
      return (
        `${on} takes ${factor} times as long while ${commText({ comm, commId })} is under way ` +
        `(${together} together, ${alone} alone)${costs}. Whether they share a wire or a GPU is not known`
      );
    }
    case 'unlike algorithm': {
      const { bytes, plan, usual, count, peers, factor } = cause.about;
      return (
        `${count} ${withSize(where!, bytes)} ran as ${printable(plan)}, ` +
        `${peers} others as ${printable(usual)}: they take ${timesText(factor)} the time${costs}`
      );
    }
    case 'slow group': {
      const { bytes, tookNs, usualNs, count, sisters } = cause.about;
      return (
        `${withSize(where!, bytes)} takes ${timesText(tookNs / usualNs)} as long as on ` +
        `${sisters} groups of its kind (${durationText(tookNs)}, there ${durationText(usualNs)}; ${count} calls)${costs}. ` +
        'Which of its ranks or links is the reason is not seen'
      );
    }
    case 'uneven AlltoAll':
      return `${on} is uneven: ${unevenText(cause.about)}`;
    default:
      return `${linksText(cause)}${costs}${doubtText(cause.about)}`;
  }
}

const commText = (of: Pick<CallName, 'comm'> & { readonly commId: string | null }): string =>
  printable(nameOrId({ ...of, commId: of.commId ?? '' }));

const withSize = (where: CallName, bytes: number | null): string =>
  `${printable(where.func)} of ${bytes === null ? 'the same size' : binarySize(bytes)} on ${commText(where)}`;

const waitText = (
  { waitNs, usualNs, transfers, like }: Pick<About<'slow GPU'>, 'waitNs' | 'usualNs' | 'transfers' | 'like'>,
  until: string,
): string =>
  `waits ${durationText(waitNs)} until ${until}, ${durationText(usualNs)} on ${like} other ranks (${transfers} transfers)`;

/** Also what may make that rank late. */
export const unevenText = ({ rank, receives, bytes, usual, calls }: About<'uneven AlltoAll'>): string =>
  `rank ${rank} ${receives ? 'receives' : 'sends'} ${binarySize(bytes)} in each of ${calls} calls, the others ` +
  (usual === 0 ? 'nothing' : `${binarySize(usual)} (${timesText(bytes / usual)})`);

function linksText({ rule, about }: LinkCause): string {
  const { rank, host, slowPairs, pairs, ratio, by, transfers, ends, channel } = about;
  const what = by === 'send' ? 'sends' : 'transfers';
  const evidence = `${what} take ${timesText(ratio)} the usual time (${transfers} ${what})`;
  if (rule === 'slow node') return `All ${pairs} links of host ${host} to other hosts are slow: ${evidence}`;
  if (rule === 'slow NIC') return `All ${pairs} links of rank ${rank} are slow: ${evidence}`;
  if (rule === 'thin channel') {
    const where = rank === null ? `on ${slowPairs} links` : `from rank ${rank} to rank ${ends[1]}`;
    return `Channel ${channel} is thin ${where}, the other channels there are not: ${evidence}`;
  }
  const others = pairs > slowPairs ? `; rank ${rank}'s other links are not` : '';
  return `The link from rank ${rank} to rank ${ends[1]} is slow: ${evidence}${others}`;
}

function doubtText({ cannotTell, rank }: LinkCause['about']): string {
  if (cannotTell === null) return '';
  const thread = ' or a proxy thread without CPU time';
  const what = { 'link or NIC': 'link or the NIC', 'NIC or proxy thread': `NIC${thread}` };
  return `. It is not known whether it is the ${
    cannotTell === 'link, NIC or proxy thread' ? `link, the NIC${thread}` : what[cannotTell]
  }, because rank ${rank} ${cannotTell === 'NIC or proxy thread' ? 'receives nothing' : 'sends over no other link'}`;
}

/** The same of a link that a verdict names, in the rest of a line. */
export function faultText({
  what,
  rank,
  host,
  pairs,
  ends,
  channel,
  cannotTell,
}: NonNullable<SlowSends['link']['fault']>): string {
  switch (what) {
    case 'starved proxy thread':
      return `the proxy thread of rank ${rank} gets too little CPU time`;
    case 'slow node':
      return `host ${name(host)}: all ${pairs} links are slow`;
    case 'slow NIC':
      return cannotTell === null
        ? `the NIC of rank ${rank}: all its ${pairs} links are slow`
        : `the NIC or a proxy thread: rank ${rank} receives nothing`;
    case 'thin channel':
      return `channel ${channel} alone: the other channels there are not slow`;
    case 'slow link':
      if (cannotTell === null) return `the link to rank ${ends[1]}: rank ${rank}'s other links are not slow`;
      return cannotTell === 'link or NIC'
        ? `the link or the NIC: rank ${rank} sends over no other link`
        : `the link, NIC or proxy thread: rank ${rank} has no other link`;
  }
}
