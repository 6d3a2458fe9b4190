/**
 * Learns which stamps to believe. First: do receives of low-latency protocols wait for their data? If not, their stop counts instead of
 * state 11. Second: does the network make a sender wait for the receiver? If not, a receive's start shows nothing about the sender. Each
 * belief is tried, and the one with the fewest contradictions is used. The belief with the most evidence is tried first.
 */

import { align, type Alignment, type AlignmentOptions } from '../alignment.js';
import type { Culprit } from '../contradictions.js';
import { EARLY_ARRIVAL, isCertain, type EdgeEvidence } from '../evidence.js';
import { CONSUMED, type ClockEvidence } from './clock_evidence.js';
import { visitCollectives } from './collective_evidence.js';
import { EdgeCollectors, type ImpossiblePairs } from './edge_collectors.js';

/** Which stamps are believed. */
export interface Belief {
  /** State 11 of LL and LL128 is arrival. */
  readonly earlyArrivals: boolean;
  readonly credits: boolean;
}

const BELIEFS: readonly Belief[] = [
  { earlyArrivals: true, credits: true },
  { earlyArrivals: true, credits: false },
  { earlyArrivals: false, credits: true },
  { earlyArrivals: false, credits: false },
];

export interface Aligned {
  readonly alignment: Alignment;
  readonly belief: Belief;
  /** All evidence, whether it was used or left out. */
  readonly edges: readonly EdgeEvidence[];
  readonly impossible: readonly ImpossiblePairs[];
}

export function alignByEvidence(
  domains: number,
  evidence: ClockEvidence,
  options: AlignmentOptions,
): Aligned {
  const first = bestBelief(domains, evidence, options);
  // If the evidence of a host contradicts itself, another kind of evidence does not help.
  if (!first.alignment.culprits.every(isSplit)) return first;
  const more = collectiveEdges(evidence, first.alignment.references);
  const impossible = [...first.impossible, ...more.impossible];
  if (more.edges.length === 0) return { ...first, impossible };
  const edges = [...first.edges, ...more.edges];
  const sure = sureIn([...evidence.edges, ...more.edges], first.belief);
  return { ...first, edges, impossible, alignment: align(domains, edges, options, sure) };
}

/** Evidence between groups that no transfers connect. */
function collectiveEdges({ collectives, coarse }: ClockEvidence, references: readonly number[]) {
  if (new Set(references).size < 2) return { edges: [], impossible: [] };
  const collectors = new EdgeCollectors(COLLECTIVE_WINDOWS);
  const time = (domain: number, local: number): number => local + coarse[domain]!;
  visitCollectives(collectives(), references, time, (from, sent, to, received) => {
    collectors.add({ from, to, kind: 'collective', like: 'collective' }, sent, received - sent);
  });
  return { edges: collectors.finish(), impossible: collectors.impossible() };
}

/** They are rare, and their delays long. */
const COLLECTIVE_WINDOWS = 128;

function bestBelief(
  domains: number,
  { edges, impossible }: ClockEvidence,
  options: AlignmentOptions,
): Aligned {
  const tried: Aligned[] = [];
  for (const belief of BELIEFS) {
    const believed = edges.filter((edge) => isBelieved(edge, belief));
    if (tried.some((other) => isSame(other.edges, believed))) continue;
    const alignment = align(domains, believed, options, sureIn(edges, belief));
    const aligned = { alignment, belief, edges: believed, impossible };
    // A jump that data show in both directions is no fault of the stamps.
    if (alignment.culprits.every(isJump)) return aligned;
    tried.push(aligned);
  }
  return tried.reduce((a, b) => (b.alignment.culprits.length < a.alignment.culprits.length ? b : a));
}

const isJump = ({ what }: Culprit): boolean => what === 'clock-jump';
/** A jump whose clock is followed before and after it. */
export const isSplit = (culprit: Culprit): boolean => culprit.what === 'clock-jump' && culprit.isSplit;

/**
 * The evidence for hard bounds: all certain evidence. Credits are left out if other evidence contradicts them, because then the network
 * takes sends before there is room.
 */
const sureIn = (edges: readonly EdgeEvidence[], { credits }: Belief): EdgeEvidence[] =>
  edges.filter((edge) => isCertain(edge) && (credits || edge.kind !== 'credit'));

const isSame = (a: readonly EdgeEvidence[], b: readonly EdgeEvidence[]): boolean =>
  a.length === b.length && a.every((edge, i) => edge === b[i]);

/** Each pair is in the evidence once per stamp that may be its arrival; a belief takes one of them. */
function isBelieved({ kind, like }: EdgeEvidence, { earlyArrivals, credits }: Belief): boolean {
  if (kind === 'credit') return credits;
  if (like.startsWith(EARLY_ARRIVAL)) return earlyArrivals;
  return !like.startsWith(CONSUMED) || !earlyArrivals;
}
