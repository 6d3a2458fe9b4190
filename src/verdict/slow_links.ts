/**
 * Finds a rank whose slow links (cluster/slow_links.ts) cost so much that all ranks wait for it. A rank at one end of most slow links has a
 * slow NIC.
 */

import { maxOf } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import type { SlowLink } from '../cluster/slow_links.js';
import type { ClusterComm, Collective } from '../cluster/types.js';
import type { Case } from './case.js';
import type { Slowness } from './types.js';

/** A slow link costs at least this share of the communicator's observed time. */
const SHARE = 0.05;

/** The rank that costs most; null: none. */
export function slowestLink({ comms, slowLinks, ranks }: Case): Slowness | null {
  for (const worst of slowLinks) {
    const comm = comms.find(({ commId }) => commId === worst.times.commId);
    const whole = comm?.collectives.slice(1).filter(({ end }) => end !== null) ?? [];
    if (!comm || whole.length === 0) continue;
    const span = maxOf(whole.map(({ end }) => end!)) - whole[0]!.firstArrival;
    const slow = slowLinks.filter(({ times }) => times.commId === comm.commId);
    if (worst.costNs >= SHARE * span) return describe(worst, slow, comm, span, ranks);
  }
  return null;
}

function describe(
  { times, costNs, sends, medianNs, usualNs }: SlowLink,
  slow: readonly SlowLink[],
  { commId, name, nRanks, collectives }: ClusterComm,
  span: number,
  ranks: Case['ranks'],
): Slowness {
  // How many slow links end at the rank. With several connections, only one rank can be an end of all.
  const linksOf = (file: number): number =>
    new Set(
      slow.flatMap(({ times: one }) =>
        one.file === file || one.peerFile === file ? [`${one.file} ${one.peerFile}`] : [],
      ),
    ).size;
  const isReceiver = linksOf(times.peerFile) > linksOf(times.file);
  const [file, inComm] = isReceiver ? [times.peerFile, times.peer] : [times.file, times.rank];
  const length = ({ end, lastArrival }: Collective): number => (end ?? lastArrival) - lastArrival;
  const [, second, ...more] = collectives;
  const longest = more.reduce((a, b) => (length(b) > length(a) ? b : a), second!);
  return {
    comm: name,
    commId: hex64(commId),
    nRanks,
    file,
    inComm,
    on: 'link',
    basis: 'step',
    late: sends,
    of: sends,
    leftOut: { first: null, rooted: 0, notWhole: 0 },
    waits: sends,
    cost: costNs,
    span,
    course: 'always',
    ofOthers: 0,
    from: collectives[0]!.firstArrival,
    to: longest.end ?? longest.lastArrival,
    why: null,
    heldUp: costNs,
    habit: costNs / span,
    slowFrom: SHARE,
    chance: 0,
    chanceBelow: 1,
    worst: {
      commId: hex64(commId),
      comm: name,
      func: longest.func,
      seq: longest.seq,
      replay: longest.ordinal,
      file,
      record: ranks[file]!.calls.entered(commId, longest)?.record ?? '',
      at: longest.lastArrival,
      by: length(longest),
    },
    clockBound: 0,
    taker: null,
    link: {
      file: times.file,
      peerFile: times.peerFile,
      channel: times.channel,
      sends,
      medianNs,
      usualNs,
      isOnlyOne: linksOf(file) === 1,
    },
  };
}
