/**
 * The content of a trace as sorted lines: slices, arguments, counters, states and arrows by track. Ids, order and number of packets are
 * left out. Two traces with the same lines look the same in the UI and in queries.
 */

import { viewTrace, type TraceView, type ViewSlice, type ViewTrack } from './trace_view.js';

export function meaningOf(bytes: Uint8Array): string[] {
  const view = viewTrace(bytes, { emptySlices: 'fine' });
  if (view.problems.length > 0)
    throw new Error(`the trace has problems: ${JSON.stringify(view.problems[0])}`);
  return [...tracks(view), ...slices(view), ...values(view), ...arrows(view)].sort();
}

/** The place of each track in the tree, and its kind. Empty groups are included. */
const tracks = (view: TraceView): string[] =>
  view.tracks.map(({ rank, unit, kind, description, ...track }) =>
    [pathOf(track as ViewTrack), 'track', kind, rank, unit, description].join(' | '),
  );

const slices = (view: TraceView): string[] =>
  view.slices.map((slice) => {
    const args = Object.entries(slice.args).map(([name, value]) => `${name}=${String(value)}`);
    return [nameOf(slice), `depth ${slice.depth}`, String(slice.correlation), ...args.sort()].join(' | ');
  });

const values = ({ counters, states }: TraceView): string[] => [
  ...counters.map(({ track, ts, value }) => `${pathOf(track)} | ${ts} | = ${value}`),
  ...states.map(({ track, ts, dur, name }) => `${pathOf(track)} | ${ts} | ${dur} | state ${name}`),
];

const arrows = ({ flows }: TraceView): string[] =>
  flows.map(({ id, from, to }) => `arrow ${id}: ${nameOf(from)} -> ${nameOf(to)}`);

const nameOf = ({ track, ts, dur, name }: ViewSlice): string => [pathOf(track), ts, dur, name].join(' | ');

const pathOf = ({ process, path }: ViewTrack): string => [process?.pid, ...path].join(' > ');
