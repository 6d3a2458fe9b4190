/**
 * Turns pairs of transfers into evidence for the clocks: each pair appears once per stamp that may be its arrival.
 * believed_stamps.ts later decides which ones to believe.
 */

import { memoized } from '../../base/memoized.js';
import { toLocal, type ClockAxes } from '../domains.js';
import { EARLY_ARRIVAL, sizeClass, WAITED_CREDIT, type EdgeEvidence } from '../evidence.js';
import { seenCollectives, type CollectiveSource, type SeenCollective } from './collective_evidence.js';
import { EdgeCollectors, pairOf, type ImpossiblePairs } from './edge_collectors.js';
import { firstLook, isWaited } from './first_look.js';
import { STEP_ROW } from '../../scan/step_file.js';
import {
  joinTransfers,
  linksBetween,
  type JoinCounts,
  type StepSource,
  type TransferLink,
} from './joined_transfers.js';

export interface ClockEvidence {
  /** Per domain: common coarse axis = LocalNs + this. */
  readonly coarse: readonly number[];
  readonly edges: readonly EdgeEvidence[];
  readonly counts: JoinCounts;
  readonly impossible: readonly ImpossiblePairs[];
  /** Made only when needed, because there are many, and they are rarely needed. */
  readonly collectives: () => readonly SeenCollective[];
}

/** Windows of all edges together: some hundred MB at most. */
const WINDOWS_IN_ALL = 1 << 21;
/** Likenesses that two hosts commonly show each other: credits of two kinds, and some classes of size. */
const LIKENESSES = 4;

/**
 * How many windows an edge may have. It counts pairs of domains, not of ranks, because all ranks of two hosts share one edge per likeness.
 */
export function windowsPerEdge(
  links: readonly Pick<TransferLink, 'sender' | 'receiver'>[],
  domainOf: readonly number[],
): number {
  const pairs = new Set(links.map(({ sender, receiver }) => `${domainOf[sender]} ${domainOf[receiver]}`))
    .size;
  return Math.max(16, Math.min(512, Math.floor(WINDOWS_IN_ALL / (LIKENESSES * Math.max(1, pairs)))));
}

/** What a scanned file knows of other clocks. */
export interface EvidenceSource extends StepSource, CollectiveSource {}

export function collectEvidence(sources: readonly EvidenceSource[], axes: ClockAxes): ClockEvidence {
  const links = linksBetween(sources, (a, b) => axes.domainOf[a] !== axes.domainOf[b]);
  const collectives = once(() => seenCollectives(sources, axes));
  const { coarse, insisting } = firstLook(sources, links, collectives, axes);
  const time = (file: number, tick: number): number =>
    toLocal(axes.scales[file]!, tick) + coarse[axes.domainOf[file]!]!;
  const collectors = new EdgeCollectors(windowsPerEdge(links, axes.domainOf));
  const counts = joinTransfers(sources, links, ({ sender, receiver }, send, receive, agreement) => {
    if (agreement !== 'agree') return;
    const from = axes.domainOf[sender]!;
    const to = axes.domainOf[receiver]!;
    const bytes = send[STEP_ROW.bytes]!;
    const likes = likesOf(sizeClass(bytes));
    const sent = time(sender, send[STEP_ROW.before]!);
    const protocol = arrivesBy(send, receive);
    const arrived = time(receiver, receive[STEP_ROW.seen]!);
    if (protocol !== -1) {
      const like = protocol === 1 ? likes.data : likes.early;
      collectors.add({ from, to, kind: 'data', like }, sent, arrived - sent, bytes);
    }
    if (protocol !== 1) {
      const consumed = time(receiver, receive[STEP_ROW.stop]!);
      collectors.add({ from, to, kind: 'data', like: likes.consumed }, sent, consumed - sent, bytes);
    }
    const posted = time(receiver, receive[STEP_ROW.before]!);
    const noticed = time(sender, send[STEP_ROW.seen]!);
    const like = isWaited(send) ? WAITED_CREDIT : 'credit';
    const insists = insisting.has(pairOf(from, to));
    collectors.add({ from: to, to: from, kind: 'credit', like, insists }, posted, noticed - posted);
  });
  return {
    coarse,
    edges: collectors.finish(),
    counts,
    impossible: collectors.impossible(),
    collectives,
  };
}

/** STEP_ROW.arrives of the operation. Both ends have the same protocol, but one end may have lost its record. */
const arrivesBy = (send: Float64Array, receive: Float64Array): number =>
  (receive[STEP_ROW.arrives] === -1 ? send : receive)[STEP_ROW.arrives]!;

/** Prefix of the likenesses of receives that use their stop, after the data were consumed, as their arrival. */
export const CONSUMED = 'data until consumed,';

/** The likenesses of a size class. */
const likesOf = memoized((size: string) => ({
  data: `data ${size}`,
  early: `${EARLY_ARRIVAL} ${size}`,
  consumed: `${CONSUMED} ${size}`,
}));

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
