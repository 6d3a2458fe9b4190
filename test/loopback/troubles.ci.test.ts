// --fault, --slow and connections at first use: in the truth of the ranks.

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { Run, runRaw } from './loopback.js';

const runs: Run[] = [];
const folders: string[] = [];
afterEach(() => {
  runs.splice(0).forEach((run) => {
    run.remove();
  });
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function run(args: string): Promise<Run> {
  const result = await Run.of(`--hang-seconds 0.4 ${args}`, { plugin: true });
  runs.push(result);
  return result;
}

const small = '--ops allreduce:256K --channels 1 --iterations 4';

describe('--fault', () => {
  test.each([
    ['kill', 'signal 9'],
    ['exit', 'exit 9'],
    ['abort', 'signal 6'],
  ])(
    '%s before, in and after a collective: %s, and the number of finished collectives',
    async (kind, ended) => {
      for (const [when, done] of [
        ['before', 2],
        ['in', 2],
        ['after', 3],
      ] as const) {
        const result = await run(`--ranks 2 ${small} --fault ${kind}:1@2:${when}`);
        expect(result.exit.code).toBe(4);
        expect(result.summary.perRank[1]).toMatchObject({ ended });
        expect(result.tasks(1).filter(({ completed }) => completed)).toHaveLength(done);
      }
    },
  );

  test('stop: the process is alive and does nothing, until all are killed', async () => {
    const { summary } = await run(`--ranks 2 ${small} --fault stop:1@2:before`);
    expect(summary).toMatchObject({ ending: 'hung' });
    expect(summary.perRank.map(({ ended, iterations }) => [ended, iterations])).toEqual([
      ['signal 9', 2],
      ['signal 9', 2],
    ]);
  });

  test('node: all its processes end and its memory is removed, and no other node is affected', async () => {
    const memory = mkdtempSync(path.join(tmpdir(), 'loopback-nodes-'));
    folders.push(memory);
    const result = await run(
      `--ranks 4 --node-size 2 --node-memory MEMORY=${memory} ${small} --fault node:3@2`,
    );
    expect(result.exit.code).toBe(4);
    expect(readdirSync(memory)).toEqual(['node-0']);
    expect(existsSync(path.join(memory, 'node-1'))).toBe(false);
  });

  test('all: every rank', async () => {
    const { summary } = await run(`--ranks 3 ${small} --fault exit:all@2`);
    expect(summary.perRank.map(({ ended }) => ended)).toEqual(['exit 9', 'exit 9', 'exit 9']);
  });

  test('gpu-start: called, and no kernel began', async () => {
    const result = await run(`--ranks 2 ${small} --fault gpu-start:1@2 --hang-signal ABORT`);
    const kernels = (rank: number) => result.tasks(rank).filter(({ begunNs }) => begunNs !== null).length;
    expect([kernels(0), kernels(1)]).toEqual([3, 2]);
    expect(result.tasks(1)).toHaveLength(3);
  });

  test('gpu, send, recv: that rank stops as asked, and all hang', async () => {
    for (const kind of ['gpu', 'send', 'recv']) {
      const result = await run(`--ranks 3 ${small} --fault ${kind}:1@2:2`);
      expect(result.summary.ending).toBe('hung');
      const open = result.proxyOps(1).filter(({ completed }) => !completed);
      expect(open.some(({ isSend }) => isSend === (kind !== 'recv'))).toBe(true);
    }
  });

  test('two faults of two ranks', async () => {
    const { summary } = await run(`--ranks 3 ${small} --fault kill:1@2 --fault exit:2@2:before`);
    expect(summary.perRank.slice(1).map(({ ended }) => ended)).toEqual(['signal 9', 'exit 9']);
  });

  test.each([
    ['--fault burn:1@2', '--fault does not know'],
    ['--fault kill:1', 'wants KIND:RANK@ITER'],
    ['--fault kill:7@1', 'there is no rank 7'],
    ['--fault gpu:1@1:before', 'is for faults of a process'],
    ['--fault kill:1@1 --fault send:1@2', 'can count steps for one fault only'],
    ['--fault skip:1@1:5', 'are for a whole iteration'],
    ['--fault kill:1@1:5/3ms', 'only drop lasts'],
    ['--fault other:1@1', 'wants KIND:RANK@ITER'],
    ['--slow gpu:1', 'wants WHAT:RANK:AMOUNT'],
    ['--slow host:9:1ms', 'there is no rank 9'],
    ['--node-memory X', 'wants VARIABLE=FOLDER'],
    ['--connect-at-use --non-blocking', 'exclude each other'],
  ])('%s is no option: %s', async (args, message) => {
    const { code, stderr } = await runRaw(`--ranks 2 ${args}`);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('--slow', () => {
  test('gpu: kernels begin late in their stream, though the calls came at once', async () => {
    const result = await run('--ranks 2 --channels 1 --iterations 1 --ops allreduce:4K*5 --slow gpu:1:20ms');
    const begun = result.tasks(1).map(({ begunNs }) => begunNs! / 1e6);
    expect(begun.slice(1).every((at, i) => at - begun[i]! >= 20)).toBe(true);
    const starts = result.tasks(1).map(({ startNs }) => startNs / 1e6);
    expect(starts.at(-1)! - starts[0]!).toBeLessThan(20 * 4);
  });

  test('each third iteration alone, or since one', async () => {
    const waits = async (when: string) => {
      const result = await run(
        `--ranks 2 --channels 1 --iterations 6 --ops allreduce:4K --slow host:1:300ms${when}`,
      );
      const starts = result.tasks(1).map(({ startNs }) => startNs / 1e6);
      return starts.slice(1).map((at, i) => at - starts[i]! >= 300);
    };
    expect(await waits('/3')).toEqual([false, true, false, false, true]);
    expect(await waits('@4')).toEqual([false, false, false, true, true]);
  });

  test.each(['nic', 'link'])('%s: 1 MB at 5 MB/s', async (what) => {
    const args = '--ranks 2 --channels 1 --iterations 1 --ops group{send+recv:1M}';
    const slow = await run(`${args} --slow ${what}:0:5`);
    const received = slow.tasks(1).find(({ func }) => func === 'Recv')!;
    expect((received.endNs! - received.startNs) / 1e6).toBeGreaterThan(190);
  });

  test('--rate-limit: a small message after a pause takes its time like any other', async () => {
    const exchange = '--ranks 3 --channels 1 --iterations 4 --ops group{send+recv:64K},sync,sleep:20ms';
    const paced = await run(`${exchange} --rate-limit 5`);
    const received = [0, 1, 2].flatMap((rank) => paced.tasks(rank).filter(({ func }) => func === 'Recv'));
    expect(received).toHaveLength(12);
    // 13.1 ms from the sender's post on, which may be a little before the receiver calls.
    const shortest = Math.min(...received.map(({ startNs, endNs }) => endNs! - startNs));
    expect(shortest / 1e6).toBeGreaterThan(8);
  });
});

describe('--connect-at-use', () => {
  test('a rank that never comes leaves the others inside their calls', async () => {
    const result = await run(`--ranks 3 ${small} --connect-at-use --fault skip:2@0 --hang-signal ABORT`);
    for (const rank of [0, 1])
      expect(result.totals(rank)).toMatchObject({ finalizes: 1, starts: { GroupApi: 1, CollApi: 1 } });
    for (const rank of [0, 1]) expect(result.totals(rank).starts).not.toHaveProperty('Coll');
  });

  test('a send without a receive stays inside its call, too; with both, the job finishes', async () => {
    const args =
      '--ranks 3 --iterations 2 --connect-at-use --ops group{send+recv:64K},allreduce:64K,alltoall:32K';
    const lone = await run(`${args} --fault other:1@0:allreduce:64K --hang-signal ABORT`);
    expect(lone.summary.ending).toBe('hung');
    expect(lone.totals(0).starts).not.toHaveProperty('P2p');
    const whole = await run(args);
    expect(whole.exit.code).toBe(0);
  });
});

test('crossed communicators on one stream hang, on two streams they do not', async () => {
  const args =
    '--ranks 2 --channels 1 --groups pair=2 --iterations 2 --ops allreduce:4K,allreduce@pair:4K ' +
    '--fault other:1@1:allreduce@pair:4K,allreduce:4K';
  const crossed = await run(`${args} --one-stream`);
  expect(crossed.tasks(0).filter(({ completed }) => !completed)).toHaveLength(2);
  const side = await run(args);
  expect(side.tasks(0).filter(({ completed }) => !completed)).toEqual([]);
});

test('within a node nothing goes through the proxy', async () => {
  const result = await run('--ranks 4 --node-size 2 --channels 1 --iterations 1 --ops allreduce:64K');
  const operations = [0, 1, 2, 3].map((rank) => result.totals(rank).starts.ProxyOp);
  expect(operations).toEqual([1, 1, 1, 1]);
});
