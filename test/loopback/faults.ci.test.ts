// Each fault that an option asks for happens, as the ranks' own account and their end say, and no process is left behind.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Run, program, runRaw } from './loopback.js';

const runs: Run[] = [];
afterEach(() => {
  runs.splice(0).forEach((run) => {
    run.remove();
  });
});

const SMALL = '--ops allreduce:256K --channels 1 --iterations 4';

async function run(args: string): Promise<Run> {
  const result = await Run.of(`--hang-seconds 0.4 ${args}`, { plugin: true });
  runs.push(result);
  return result;
}

/** A process id can be used again, so the name counts too. */
function isLoopback(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('nccl-trace-loop');
  } catch {
    return false; // it has ended, perhaps just now
  }
}

const openOps = (result: Run, rank: number) => result.proxyOps(rank).filter(({ completed }) => !completed);
const stepsOf = (result: Run, rank: number, task: number): number =>
  result.proxyOps(rank).reduce((sum, op) => sum + (op.task === task ? op.stepsDone : 0), 0);

test.each([
  ['kill', 'signal 9'],
  ['exit', 'exit 9'],
  ['abort', 'signal 6'],
])('%s before, in and after a collective: %s, and the number of finished ones', async (kind, ended) => {
  for (const [when, done] of [
    ['before', 2],
    ['in', 2],
    ['after', 3],
  ] as const) {
    const result = await run(`--ranks 2 ${SMALL} --fault ${kind}:1@2:${when}`);
    expect(result.exit.code).toBe(4);
    expect(result.summary.perRank[1]).toMatchObject({ ended });
    expect(result.summary.perRank.map(({ pid }) => pid).filter(isLoopback)).toEqual([]);
    expect(result.tasks(1).filter(({ completed }) => completed)).toHaveLength(done);
  }
});

test('skip: the others wait in vain, and everything is written down before the end', async () => {
  const result = await run(`--ranks 4 ${SMALL} --fault skip:3@1`);
  expect(result.summary).toMatchObject({ ending: 'hung', exitCode: 4 });
  expect(result.summary.perRank.map(({ ended }) => ended)).toEqual(Array(4).fill('signal 9'));
  expect(result.tasks(3).map(({ iteration }) => iteration)).toEqual([0]);
  for (const rank of [0, 1, 2]) {
    expect(result.tasks(rank).map(({ completed }) => completed)).toEqual([true, false]);
    expect(openOps(result, rank)).toHaveLength(2);
    expect(result.totals(rank).final).toBe(true);
  }
  // Rank 3 never posted a receive: rank 2 asked again and again, rank 0 never got anything.
  const nothing = { peer: 3, stepsDone: 0, bytes: 0 };
  expect(openOps(result, 2).find(({ isSend }) => isSend)).toMatchObject(nothing);
  expect(openOps(result, 0).find(({ isSend }) => !isSend)).toMatchObject(nothing);
  expect(result.totals(2).states['20']).toBeGreaterThan(result.totals(2).states['9']!);
});

test('kill and stall after so many steps: no more and no fewer', async () => {
  for (const kind of ['kill', 'stall']) {
    const result = await run(`--ranks 3 ${SMALL} --fault ${kind}:1@1:2`);
    expect(result.exit.code).toBe(4);
    const last = result.tasks(1).at(-1)!;
    expect(last).toMatchObject({ iteration: 1, completed: false });
    expect(stepsOf(result, 1, last.task)).toBe(2);
  }
});

test('gpu, send, recv, drop: that rank stops as asked, and all hang', async () => {
  for (const kind of ['gpu', 'send', 'recv', 'drop']) {
    const result = await run(`--ranks 3 ${SMALL} --fault ${kind}:1@2:2`);
    expect(result.summary.ending).toBe('hung');
    expect(openOps(result, 1).some(({ isSend }) => isSend === (kind !== 'recv'))).toBe(true);
  }
});

test('gpu-start: called, and no kernel began. --hang-signal ABORT: every rank leaves by itself', async () => {
  const result = await run(`--ranks 2 ${SMALL} --fault gpu-start:1@2 --hang-signal ABORT`);
  const kernels = (rank: number) => result.tasks(rank).filter(({ begunNs }) => begunNs !== null).length;
  expect([kernels(0), kernels(1)]).toEqual([3, 2]);
  expect(result.tasks(1)).toHaveLength(3);
  for (const rank of [0, 1]) expect(result.totals(rank)).toMatchObject({ finalizes: 1 });
});

test('post: the proxy gets the operations of channel 0 only', async () => {
  const result = await run(`--ranks 3 ${SMALL} --channels 2 --fault post:1@1`);
  expect(result.exit.code).toBe(4);
  const { task } = result.tasks(1).at(-1)!;
  const begun = result.proxyOps(1).filter((op) => op.task === task && op.started);
  expect(new Set(begun.map(({ channel }) => channel))).toEqual(new Set([0]));
});

test('stop, node, all: the processes that are meant', async () => {
  const stopped = await run(`--ranks 2 ${SMALL} --fault stop:1@2:before`);
  expect(stopped.summary.perRank.map(({ ended, iterations }) => [ended, iterations])).toEqual(
    Array(2).fill(['signal 9', 2]),
  );
  const memory = mkdtempSync(path.join(tmpdir(), 'loopback-nodes-'));
  await run(`--ranks 4 --node-size 2 --node-memory MEMORY=${memory} ${SMALL} --fault node:3@2`);
  expect(readdirSync(memory)).toEqual(['node-0']);
  rmSync(memory, { recursive: true });
  const all = await run(`--ranks 3 ${SMALL} --fault exit:all@2`);
  expect(all.summary.perRank.map(({ ended }) => ended)).toEqual(Array(3).fill('exit 9'));
});

test('slow host and slow GPU: late where and when asked', async () => {
  const host = await run(`--ranks 2 ${SMALL} --slow host:1:300ms@1-1`);
  const late = host.tasks(1).map(({ startNs }, i) => startNs - host.tasks(0)[i]!.startNs > 150e6);
  expect(late).toEqual([false, true, false, false]);
  const gpu = await run('--ranks 2 --channels 1 --iterations 1 --ops allreduce:4K*5 --slow gpu:1:20ms');
  const begun = gpu.tasks(1).map(({ begunNs }) => begunNs! / 1e6);
  expect(begun.slice(1).every((at, i) => at - begun[i]! >= 20)).toBe(true);
  const starts = gpu.tasks(1).map(({ startNs }) => startNs / 1e6);
  expect(starts.at(-1)! - starts[0]!).toBeLessThan(20 * 4);
});

test.each(['nic:0', 'link:0'])('--slow %s: 1 MB at 5 MB/s', async (what) => {
  const args = '--ranks 2 --channels 1 --iterations 1 --ops group{send+recv:1M}';
  const slow = await run(`${args} --slow ${what}:5`);
  const received = slow.tasks(1).find(({ func }) => func === 'Recv')!;
  expect((received.endNs! - received.startNs) / 1e6).toBeGreaterThan(190);
});

test('--connect-at-use: a rank that never comes leaves the others inside their calls', async () => {
  const result = await run(`--ranks 3 ${SMALL} --connect-at-use --fault skip:2@0 --hang-signal ABORT`);
  for (const rank of [0, 1]) {
    expect(result.totals(rank).starts).toMatchObject({ GroupApi: 1, CollApi: 1 });
    expect(result.totals(rank).starts).not.toHaveProperty('Coll');
  }
});

test('other: crossed communicators on one stream hang, on two streams they do not', async () => {
  const args =
    '--ranks 2 --channels 1 --groups pair=2 --iterations 2 --ops allreduce:4K,allreduce@pair:4K ' +
    '--fault other:1@1:allreduce@pair:4K,allreduce:4K';
  const unfinished = async (more: string) =>
    (await run(`${args}${more}`)).tasks(0).filter(({ completed }) => !completed);
  expect(await unfinished(' --one-stream')).toHaveLength(2);
  expect(await unfinished('')).toEqual([]);
});

test('--timeout ends everything', async () => {
  // The last --timeout counts, and Run gives one of its own.
  const args = `--ranks 4 ${SMALL} --fault skip:0@0 --hang-seconds 100 --timeout 0.4 --json --quiet`;
  const { code, stdout } = await runRaw(args, { NCCL_PROFILER_PLUGIN: 'none' });
  expect(code).toBe(1);
  const summary = JSON.parse(stdout) as Run['summary'];
  expect(summary.ending).toBe('timeout');
  expect(summary.perRank.map(({ pid }) => pid).filter(isLoopback)).toEqual([]);
});

/** Processes of this program whose parent is `pid`. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => {
      try {
        const stat = readFileSync(`/proc/${child}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid;
      } catch {
        return false; // it has just ended
      }
    });
}

async function until(condition: () => boolean) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

test.each(['SIGTERM', 'SIGKILL'] as const)('%s to the launcher ends all ranks', async (signal) => {
  const args = '--ranks 3 --ops sleep:60s --iterations 1 --quiet';
  const child = spawn(program, args.split(' '), { stdio: 'ignore', env: { NCCL_PROFILER_PLUGIN: 'none' } });
  await until(() => childrenOf(child.pid!).filter(isLoopback).length === 3);
  const ranks = childrenOf(child.pid!);
  const closed = new Promise((resolve) => child.on('close', resolve));
  child.kill(signal);
  const code = await closed;
  if (signal !== 'SIGKILL') expect(code).toBe(143);
  await until(() => ranks.filter(isLoopback).length === 0);
});

test.each([
  ['--bogus', "unknown option '--bogus'"],
  ['--ops foo:1M', "'foo' is no operation"],
  ['--ops allreduce', 'needs a size'],
  ['--ops allreduce@tp:1M', "no communicator 'tp'"],
  ['--ops send(2):4', 'would go to the rank itself'],
  ['--ranks 0', '--ranks wants a whole number'],
  ['--registered --pxn 0:1', 'exclude each other'],
  ['--connect-at-use --non-blocking', 'exclude each other'],
  ['--fault burn:1@2', '--fault does not know'],
  ['--fault kill:1', 'wants KIND:RANK@ITER'],
  ['--fault kill:7@1', 'there is no rank 7'],
  ['--fault gpu:1@1:before', 'is for faults of a process'],
  ['--fault kill:1@1 --fault send:1@2', 'can count steps for one fault only'],
  ['--slow gpu:1', 'wants WHAT:RANK:AMOUNT'],
])('%s is refused with exit code 2: %s', async (args, message) => {
  const { code, stderr } = await runRaw(`--ranks 2 ${args}`);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
