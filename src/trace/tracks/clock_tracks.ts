/**
 * The clocks of the hosts, below the cluster: the evidence of each piece, its error, and incidents. They are drawn only if there are
 * several clocks, or one with incidents.
 */

import type { TraceNs } from '../../base/time.js';
import type { Args, TrackRef, TrackSink } from './sink.js';

/** The clock of one host, or of one of its boots. */
export interface HostClock {
  readonly title: string;
  readonly description: string;
  readonly pieces: readonly ClockPiece[];
  readonly incidents: readonly ClockIncident[];
}

export interface ClockPiece {
  readonly from: TraceNs;
  readonly to: TraceNs;
  readonly source: 'own-counter' | 'traffic' | 'realtime';
  /** ns; Infinity: not known. */
  readonly hardBound: number;
  readonly bound99: number;
  readonly driftPpm: number;
  readonly flags: readonly string[];
}

/** Names of instants. The query for `trace.instants` in schemas/trace.md has each of them. */
export const CLOCK_INCIDENTS = [
  'clock jumped',
  'clock unsteady',
  'wall clock stepped',
  'transfers left out',
] as const;

export interface ClockIncident {
  readonly at: TraceNs;
  readonly name: (typeof CLOCK_INCIDENTS)[number];
  readonly byNs: number;
  /** For omitted transfers: the receiving host. */
  readonly to?: string | undefined;
}

const SOURCE_NAME: Readonly<Record<ClockPiece['source'], string>> = {
  'own-counter': 'own counter',
  traffic: 'aligned by transfers',
  realtime: 'placed by wall clock',
};

/** All of them, or none: one clock without incidents is not drawn. */
export function shownClocks(clocks: readonly HostClock[]): readonly HostClock[] {
  const isQuiet = clocks.every(
    ({ pieces, incidents }) => incidents.length === 0 && pieces.every(({ flags }) => flags.length === 0),
  );
  return clocks.length < 2 && isQuiet ? [] : clocks;
}

export function drawClocks(
  sink: TrackSink,
  cluster: TrackRef,
  clocks: readonly HostClock[],
  rank: number,
): void {
  const shown = shownClocks(clocks);
  if (shown.length === 0) return;
  const group = sink.describe({
    kind: 'group',
    name: 'clocks',
    parent: cluster,
    rank,
    description:
      "The error of the hosts' clocks against each other. A skew or a transfer time below the bounds of the " +
      'two hosts means nothing.',
  });
  shown.forEach((clock, order) => {
    drawClock(sink, group, clock, order);
  });
}

function drawClock(sink: TrackSink, parent: TrackRef, clock: HostClock, rank: number): void {
  const { title: name, description, pieces, incidents } = clock;
  const track = sink.describe({ kind: 'slices', name, parent, rank, description });
  const waiting = [...incidents].sort((a, b) => a.at - b.at);
  const instantsUpTo = (until: number): void => {
    for (let next = waiting[0]; next && next.at < until; next = waiting[0]) {
      sink.instant(track, next.at, next.name, { args: incidentArgs(next) });
      waiting.shift();
    }
  };
  for (const piece of pieces) {
    instantsUpTo(piece.from);
    const slice = sink.begin(track, piece.from, SOURCE_NAME[piece.source], { args: pieceArgs(piece) });
    instantsUpTo(piece.to);
    sink.end(track, piece.to, slice);
  }
  instantsUpTo(Infinity);
}

function pieceArgs({ hardBound, bound99, driftPpm, flags }: ClockPiece): Args {
  return [
    ['hardBoundNs', boundArg(hardBound)],
    ['bound99Ns', boundArg(bound99)],
    ['driftPpm', fraction(driftPpm)],
    ...(flags.length > 0 ? [['flags', flags.join(', ')] as const] : []),
  ];
}

function incidentArgs({ byNs, to }: ClockIncident): Args {
  return [['byNs', wholeNs(byNs)], ...(to === undefined ? [] : [['to', to] as const])];
}

const boundArg = (bound: number): number | bigint | string =>
  Number.isFinite(bound) ? wholeNs(Math.ceil(bound)) : 'unbounded';

/** A wall clock without a battery begins in 1970. Such a step is too large for a number. */
function wholeNs(ns: number): number | bigint {
  const whole = Math.round(ns);
  return Number.isSafeInteger(whole) ? whole : BigInt(whole);
}

const fraction = (value: number): number => Number(value.toPrecision(4));
