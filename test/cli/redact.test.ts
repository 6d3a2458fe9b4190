/** `--redact`: no name gets out, by any door; and aliases do not depend on how the files are called. */

import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { runHere, type TextResult } from '../support/program/command_line.js';
import { madeUpRank, SMALL_RUN } from '../support/made_up/made_up_run.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

/** Whatever it names, it has this in it. */
const SECRET = 'Zebra';
let folder: string;
let run: string;
eachInItsFolder((made) => {
  folder = made;
  run = path.join(folder, `user-${SECRET}`, `job-${SECRET}`);
  mkdirSync(run, { recursive: true });
  writeRanks('current', {}, 0);
});

function writeRanks(name: string, options: object, first: number): void {
  for (let rank = 0; rank < SMALL_RUN.ranks; rank++) {
    const file = madeUpRank(rank, SMALL_RUN, {
      hostName: `node${rank >> 1}-${SECRET}`,
      bootId: `0${rank >> 1}`.repeat(16),
      ncclHostId: `${SECRET} host id`,
      program: `train-${SECRET}`,
      runId: `llama-${SECRET}`,
      gpu: `GPU ${SECRET} ${rank}`,
      options: `NCCL_TRACE_DIR=/home/${SECRET}`,
      ringPath: `/dev/shm/${SECRET}`,
      pid: 1000 + first + rank,
      ...options,
    });
    file.communicator({
      name: `tp-${SECRET}`,
      commId: 77n + BigInt(first) + BigInt(rank >> 1),
      rank: rank % 2,
      nRanks: 2,
    });
    file.ring('host', 8, { tid: 9, threadName: `${SECRET}-thr` }).startGroupApi(5, {});
    file.write(path.join(run, `rank-${name}-${SECRET}-${rank}.bin`));
  }
}

const said = (...args: string[]): Promise<TextResult> => runHere(process.cwd(), ...args);

describe('no original name is', () => {
  it('in the trace, the report or the summary, though other runs and broken files lie beside', async () => {
    writeRanks('older', { runId: `other-${SECRET}`, startRealtime: 1_700_000_000_000_000_000n }, 100);
    renameSync(path.join(run, `rank-current-${SECRET}-3.bin`), path.join(folder, 'aside'));
    writeFileSync(path.join(run, `rank-broken-${SECRET}.bin`), 'hello');
    const output = path.join(folder, `user-${SECRET}`, 'out.pftrace');
    const summary = path.join(folder, 'summary.json');
    const { code, out, err } = await said('merge', run, run, '-o', output, '--summary', summary, '--redact');
    expect({ code, out }).toEqual({ code: 0, out: '' });
    const trace = readFileSync(output);
    for (const bytes of [trace, readFileSync(summary), Buffer.from(err)])
      expect(bytes.toString('latin1')).not.toContain(SECRET);
    // It was not done by leaving everything out.
    const view = viewTrace(trace, { emptySlices: 'fine' });
    expect(view.processes.map(({ name }) => name)).toEqual([
      'rank 0003 · NO FILE',
      'rank 0000 · host-1',
      'rank 0001 · host-1',
      'rank 0002 · host-3',
    ]);
    expect(view.tracks.filter(({ name }) => name === 'thread-2 9')).not.toEqual([]);
    expect(
      view.tracks.filter(({ path: [top], name }) => top!.startsWith('Cluster') && name.startsWith('comm-1 ')),
    ).not.toEqual([]);
    expect(err).toMatch(/problem: file-\d+\.bin: .*not a rank file/);
    expect(err).toMatch(/another run \(job-2, started/);
    expect(err).toMatch(/trace: out\.pftrace/);
    const { ranks } = JSON.parse(readFileSync(summary, 'utf8')) as {
      ranks: { host: string; file: string }[];
    };
    expect(ranks.map(({ host, file }) => [host, file])).toEqual([
      ['host-1', 'file-1.bin'],
      ['host-1', 'file-2.bin'],
      ['host-3', 'file-3.bin'],
    ]);
  });

  it.each([
    ['inspect', '--records'],
    ['inspect', '--records', '--json'],
    ['clocks'],
    ['clocks', '--json'],
    ['text'],
    ['merge', '--run', 'list'],
    ['inspect', '--run', 'list', '--json'],
  ])('in what these print: %s %s %s %s', async (command, ...options) => {
    const { code, out, err } = await said(command, run, ...options, '--redact');
    expect({ code, names: `${out}${err}`.includes(SECRET) }).toEqual({ code: 0, names: false });
    expect(out.length).toBeGreaterThan(100);
    // The same without is full of them: the test sees what it looks for.
    expect((await said(command, run, ...options)).out).toContain(SECRET);
  });
});

it('a run is asked for by its alias, or its name; neither gets out where there is none like it', async () => {
  writeRanks('older', { runId: `other-${SECRET}`, startRealtime: 1_700_000_000_000_000_000n }, 100);
  for (const name of ['job-2', `other-${SECRET}`]) {
    const { code, out, err } = await said('inspect', run, '--run', name, '--redact');
    expect({ code, names: `${out}${err}`.includes(SECRET) }).toEqual({ code: 0, names: false });
    expect(out).toContain('merge DIR');
  }
  const { code, err } = await said('inspect', run, '--run', 'job-9', '--redact');
  expect(code).toBe(2);
  expect(err).toContain('job-2');
  expect(err).not.toContain(SECRET);
});

it('problems of other files are reported without their names', async () => {
  writeFileSync(path.join(run, `rank-current-${SECRET}-0.bin.rings`), 'hello');
  const broken = path.join(folder, `rank-${SECRET}.bin`);
  writeFileSync(broken, 'hello');
  const { err } = await said('merge', run, '-o', path.join(folder, 'x.pftrace'), '--redact');
  expect(err).toMatch(/the saved rings beside it \(\.rings\) are not complete/);
  const alone = await said('merge', broken, '-o', path.join(folder, 'y.pftrace'), '--redact');
  expect(alone.code).toBe(3);
  for (const text of [err, alone.err]) expect(text).not.toContain(SECRET);
});

it('the bytes depend neither on the names of the files nor on their order', async () => {
  const output = path.join(folder, 'a.pftrace');
  await merge({ inputs: [run], output, jobs: 1, redact: true });
  readdirSync(run).forEach((name, i) => {
    renameSync(path.join(run, name), path.join(run, `rank${9 - i}.bin`));
  });
  const other = path.join(folder, 'b.pftrace');
  await merge({ inputs: [run], output: other, jobs: 1, redact: true });
  expect(readFileSync(other).equals(readFileSync(output))).toBe(true);
});

it('a boot, which is the same in all that a host recorded, has an alias, too', async () => {
  const boot = '01'.repeat(16);
  expect((await said('inspect', run, '--json')).out).toContain(boot);
  const { out } = await said('inspect', run, '--json', '--redact');
  expect(out).not.toContain(boot);
  expect(out).toContain('"bootId":"boot-2"');
});

it('communicators without an id are selected and sized by their aliases', async () => {
  const path0 = path.join(folder, 'old', 'rank0.bin');
  mkdirSync(path.dirname(path0));
  const file = madeUpRank(0);
  const comm = file.communicator({ name: `old-${SECRET}`, commId: 0n, rank: 0, nRanks: 2, abi: 3 });
  const host = file.ring('host', 64, { tid: 8 });
  for (let i = 0; i < 5; i++) host.stop(1000 * i + 10, host.startColl(1000 * i, { comm, seqNumber: i }));
  file.write(path0);
  const estimates: unknown[] = [];
  for (const redact of [false, true]) {
    const { selection } = await merge({
      inputs: [path0],
      output: path.join(folder, `${redact}.pftrace`),
      jobs: 1,
      redact,
      select: { comms: [`old-${SECRET}`] },
    });
    estimates.push(selection.estimate.slices);
  }
  expect(estimates).toEqual([5, 5]);
});

it('the next command repeats the options, with names replaced', async () => {
  const { out } = await said('inspect', run, '--redact', '--hung-after', '7');
  expect(out.replace(/ \\\n +/g, ' ')).toMatch(
    /\nnext: nccl-trace merge DIR( --\S+ \S+)* --hung-after 7 --redact/,
  );
});
