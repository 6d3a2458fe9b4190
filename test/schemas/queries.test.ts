/**
 * Each documented query runs on a trace that has what it asks for, and finds it: every table, column, track, slice and argument that
 * it names is in what we write. Not trace_processor itself: its tables, made of what an independent reader sees, in SQLite.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import type { MergeReport } from '../../src/report/report.js';
import { lastPacket } from '../../src/trace/perfetto/last_packet.js';
import { CLOCK_INCIDENTS } from '../../src/trace/tracks/clock_tracks.js';
import { record } from '../support/jobs/loopback.js';
import { unpackRecording } from '../support/jobs/packed_recording.js';
import { collectivesOf, kinetoText } from '../support/made_up/kineto.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { viewTrace, type TraceView, type ViewSlice } from '../support/traces/trace_view.js';
import { runQueries, type Row } from './tables.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = folderOfFile();

const text = readFileSync(path.join(root, 'schemas/trace.md'), 'utf8');
const withoutEnd = (query: string): string => query.trim().replace(/;$/, '');
/** By the words before them. */
const queries = new Map(
  [...text.matchAll(/\n([^\n]+):\n\n```sql\n([^`]*)```/g)].map(([, title, query]) => [
    title!,
    withoutEnd(query!),
  ]),
);
/** What the summary's numbers are. */
const counts = new Map(
  [...text.matchAll(/\n\| `trace\.(\w+)` \| `(SELECT [^`]*)`/g)].map(([, field, query]) => [field!, query!]),
);

interface Made {
  readonly bytes: Buffer;
  readonly view: TraceView;
  readonly report: MergeReport;
  readonly found: ReadonlyMap<string, Row[]>;
  readonly counted: ReadonlyMap<string, number>;
}

async function made(name: string, input: string, beside?: string): Promise<Made> {
  const output = path.join(folder, `${name}.pftrace`);
  const files = beside === undefined ? [] : [{ path: beside, rank: null }];
  const report = await merge({ inputs: [input], output, jobs: 1, with: files });
  const bytes = readFileSync(output);
  const view = viewTrace(bytes, { emptySlices: 'fine' });
  const rows = runQueries(view, [...queries.values(), ...counts.values()]);
  const numbers = rows.slice(queries.size).map(([row]) => Number(Object.values(row!)[0]));
  return {
    ...{ bytes, view, report },
    found: new Map([...queries.keys()].map((title, i) => [title, rows[i]!])),
    counted: new Map([...counts.keys()].map((field, i) => [field, numbers[i]!])),
  };
}

const SAMPLES = ['hang', 'hosts', 'graph', 'pxn', 'abi-v7', 'copy-engine', 'wrapped'];
const byName = new Map<string, Made>();
beforeAll(async () => {
  const recording = record(
    path.join(folder, 'abused'),
    '--ranks 2 --channels 1 --ops allreduce:64K,group{send+recv:64K} --iterations 2 --net-events ib --abuse',
  );
  for (const name of SAMPLES) byName.set(name, await made(name, path.join(root, 'samples', name)));
  byName.set('uneven', await made('uneven', unpackRecording('cases/uneven-alltoall', folder)));
  byName.set('abused', await made('abused', (await recording).folder));
  const beside = path.join(folder, 'rank0.json');
  const works = collectivesOf(byName.get('wrapped')!.view, 0);
  writeFileSync(beside, kinetoText(works, { rank: 0, worldSize: 2 }));
  byName.set('beside', await made('beside', path.join(root, 'samples/wrapped'), beside));
});

function rowsOf(name: string, title: RegExp): readonly Row[] {
  const [found, ...more] = [...queries.keys()].filter((one) => title.test(one));
  expect(more).toEqual([]);
  return byName.get(name)!.found.get(found!)!;
}

it('all are found', () => {
  expect(queries.size).toBe(text.match(/```sql/g)!.length);
  expect(counts.size).toBe(8);
});

it.each(CLOCK_INCIDENTS)('%s is counted among the instants', (name) => {
  expect(counts.get('instants')).toContain(`'${name}'`);
});

it.each([...SAMPLES, 'abused', 'beside', 'uneven'])(
  'the numbers of the summary equal the counts of the queries: %s',
  (name) => {
    const { report, counted } = byName.get(name)!;
    // The names of other tools' instants are theirs.
    const others = report.foreign.reduce((sum, one) => sum + ('instants' in one ? one.instants : 0), 0);
    expect(Object.fromEntries(counted)).toEqual({
      ...report.trace,
      instants: report.trace.instants - others,
    });
  },
);

/** Also each column of it, in some row. */
it.each([...queries.keys()])('finds its subject: %s', (title) => {
  const rows = [...byName.values()].flatMap(({ found }) => found.get(title)!);
  const [first] = rows;
  expect(first).toBeDefined();
  const isEmpty = (column: string): boolean => rows.every((row) => row[column] === null);
  expect(Object.keys(first!).filter(isEmpty)).toEqual([]);
});

it('a whole trace is told from one that was cut, wherever', () => {
  const whole = /^Whether the trace is whole/;
  for (const name of byName.keys()) expect(rowsOf(name, whole)).toMatchObject([{ trace: 'whole' }]);
  const { bytes, view } = byName.get('copy-engine')!;
  const [, query] = [...queries].find(([title]) => title.startsWith('Whether the trace is whole'))!;
  const trace = (seen: TraceView): unknown => runQueries(seen, [query])[0]![0]!.trace;
  const last = lastPacket(view.slices.length).length;
  for (const cut of [1, last, last + 1, bytes.length >> 1]) {
    const seen = viewTrace(bytes.subarray(0, bytes.length - cut), { emptySlices: 'fine' });
    expect(trace(seen)).toBe('cut: the end is missing');
  }
  expect(trace({ ...view, slices: view.slices.slice(1) })).toBe('parts of it are missing');
  const { 'nccl_trace.ends_with': announced, ...attributes } = view.attributes;
  expect(announced).toBe(`nccl_trace.slices = ${view.slices.length}`);
  expect(trace({ ...view, attributes })).toMatch(/not known/);
});

it('what is pending counts up to the last sign of life of its rank', () => {
  const { view } = byName.get('hang')!;
  const pending = ({ track, ts, dur }: Pick<ViewSlice, 'track' | 'ts' | 'dur'>): bigint => {
    const isSign = (one: ViewSlice): boolean =>
      one.track.name === 'heartbeat' && one.track.process === track.process;
    return dur >= 0n ? dur : view.slices.find(isSign)!.ts - ts;
  };
  const waits = view.slices.filter(({ name }) => name === 'recv wait');
  const ms = Number(waits.reduce((sum, one) => sum + pending(one), 0n)) / 1e6;
  const [row] = rowsOf('hang', /^The waits in which sends/).filter((one) => one.name === 'recv wait');
  expect(row!.ms).toBeCloseTo(ms, 3);
});

describe('agrees with the report of a sample:', () => {
  it('the stuck operation and its wait', () => {
    const all = rowsOf('hang', /^All work that was unfinished/);
    const works = all.filter(({ track }) => String(track).endsWith(' · collectives'));
    expect(works.map(({ rank, name }) => `${String(rank).split(' · ')[0]} ${name}`).sort()).toEqual([
      'rank 0000 AllReduce 2',
      'rank 0002 AllReduce 2',
      'rank 0003 AllReduce 2',
    ]);
    const waits = rowsOf('hang', /^The waits in which transfers hang/);
    const { front } = (byName.get('hang')!.report.verdict as { hang: { front: { wait: { step: number } } } })
      .hang;
    expect(waits).toContainEqual(
      expect.objectContaining({
        connection: 'rank 0 · ch01 recv from 3',
        name: 'recv wait',
        step: front.wait.step,
      }),
    );
  });

  it('the hang in one row', () => {
    const [row, ...more] = rowsOf('hang', /^What hangs, in one row/);
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      verdict: expect.stringMatching(/^HUNG/) as string,
      of_the_run: 'Cluster: HUNG, rank 3 silent',
    });
  });

  it('sends executed by another process', () => {
    const [first] = rowsOf('pxn', /PXN/);
    expect(first).toMatchObject({
      originator: expect.stringMatching(/^rank \d{4}$/) as string,
      name: 'AllReduce',
    });
  });

  it('lost records', () => {
    const { ranks } = byName.get('wrapped')!.report;
    const lost = rowsOf('wrapped', /^Lost records/).reduce((sum, { slots }) => sum + Number(slots), 0);
    expect(lost).toBe(
      ranks.reduce(
        (sum, { lost: { overwritten, dropped, torn, copy } }) => sum + overwritten + dropped + torn + copy,
        0,
      ),
    );
  });

  it('that no arrow points backwards', () => {
    const wires = rowsOf('hosts', /^Transfer times/).map(({ wire_ns }) => Number(wire_ns));
    expect(wires).toHaveLength(byName.get('hosts')!.report.trace.flows);
    expect(Math.min(...wires)).toBeGreaterThanOrEqual(0);
  });
});
