/** A trace as trace_processor's tables, as far as the documented queries use them, in SQLite, which it is built on. */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TraceView, ViewSlice, ViewTrack } from '../support/traces/trace_view.js';

type Cell = number | string | null;
export type Row = Readonly<Record<string, Cell>>;

interface Table {
  /** With their types: 64-bit integers go as text, and INTEGER makes numbers of them again. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Rows by query. Throws what SQLite says of a query that names what is not there. */
export function runQueries(view: TraceView, queries: readonly string[]): Row[][] {
  const script = fileURLToPath(new URL('queries.py', import.meta.url));
  const input = JSON.stringify({ tables: tablesOf(view), views: VIEWS, queries });
  const run = spawnSync('python3', [script], { input, encoding: 'utf8', maxBuffer: 2 ** 29 });
  if (run.error !== undefined) throw new Error('this test needs python3 on the PATH', { cause: run.error });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(run.stdout) as Row[][];
}

const TRACKS = 'SELECT id, name, parent_id, upid FROM all_tracks WHERE';
/** Of the same rows. */
const VIEWS = {
  track: 'SELECT id, name, parent_id FROM all_tracks',
  process_track: `${TRACKS} upid IS NOT NULL AND kind = 'slices'`,
  process_counter_track: `${TRACKS} upid IS NOT NULL AND kind = 'counter'`,
  process_state_track: `${TRACKS} upid IS NOT NULL AND kind = 'state'`,
  counter_track: `${TRACKS} kind = 'counter'`,
} as const;

function tablesOf({
  attributes,
  processes,
  tracks,
  slices,
  counters,
  states,
  flows,
}: TraceView): Record<string, Table> {
  // Processes and threads are described, too, but are no rows of `track`.
  const rows = tracks.filter(({ kind }) => kind !== 'process' && kind !== 'thread');
  const ids = new Map(rows.map((track, id) => [track.uuid, id]));
  const upids = new Map(processes.map(({ uuid }, i) => [uuid, i + 1]));
  const idOf = (track: ViewTrack): number => ids.get(track.uuid)!;
  const sliceIds = new Map(slices.map((slice, id) => [slice, id]));
  const parents = parentsOf(slices);
  return {
    metadata: {
      columns: ['name TEXT', 'int_value INTEGER', 'str_value TEXT'],
      rows: Object.entries(attributes).map(([key, value]) =>
        typeof value === 'string'
          ? [`trace_attribute.${key}`, null, value]
          : [`trace_attribute.${key}`, `${value}`, null],
      ),
    },
    process: {
      columns: ['upid INTEGER', 'pid INTEGER', 'name TEXT'],
      rows: processes.map(({ pid, name }, i) => [i + 1, pid, name]),
    },
    all_tracks: {
      columns: ['id INTEGER', 'name TEXT', 'parent_id INTEGER', 'upid INTEGER', 'kind TEXT'],
      rows: rows.map(({ name, parent, process, kind }, id) => [
        id,
        name,
        (parent === undefined ? undefined : ids.get(parent)) ?? null,
        process === undefined ? null : upids.get(process.uuid)!,
        kind,
      ]),
    },
    slice: {
      columns: [
        'id INTEGER',
        'ts INTEGER',
        'dur INTEGER',
        'track_id INTEGER',
        'name TEXT',
        'depth INTEGER',
        'parent_id INTEGER',
        'arg_set_id INTEGER',
      ],
      rows: slices.map((slice, id) => {
        const { ts, dur, track, name, depth } = slice;
        const parent = parents.get(slice);
        return [
          `${id}`,
          `${ts}`,
          `${dur}`,
          idOf(track),
          name,
          depth,
          parent ? sliceIds.get(parent)! : null,
          id,
        ];
      }),
    },
    args: {
      columns: ['arg_set_id INTEGER', 'key TEXT', 'int_value INTEGER', 'string_value TEXT'],
      rows: slices.flatMap((slice, id) => argsOf(slice).map((arg) => [id, ...arg])),
    },
    counter: {
      columns: ['id INTEGER', 'ts INTEGER', 'track_id INTEGER', 'value REAL'],
      rows: counters.map(({ ts, track, value }, id) => [id, `${ts}`, idOf(track), value]),
    },
    state: {
      columns: ['id INTEGER', 'ts INTEGER', 'dur INTEGER', 'track_id INTEGER', 'value TEXT'],
      rows: states.map(({ ts, dur, track, name }, id) => [id, `${ts}`, `${dur}`, idOf(track), name]),
    },
    flow: {
      columns: ['id INTEGER', 'slice_out INTEGER', 'slice_in INTEGER'],
      rows: flows.map(({ from, to }, id) => [id, sliceIds.get(from)!, sliceIds.get(to)!]),
    },
  };
}

function argsOf({ args, correlation }: ViewSlice): [key: string, integer: Cell, text: Cell][] {
  const all = Object.entries(args).map(([key, value]): [string, Cell, Cell] => {
    if (typeof value === 'string') return [`debug.${key}`, null, value];
    return [
      `debug.${key}`,
      `${Number.isInteger(value) || typeof value !== 'number' ? BigInt(value) : value}`,
      null,
    ];
  });
  return correlation === undefined ? all : [...all, ['correlation_id', null, `tp:#${correlation}`]];
}

/** The newest one before it on its track that is one level up. */
function parentsOf(slices: readonly ViewSlice[]): ReadonlyMap<ViewSlice, ViewSlice> {
  const parents = new Map<ViewSlice, ViewSlice>();
  const newest = new Map<ViewTrack, ViewSlice[]>();
  for (const slice of slices) {
    const levels = newest.get(slice.track) ?? [];
    newest.set(slice.track, levels);
    const parent = levels[slice.depth - 1];
    if (parent) parents.set(slice, parent);
    levels[slice.depth] = slice;
  }
  return parents;
}
