/**
 * One connection whose sends take ten times as long as the communicator's others, so all ranks wait for it. Medians are compared, because a
 * few long sends or one slow link do not move them. A rank at one end of most slow links has a slow NIC.
 */

import { maxOf } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import type { ClusterComm } from '../cluster/types.js';
import type { Case } from './case.js';
import type { LinkTimes, Slowness } from './types.js';

/** Times the median of at least these others, over these sends. */
const RATIO = 10;
const FEWEST_LIKE = 2;
const FEWEST_SENDS = 16;
/** At most this many sends of a connection are on the wire at once (NCCL's steps in flight): its least cost is its time divided by this. */
const IN_FLIGHT = 8;
/** Of the communicator's observed time. */
const SHARE = 0.05;

interface SlowLink extends LinkTimes {
  readonly usualNs: number;
  readonly cost: number;
}

/** The rank that costs most; null: none. */
export function slowestLink({ comms, links, ranks }: Case): Slowness | null {
  const found = comms.flatMap((comm): Slowness[] => {
    const own = links.filter(({ commId }) => commId === comm.commId);
    const whole = comm.collectives.slice(1).filter(({ end }) => end !== null);
    const slow = own.flatMap((link) => slowLink(link, own) ?? []);
    if (slow.length === 0 || whole.length === 0) return [];
    const span = maxOf(whole.map(({ end }) => end!)) - whole[0]!.firstArrival;
    const worst = slow.reduce((a, b) => (b.cost > a.cost ? b : a));
    return worst.cost >= SHARE * span ? [describe(worst, slow, comm, span, ranks)] : [];
  });
  return found.reduce<Slowness | null>((a, b) => (a === null || b.cost > a.cost ? b : a), null);
}

function slowLink(link: LinkTimes, own: readonly LinkTimes[]): SlowLink | null {
  const like = own.filter(
    (one) =>
      one.isWithinHost === link.isWithinHost &&
      (one.file !== link.file || one.peer !== link.peer) &&
      one.sends >= FEWEST_SENDS,
  );
  if (link.sends < FEWEST_SENDS || like.length < FEWEST_LIKE) return null;
  const usualNs = like.map(({ medianNs }) => medianNs).sort((a, b) => a - b)[like.length >> 1]!;
  if (link.medianNs < RATIO * usualNs) return null;
  return { ...link, usualNs, cost: (link.sends * (link.medianNs - usualNs)) / IN_FLIGHT };
}

function describe(
  worst: SlowLink,
  slow: readonly SlowLink[],
  { commId, name, nRanks, collectives }: ClusterComm,
  span: number,
  ranks: Case['ranks'],
): Slowness {
  // As sender or receiver. Over several connections only one rank can be an end of all.
  const linksOf = (file: number): number =>
    new Set(
      slow.flatMap((one) =>
        one.file === file || one.peerFile === file ? [`${one.file} ${one.peerFile}`] : [],
      ),
    ).size;
  const isReceiver = linksOf(worst.peerFile) > linksOf(worst.file);
  const [file, inComm] = isReceiver ? [worst.peerFile, worst.peer] : [worst.file, worst.rank];
  const length = ({ end, lastArrival }: ClusterComm['collectives'][number]): number =>
    (end ?? lastArrival) - lastArrival;
  const [, second, ...more] = collectives;
  const longest = more.reduce((a, b) => (length(b) > length(a) ? b : a), second!);
  const call = { func: longest.func, seq: longest.seq, ordinal: longest.ordinal };
  return {
    comm: name,
    commId: hex64(commId),
    nRanks,
    file,
    inComm,
    on: 'link',
    basis: 'step',
    late: worst.sends,
    of: worst.sends,
    leftOut: 0,
    cost: worst.cost,
    span,
    ofOthers: 0,
    from: collectives[0]!.firstArrival,
    to: longest.end ?? longest.lastArrival,
    why: null,
    worst: {
      commId: hex64(commId),
      comm: name,
      func: call.func,
      seq: call.seq,
      replay: call.ordinal,
      file,
      record: ranks[file]!.calls.entered(commId, call)?.record ?? '',
      at: longest.lastArrival,
      by: length(longest),
    },
    clockBound: 0,
    link: {
      file: worst.file,
      peerFile: worst.peerFile,
      channel: worst.channel,
      sends: worst.sends,
      medianNs: worst.medianNs,
      usualNs: worst.usualNs,
      isOnlyOne: linksOf(file) === 1,
    },
  };
}
