/**
 * From pairs of transfers to what the clocks are solved from. Which stamps may be believed is learned: whether receives
 * of low-latency protocols wait for their data (else their stop counts instead of state 11), and whether the network
 * makes a sender wait for the receiver at all (else a receive's start says nothing about the sender). Each reading of the evidence is tried, the
 * richest first; the one that contradicts itself least is taken.
 */

import { align, type Alignment, type AlignmentOptions } from '../clocks/alignment.js';
import type { ClockAxes } from '../clocks/domains.js';
import {
  EARLY_ARRIVAL as EARLY,
  EdgeCollector,
  isCertain,
  sizeClass,
  WAITED_CREDIT,
  type EdgeEvidence,
  type EvidenceKind,
} from '../clocks/evidence.js';
import { toLocal } from '../clocks/domains.js';
import { ticks } from '../base/time.js';
import {
  distanceByCollectives,
  seenCollectives,
  visitCollectives,
  type CollectiveSource,
  type SeenCollective,
} from './collective_evidence.js';
import { visitBeacons, type BeaconCounts, type BeaconSource } from './beacon_evidence.js';
import { STEP_ROW } from './step_file.js';
import {
  joinTransfers,
  linksBetween,
  type JoinCounts,
  type StepSource,
  type TransferLink,
} from './transfers.js';

export interface ClockEvidence {
  /** Per domain: common coarse axis = LocalNs + this. */
  readonly coarse: readonly number[];
  readonly edges: readonly EdgeEvidence[];
  readonly counts: JoinCounts;
  readonly beacons: BeaconCounts;
  /** Made when they are wanted: they are many, and seldom needed. */
  readonly collectives: () => readonly SeenCollective[];
}

/** Which stamps are believed. */
export interface Reading {
  /** State 11 of LL and LL128 is arrival. */
  readonly earlyArrivals: boolean;
  readonly credits: boolean;
}

const READINGS: readonly Reading[] = [
  { earlyArrivals: true, credits: true },
  { earlyArrivals: true, credits: false },
  { earlyArrivals: false, credits: true },
  { earlyArrivals: false, credits: false },
];

/** Windows of all edges together: some hundred MB at most. */
const WINDOWS_IN_ALL = 1 << 21;
/** Likenesses that two hosts commonly show each other: credits of two kinds, and some classes of size. */
const LIKENESSES = 4;

/** How many windows an edge may have. By pairs of domains, not of ranks: those of two hosts share one edge per likeness. */
export function windowsPerEdge(
  links: readonly Pick<TransferLink, 'sender' | 'receiver'>[],
  domainOf: readonly number[],
): number {
  const pairs = new Set(links.map(({ sender, receiver }) => `${domainOf[sender]} ${domainOf[receiver]}`))
    .size;
  return Math.max(16, Math.min(512, Math.floor(WINDOWS_IN_ALL / (LIKENESSES * Math.max(1, pairs)))));
}

/** What a scanned file knows of other clocks. */
export interface EvidenceSource extends StepSource, BeaconSource, CollectiveSource {}

export function collectEvidence(sources: readonly EvidenceSource[], axes: ClockAxes): ClockEvidence {
  const links = linksBetween(sources, (a, b) => axes.domainOf[a] !== axes.domainOf[b]);
  const collectives = once(() => seenCollectives(sources, axes));
  const { coarse, insisting } = firstLook(sources, links, collectives, axes);
  const time = (file: number, tick: number): number =>
    toLocal(axes.scales[file]!, ticks(tick)) + coarse[axes.domainOf[file]!]!;
  const collectors = new EdgeCollectors(windowsPerEdge(links, axes.domainOf));
  const counts = joinTransfers(sources, links, ({ sender, receiver }, send, receive, agreement) => {
    if (agreement !== 'agree') return;
    const from = axes.domainOf[sender]!;
    const to = axes.domainOf[receiver]!;
    const size = sizeClass(send[STEP_ROW.bytes]!);
    const sent = time(sender, send[STEP_ROW.before]!);
    const protocol = arrivesBy(send, receive);
    const arrived = time(receiver, receive[STEP_ROW.told]!);
    if (protocol !== -1)
      collectors.add(from, to, 'data', `${protocol === 1 ? 'data' : EARLY} ${size}`, sent, arrived - sent);
    if (protocol !== 1) {
      const consumed = time(receiver, receive[STEP_ROW.stop]!);
      collectors.add(from, to, 'data', `${CONSUMED} ${size}`, sent, consumed - sent);
    }
    const posted = time(receiver, receive[STEP_ROW.before]!);
    const noticed = time(sender, send[STEP_ROW.told]!);
    const credit = isWaited(send) ? WAITED_CREDIT : 'credit';
    const insists = insisting.has(`${from} ${to}`);
    collectors.add(to, from, 'credit', credit, posted, noticed - posted, insists);
  });
  const beacons = visitBeacons(sources, axes, (from, sent, to, received) => {
    const time = sent + coarse[from]!;
    collectors.add(from, to, 'beacon', 'beacon', time, received + coarse[to]! - time);
  });
  return { coarse, edges: collectors.finish(), counts, beacons, collectives };
}

/** STEP_ROW.arrives of the operation: both ends have one protocol, and one may have lost the record of it. */
const arrivesBy = (send: Float64Array, receive: Float64Array): number =>
  (receive[STEP_ROW.arrives] === -1 ? send : receive)[STEP_ROW.arrives]!;

/** Whether a send was turned away at least once before it had its credit: the first try is a poll as well. */
const isWaited = (send: Float64Array): boolean => send[STEP_ROW.polls]! > 1;

const CONSUMED = 'data until consumed,';

export interface Aligned {
  readonly alignment: Alignment;
  readonly reading: Reading;
  /** What was used, left out or not. */
  readonly edges: readonly EdgeEvidence[];
}

export function alignByEvidence(
  domains: number,
  evidence: ClockEvidence,
  options: AlignmentOptions,
): Aligned {
  const first = bestReading(domains, evidence, options);
  // Hosts whose evidence contradicts itself are not brought back by another kind of it.
  if (first.alignment.culprits.length > 0) return first;
  const more = collectiveEdges(evidence, first.alignment.references);
  if (more.length === 0) return first;
  const edges = [...first.edges, ...more];
  const sure = sureIn([...evidence.edges, ...more], first.reading);
  return { ...first, edges, alignment: align(domains, edges, options, sure) };
}

/** Between groups that transfers and beacons leave apart. */
function collectiveEdges({ collectives, coarse }: ClockEvidence, references: readonly number[]) {
  if (new Set(references).size < 2) return [];
  const collectors = new EdgeCollectors(COLLECTIVE_WINDOWS);
  const time = (domain: number, local: number): number => local + coarse[domain]!;
  visitCollectives(collectives(), references, time, (from, sent, to, received) => {
    collectors.add(from, to, 'collective', 'collective', sent, received - sent);
  });
  return collectors.finish();
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** They are rare, and their delays long. */
const COLLECTIVE_WINDOWS = 128;

function bestReading(domains: number, { edges }: ClockEvidence, options: AlignmentOptions): Aligned {
  const tried: Aligned[] = [];
  for (const reading of READINGS) {
    const read = edges.filter((edge) => isRead(edge, reading));
    if (tried.some((other) => isSame(other.edges, read))) continue;
    const aligned = {
      alignment: align(domains, read, options, sureIn(edges, reading)),
      reading,
      edges: read,
    };
    if (aligned.alignment.culprits.length === 0) return aligned;
    tried.push(aligned);
  }
  return tried.reduce((a, b) => (b.alignment.culprits.length < a.alignment.culprits.length ? b : a));
}

/** What hard bounds may rest on: certain, but for credits that others contradict: then the network takes sends before there is room. */
const sureIn = (edges: readonly EdgeEvidence[], { credits }: Reading): EdgeEvidence[] =>
  edges.filter((edge) => isCertain(edge) && (credits || edge.kind !== 'credit'));

const isSame = (a: readonly EdgeEvidence[], b: readonly EdgeEvidence[]): boolean =>
  a.length === b.length && a.every((edge, i) => edge === b[i]);

/** Each pair is in the evidence once per stamp that may stand for its arrival; a reading takes one of them. */
export function isRead({ kind, like }: EdgeEvidence, { earlyArrivals, credits }: Reading): boolean {
  if (kind === 'credit') return credits;
  if (like.startsWith(EARLY)) return earlyArrivals;
  return !like.startsWith(CONSUMED) || !earlyArrivals;
}

class EdgeCollectors {
  private readonly collectors = new Map<string, EdgeCollector>();

  constructor(private readonly maxWindows: number) {}

  add(
    from: number,
    to: number,
    kind: EvidenceKind,
    like: string,
    time: number,
    delay: number,
    insists = false,
  ): void {
    const key = `${from} ${to} ${like}`;
    let collector = this.collectors.get(key);
    if (!collector) {
      const edge = { from, to, kind, like };
      collector = new EdgeCollector(insists ? { ...edge, insists } : edge, this.maxWindows);
      this.collectors.set(key, collector);
    }
    collector.add(time, delay);
  }

  finish(): EdgeEvidence[] {
    return [...this.collectors.values()].map((collector) => collector.finish());
  }
}

const FIRST_LOOK_ROWS = 256;

interface FirstLook {
  readonly coarse: readonly number[];
  /** Sender and receiver: of these first transfers at least one was turned away until it had its credit. */
  readonly insisting: ReadonlySet<string>;
}

/**
 * A start that needs to be right to a second only: from a first look at the transfers, so that no wall clock has a say
 * in relative times. Domains that no transfer connects to the first one of their kind keep the distance of their wall clocks.
 */
function firstLook(
  sources: readonly EvidenceSource[],
  links: readonly TransferLink[],
  collectives: () => readonly SeenCollective[],
  axes: ClockAxes,
): FirstLook {
  const neighbours: { domain: number; ahead: number }[][] = axes.names.map(() => []);
  const least = new Map<string, { from: number; to: number; delay: number }>();
  const insisting = new Set<string>();
  const see = (from: number, to: number, delay: number): void => {
    const known = least.get(`${from} ${to}`);
    if (!known || delay < known.delay) least.set(`${from} ${to}`, { from, to, delay });
  };
  visitBeacons(sources, axes, (from, sent, to, received) => {
    see(from, to, received - sent);
  });
  joinTransfers(
    sources,
    links,
    ({ sender, receiver }, send, receive, agreement) => {
      if (agreement !== 'agree') return;
      const from = axes.domainOf[sender]!;
      const to = axes.domainOf[receiver]!;
      const at = (file: number, tick: number): number => toLocal(axes.scales[file]!, ticks(tick));
      see(from, to, at(receiver, receive[STEP_ROW.told]!) - at(sender, send[STEP_ROW.before]!));
      if (isWaited(send)) insisting.add(`${from} ${to}`);
    },
    FIRST_LOOK_ROWS,
  );
  for (const { from, to, delay } of least.values()) {
    neighbours[from]!.push({ domain: to, ahead: delay });
    neighbours[to]!.push({ domain: from, ahead: -delay });
  }
  const offsets: number[] = [];
  axes.coarse.forEach((coarse, start) => {
    if (offsets[start] !== undefined) return;
    const connected = new Map([[start, 0]]);
    for (const [domain, offset] of connected) {
      for (const { domain: next, ahead } of neighbours[domain]!)
        if (!connected.has(next)) connected.set(next, offset - ahead);
    }
    const distance =
      start === 0
        ? null
        : distanceByCollectives(
            collectives(),
            (domain) => offsets[domain],
            (domain) => connected.get(domain),
          );
    for (const [domain, offset] of connected)
      offsets[domain] = offset + (distance ?? coarse - axes.coarse[0]!);
  });
  return { coarse: offsets, insisting };
}
