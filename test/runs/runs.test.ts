/** Which files belong to one run: restarts of a job, files without a run name, processes with several GPUs. */

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { listRuns } from '../../src/runs/find_runs.js';
import { findRuns } from '../../src/runs/find_runs.js';
import { listRun } from '../../src/runs/run.js';
import { diagnose } from '../../src/report/diagnosis.js';
import { record } from '../support/jobs/loopback.js';
import { RankFileBuilder, type FileOptions } from '../support/rank_files/rank_file_builder.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

const SECOND = 1_000_000_000n;
const START = 1_760_000_000n * SECOND;

interface Made extends FileOptions {
  /** [commId, rank in it, ranks] */
  readonly comms?: readonly (readonly [bigint, number, number])[];
  /** Seconds after START, and how long it lived. */
  readonly at?: number;
  readonly lived?: number;
}

let pids = 5000;
function made(name: string, { comms = [], at = 0, lived = 60, ...options }: Made): string {
  const file = new RankFileBuilder({ pid: pids++, startRealtime: START + BigInt(at) * SECOND, ...options });
  for (const [commId, rank, nRanks] of comms) file.communicator({ commId, rank, nRanks, name: 'world' });
  file.heartbeat(lived * 1e9);
  const target = path.join(folder, name);
  file.write(target);
  return target;
}

/** What was found, short: name → files. */
const runs = (): Record<string, string[]> =>
  Object.fromEntries(
    findRuns(readdirSync(folder).map((name) => path.join(folder, name))).runs.map(({ name, files }) => [
      name,
      files.map((file) => path.basename(file.path, '.bin')),
    ]),
  );

it('a run of 512 files with 256 communicators each is listed', () => {
  const comms = Array.from({ length: 256 }, (_, i) => [BigInt(i + 1), 0, 1024 - i] as const);
  const [one] = findRuns([made('a', { rank: 0, worldSize: 4, comms })]).runs;
  const files = Array.from({ length: 512 }, () => one!.files[0]!);
  expect(listRun({ ...one!, files })).toMatchObject({ worldSize: 1024, ranks: [0] });
});

describe('files are of one run', () => {
  it('when they share a communicator, though the nodes of a torchrun job count restarts differently', () => {
    made('a', { rank: 0, worldSize: 2, runId: 'job', comms: [[7n, 0, 2]] });
    made('b', { rank: 1, worldSize: 2, runId: 'job.1', comms: [[7n, 1, 2]], bootId: 'bb'.repeat(16) });
    expect(runs()).toEqual({ job: ['a', 'b'] });
  });

  it('when they have one name and nothing speaks against it: groups without a common communicator', () => {
    for (const rank of [0, 1, 2, 3])
      made(`r${rank}`, {
        rank,
        worldSize: 4,
        runId: 'job',
        comms: [[rank < 2 ? 7n : 8n, rank % 2, 2]],
        at: rank,
      });
    expect(Object.keys(runs())).toEqual(['job']);
  });

  it('when there is no name, but the world is the same and no rank comes twice', () => {
    made('a', { rank: 0, worldSize: 2, runId: '', comms: [[7n, 0, 2]] });
    made('b', { rank: 1, worldSize: 2, runId: '', comms: [] });
    expect(Object.keys(runs())).toHaveLength(1);
  });
});

describe('files are of two runs', () => {
  const first = { rank: 0, worldSize: 2, runId: 'job', comms: [[7n, 0, 2]] } as const satisfies Made;

  it.each<[string, Made]>([
    ['a rank that comes twice', { ...first, comms: [[8n, 0, 2]], at: 30 }],
    ['another world (elastic)', { ...first, rank: 1, worldSize: 3, comms: [[8n, 1, 3]], at: 1 }],
    ['never alive together', { ...first, rank: 1, comms: [[8n, 1, 2]], at: 90 }],
    ['started long after', { ...first, rank: 1, comms: [[8n, 1, 2]], at: 700, bootId: 'bb'.repeat(16) }],
  ])('of one name: %s', (_, second) => {
    made('a', { ...first, lived: second.at === 700 ? 900 : 60 });
    made('b', second);
    const found = runs();
    expect(Object.values(found)).toEqual([['b'], ['a']]);
    expect(Object.keys(found).at(-1)).toBe('job@2025-10-09T08:53:20');
  });

  it('with communicator ids that were set and are used again', () => {
    made('a', { ...first, runId: 'one' });
    made('b', { ...first, runId: 'two', at: 5 });
    expect(runs()).toEqual({ two: ['b'], one: ['a'] });
  });

  it('that began in the same second, each with its name', () => {
    made('a', { ...first, runId: '' });
    made('b', { ...first, runId: '', comms: [[8n, 0, 2]] });
    expect(Object.keys(runs()).sort()).toEqual(['@2025-10-09T08:53:20', '@2025-10-09T08:53:20.2']);
  });

  it('whatever the order in which the files are named', () => {
    for (const rank of [0, 1, 2]) {
      made(`a${rank}`, { rank, worldSize: 3, runId: 'job', comms: [[7n, rank, 3]], at: rank });
      made(`b${rank}`, { rank, worldSize: 3, runId: 'job', comms: [[8n, rank, 3]], at: 120 + rank });
    }
    made('lone', { rank: 3, worldSize: 3, runId: 'job', at: 100, lived: 50 });
    const files = readdirSync(folder).map((name) => path.join(folder, name));
    const expected = findRuns(files).runs;
    fc.assert(
      fc.property(fc.shuffledSubarray(files, { minLength: files.length }), (order) => {
        expect(findRuns(order).runs).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });
});

describe('a job that was restarted, as recorded', () => {
  const args = '--ranks 2 --iterations 1 --ops allreduce:64K';

  it('in one folder: the newest start alone is merged, the other is named and can be asked for', async () => {
    const settings = { SLURM_JOB_ID: '77', NCCL_TRACE_EVENTS: 'coll' };
    const { folder: recording } = await record(folder, args, settings);
    const before = readdirSync(path.join(recording, '77'));
    await record(folder, args, settings);
    await record(folder, args, { ...settings, SLURM_RESTART_COUNT: '1' });
    expect(readdirSync(recording).sort()).toEqual(['77', '77.1']);

    const { runs: listed } = listRuns([path.join(recording, '77')]);
    expect(listed.map(({ id, ranks, worldSize }) => ({ id, ranks, worldSize }))).toEqual([
      { id: '77', ranks: [0, 1], worldSize: 2 },
      { id: '77', ranks: [0, 1], worldSize: 2 },
    ]);
    expect(listed[1]!.files.map((file) => path.basename(file))).toEqual(before);

    // A rank without a file of the newest start is missing. Its older file belongs to another start.
    rmSync(listed[0]!.files[1]!);
    const output = path.join(folder, 'x.pftrace');
    const report = await merge({ inputs: [path.join(recording, '77')], output, jobs: 1 });
    expect(report.ranks.map(({ file }) => file)).toEqual([listed[0]!.files[0]]);
    expect(report.missingRanks).toHaveLength(1);
    expect(report.problems[0]).toMatch(/another start of the same job \(77@.*--run 77@\S+ names it$/);
    expect(
      viewTrace(readFileSync(output), { emptySlices: 'fine' }).processes.map(({ name }) =>
        name.split(' · ').at(-1),
      ),
    ).toEqual(['NO FILE', 'gpu0']);

    const older = await merge({ inputs: [recording], output, jobs: 1, force: true, run: listed[1]!.name });
    expect(older.ranks.map(({ file }) => path.basename(file))).toEqual(before);
    expect([older.missingRanks, older.problems]).toEqual([[], []]);
    await expect(merge({ inputs: [recording], output, force: true, run: '77.2' })).rejects.toThrow(
      /--run 77\.2: no such run here \(did you mean 77\.1/,
    );
    await expect(merge({ inputs: [recording], output, force: true, run: '77' })).rejects.toThrow(
      /several runs begin like that; there are 77\.1, 77@/,
    );
    // The newest of all, of several folders.
    const newest = await diagnose([recording]);
    expect(newest.ranks.map(({ file }) => path.basename(path.dirname(file)))).toEqual(['77.1', '77.1']);
  });
});

describe('one process with several GPUs', () => {
  /** Two processes of two ranks; the environment counts processes. */
  function node(process: number, options: Made = {}): void {
    const file = new RankFileBuilder({
      rank: process,
      worldSize: 2,
      pid: 100 + process,
      hostName: `node${process}`,
      startRealtime: START,
      life: 'closed',
      ...options,
    });
    const host = file.ring('host', 64, { tid: 1 });
    for (const gpu of [0, 1]) {
      const comm = file.communicator({ commId: 7n, rank: 2 * process + gpu, nRanks: 4, name: 'world' });
      const coll = host.startColl(1000 + gpu, { comm, func: 'AllReduce', seqNumber: 0 });
      host.stop(2000 + gpu, coll);
    }
    file.heartbeat(1e9);
    file.write(path.join(folder, `rank0000${process}.bin`));
  }

  it('is drawn and counted as all of its ranks: in the trace, among the missing ranks, in the verdict', async () => {
    node(0);
    node(1);
    const output = path.join(folder, 'x.pftrace');
    const report = await merge({ inputs: [folder], output, jobs: 1, clock: 'realtime' });
    expect(report).toMatchObject({ worldSize: 4, missingRanks: [], problems: [] });
    expect(report.ranks.map(({ rank, ranks }) => [rank, ranks])).toEqual([
      [0, [0, 1]],
      [2, [2, 3]],
    ]);
    const view = viewTrace(readFileSync(output), { emptySlices: 'fine' });
    expect(view.processes.map(({ name }) => name)).toEqual(['ranks 0-1 · node0', 'ranks 2-3 · node1']);
    const [cluster] = view.slices.filter(
      ({ track }) => track.path[0]!.startsWith('Cluster') && track.name !== 'verdict',
    );
    expect(cluster!.args).toMatchObject({ ranks: 4 });
    expect(report.clocks.flatMap(({ ranks }) => ranks)).toEqual([0, 1, 2, 3]);
  });

  it('with a process that left no file: its ranks are missing', async () => {
    node(1);
    expect(await diagnose([folder])).toMatchObject({
      worldSize: 4,
      missingRanks: [0, 1],
      ranks: [{ rank: 2, ranks: [2, 3] }],
    });
  });
});
