/** An AlltoAll of sends and receives as one slice above the ranks, from the first rank's call to the last one's end. */

import { foldRanks } from '../../base/ranks.js';
import { append, maxOf } from '../../base/extremes.js';
import type { TraceNs } from '../../base/time.js';
import type { ClusterComm } from '../../cluster/collective_view.js';
import { type Exchange, type ExchangePart, lastOf } from '../../cluster/exchanges.js';
import { type ClusterLabels, commArgs, numberOr, type Operation } from './cluster_operation.js';
import type { ArgValue } from './sink.js';

type Comm = Omit<ClusterComm, 'collectives'>;

export function exchangeOperation(exchange: Exchange, comm: Comm, labels: ClusterLabels): Operation {
  const { start, call } = exchange;
  const { open, end } = outcomeOf(exchange, labels);
  const isOpen = open.length > 0;
  return {
    ...{ from: start, until: isOpen ? null : untilOf(exchange, end), func: 'AlltoAll', number: call },
    name: isOpen ? `AlltoAll ${call}` : end === null ? 'AlltoAll enqueued' : 'AlltoAll',
    args: () => argsOf(exchange, comm, labels),
    isWanted: ({ seq }) => seq < 0 && isOpen,
  };
}

/** If all others ended it, it did not stay open on a rank whose file ends early. */
function outcomeOf({ parts }: Exchange, { isSilent }: ClusterLabels) {
  const open = parts.filter(({ state }) => state === 'open');
  const others = parts.filter(({ state }) => state !== 'open');
  const end = others.some((part) => part.end === null)
    ? null
    : (maxOf(others.map((part) => part.end!)) as TraceNs);
  const isCut = end !== null && others.length > 0 && open.every(({ file }) => isSilent(file));
  return { open: isCut ? [] : open, cutOff: isCut ? open : [], end: others.length > 0 ? end : null };
}

/** Never before the start, even if the clocks are wrong. */
function untilOf({ parts, start }: Exchange, end: TraceNs | null): TraceNs {
  const enqueued = parts.map((part) => part.enqueued).filter((at) => !Number.isNaN(at));
  return maxOf([end ?? maxOf(enqueued, start)], start) as TraceNs;
}

function argsOf(exchange: Exchange, comm: Comm, labels: ClusterLabels): [string, ArgValue][] {
  const { call, parts, bytes, most, mostWay, mostBytes, usualBytes } = exchange;
  const { open, cutOff, end } = outcomeOf(exchange, labels);
  const rankOf = ({ file, rank }: ExchangePart): string => labels.rankOf(file, rank, comm.commId);
  const ranks = (of: readonly ExchangePart[]): string => of.map(rankOf).join(',');
  const args = commArgs(comm);
  args.push(['call', call], ['callers', parts.length], ['bytes', bytes]);
  args.push(['mostRank', numberOr(rankOf(most))], ['most', mostWay]);
  args.push(['mostBytes', mostBytes], ['usualBytes', usualBytes]);
  if (usualBytes > 0) args.push(['imbalance', Number((mostBytes / usualBytes).toPrecision(3))]);
  if (open.length > 0) args.push(['open', ranks(open)]);
  if (cutOff.length > 0) args.push(['notRecorded', ranks(cutOff)]);
  const aborted = parts.filter(({ state }) => state === 'aborted');
  if (aborted.length > 0) args.push(['aborted', ranks(aborted)]);
  const seen = new Set(parts.map(({ rank }) => rank));
  const unseen = Array.from({ length: comm.nRanks }, (_, rank) => rank).filter((rank) => !seen.has(rank));
  if (unseen.length > 0) args.push(['notSeen', foldRanks(unseen)]);
  append(args, lastArgs(exchange, comm, labels, rankOf));
  if (open.length === 0 && end === null) args.push(['completion', 'enqueued, completion not recorded']);
  return args;
}

/** No rank is called the last if the clocks of two hosts may be further apart than their ends. */
function lastArgs(
  exchange: Exchange,
  { nRanks, files }: Comm,
  { comparable, clockBound }: ClusterLabels,
  rankOf: (part: ExchangePart) => string,
): [string, ArgValue][] {
  const found = lastOf(exchange, nRanks);
  if (found === null) return [];
  const { last, before, by, isByBytes } = found;
  const bound = comparable(files) ? clockBound(before.file, last.file, last.end) : Infinity;
  if (bound > 0 && by <= bound)
    return [
      ['last', Number.isFinite(bound) ? 'below what the clocks can tell' : 'not known: several clocks'],
    ];
  const args: [string, ArgValue][] = [
    ['lastRank', numberOr(rankOf(last))],
    ['lastByNs', by],
  ];
  if (bound > 0) args.push(['lastBoundNs', Math.ceil(bound)]);
  args.push(['last', isByBytes ? `${exchange.mostWay} most` : 'not because of its bytes']);
  return args;
}
