// Each fault that an option asks for happens, ends in time, and leaves no process behind.

import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { Run, program } from './loopback.js';

const runs: Run[] = [];
afterEach(() => {
  runs.splice(0).forEach((run) => {
    run.remove();
  });
});

async function run(args: string): Promise<Run> {
  const result = await Run.of(args, { plugin: true });
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

function expectNobodyLeft({ summary }: Run) {
  expect(summary.perRank.map(({ pid }) => pid).filter(isLoopback)).toEqual([]);
}

const small = '--ops allreduce:1M --channels 1 --iterations 3';

test('skip: the others wait in vain, and everything is written down before the end', async () => {
  const result = await run(`--ranks 4 ${small} --fault skip:3@1 --hang-seconds 0.3`);
  expect(result.exit.code).toBe(4);
  expect(result.summary.ending).toBe('hung');
  expect(result.summary.perRank.map(({ ended }) => ended)).toEqual(Array(4).fill('signal 9'));
  expect(result.summary.elapsedMs).toBeLessThan(3000);
  expectNobodyLeft(result);

  expect(result.tasks(3).map(({ iteration }) => iteration)).toEqual([0]);
  for (const rank of [0, 1, 2]) {
    expect(result.tasks(rank).map(({ completed, endNs }) => [completed, endNs !== null])).toEqual([
      [true, true],
      [false, false],
    ]);
    const open = result.proxyOps(rank).filter(({ completed }) => !completed);
    expect(open).toHaveLength(2);
    expect(result.totals(rank).final).toBe(true);
  }
  // Rank 3 never posted a receive: rank 2 asked again and again, rank 0 never got anything.
  const toSkipper = result.proxyOps(2).find((op) => op.isSend && !op.completed)!;
  expect(toSkipper).toMatchObject({ peer: 3, stepsDone: 0, bytes: 0 });
  expect(result.totals(2).states['20']).toBeGreaterThan(result.totals(2).states['9']!);
  const fromSkipper = result.proxyOps(0).find((op) => !op.isSend && !op.completed)!;
  expect(fromSkipper).toMatchObject({ peer: 3, stepsDone: 0, bytes: 0 });
});

test('kill: dead by SIGKILL after so many steps, in mid collective', async () => {
  const result = await run(`--ranks 4 ${small} --fault kill:2@1:5 --hang-seconds 0.3`);
  expect(result.exit.code).toBe(4);
  expect(result.summary.perRank[2]).toMatchObject({ ended: 'signal 9', iterations: 1 });
  expectNobodyLeft(result);
  const [, killedIn] = result.tasks(2);
  expect(killedIn).toMatchObject({ iteration: 1, completed: false });
  const steps = result
    .proxyOps(2)
    .filter(({ task }) => task === killedIn!.task)
    .map(({ stepsDone }) => stepsDone);
  expect(steps.reduce((a, b) => a + b)).toBe(5);
  expect(result.totals(2)).toMatchObject({ final: true, finalizes: 0 });
});

test('other: it calls something else, and the others go on without knowing', async () => {
  const args = `--ranks 3 ${small} --fault other:1@1:sync,allgather:1M --hang-seconds 1`;
  const result = await run(args);
  expect(result.exit.code).toBe(4);
  const calls = (rank: number) => result.tasks(rank).map(({ func, seq }) => [func, seq]);
  expect(calls(1).slice(0, 2)).toEqual([
    ['AllReduce', 0],
    ['AllGather', 0],
  ]);
  expect(calls(0).slice(0, 2)).toEqual([
    ['AllReduce', 0],
    ['AllReduce', 1],
  ]);
});

test('stall: its progress thread stops after the given number of steps, and the rank is alive', async () => {
  const result = await run(`--ranks 3 ${small} --fault stall:1@1:5 --hang-seconds 0.3`);
  expect(result.exit.code).toBe(4);
  const stalled = result.tasks(1).at(-1)!;
  expect(stalled).toMatchObject({ iteration: 1, completed: false });
  const steps = result.proxyOps(1).filter(({ task }) => task === stalled.task);
  expect(steps.reduce((sum, { stepsDone }) => sum + stepsDone, 0)).toBe(5);
  expectNobodyLeft(result);
});

test('drop: its sends do not arrive, its receives do', async () => {
  const result = await run(`--ranks 3 ${small} --fault drop:1@1:2 --hang-seconds 0.3`);
  expect(result.exit.code).toBe(4);
  const open = (rank: number) => result.proxyOps(rank).filter(({ completed }) => !completed);
  const sent = open(1).find(({ isSend }) => isSend)!;
  const arrived = open(2).find(({ isSend, peer }) => !isSend && peer === 1)!;
  expect(sent.stepsDone).toBeLessThan(sent.nSteps);
  expect(arrived.stepsDone).toBeLessThanOrEqual(sent.stepsDone);
});

test('post: the proxy gets the operations of channel 0 only', async () => {
  const result = await run(`--ranks 3 ${small} --channels 2 --fault post:1@1 --hang-seconds 0.3`);
  expect(result.exit.code).toBe(4);
  const { task } = result.tasks(1).at(-1)!;
  const begun = result.proxyOps(1).filter((op) => op.task === task && op.started);
  expect(new Set(begun.map(({ channel }) => channel))).toEqual(new Set([0]));
});

test('--hang-signal TERM: the survivors end by it', async () => {
  const result = await run(`--ranks 3 ${small} --fault kill:0@0 --hang-seconds 0.1 --hang-signal TERM`);
  expect(result.summary.perRank.map(({ ended }) => ended)).toEqual(['signal 9', 'signal 15', 'signal 15']);
});

test('slow host, in one iteration: late where asked, and the others wait for it', async () => {
  const result = await run(`--ranks 3 ${small} --slow host:1:200ms@1-1`);
  expect(result.exit.code).toBe(0);
  const of = (rank: number, iteration: number) => result.tasks(rank)[iteration]!;
  const lateness = (iteration: number) => of(1, iteration).startNs - of(0, iteration).startNs;
  expect(lateness(1)).toBeGreaterThan(100e6);
  expect(Math.abs(lateness(0))).toBeLessThan(100e6);
  expect(Math.abs(lateness(2))).toBeLessThan(100e6);
  expect(of(0, 1).endNs!).toBeGreaterThan(of(1, 1).startNs);
});

test('--timeout ends everything', async () => {
  // The last --timeout counts, and Run gives one of its own.
  const args = `--ranks 4 ${small} --fault skip:0@0 --hang-seconds 100 --timeout 0.4 --json --quiet`;
  const child = spawn(program, args.split(' '), { env: { NCCL_PROFILER_PLUGIN: 'none' } });
  let stdout = '';
  child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect(code).toBe(1);
  const summary = JSON.parse(stdout) as Run['summary'];
  expect(summary.ending).toBe('timeout');
  expect(summary.elapsedMs).toBeLessThan(3000);
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

test.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('%s to the launcher ends all ranks', async (signal) => {
  const args = '--ranks 3 --ops sleep:60s --iterations 1 --quiet';
  const child = spawn(program, args.split(' '), { stdio: 'ignore', env: { NCCL_PROFILER_PLUGIN: 'none' } });
  await until(() => childrenOf(child.pid!).filter(isLoopback).length === 3);
  const ranks = childrenOf(child.pid!);
  const closed = new Promise((resolve) => child.on('close', resolve));
  child.kill(signal);
  const code = await closed;
  if (signal !== 'SIGKILL') expect(code).toBe(signal === 'SIGTERM' ? 143 : 130);
  await until(() => ranks.filter(isLoopback).length === 0);
});

test('a rank killed from outside: the job has failed', async () => {
  const args = '--ranks 3 --ops sleep:60s --iterations 1 --hang-seconds 0.1 --quiet --json';
  const child = spawn(program, args.split(' '), { env: { NCCL_PROFILER_PLUGIN: 'none' } });
  let stdout = '';
  child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
  const closed = new Promise((resolve) => child.on('close', resolve));
  await until(() => childrenOf(child.pid!).filter(isLoopback).length === 3);
  process.kill(childrenOf(child.pid!)[1]!, 'SIGKILL');
  expect(await closed).toBe(1);
  expect((JSON.parse(stdout) as Run['summary']).ending).toBe('failed');
});
