/** Healthy jobs of many kinds, watched from start to end: none of them is announced. */

import { existsSync, linkSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { record } from '../support/jobs/loopback.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import { startWatch } from './watched.js';

const SMALL = 'allreduce:256K,allreduce:32K*4';
const STEADY = `--iterations 200 --ops ${SMALL},sleep:30ms --jitter 1ms`;
const ALARMS = ['--linger', '0', '--fail-on', 'hung,broken,mismatch,slow,unclear'];
const SILENT = { code: 0, out: '' };

type Job = readonly [kind: string, args: string, settings?: Readonly<Record<string, string>>];

const NCCL = ['2.23', '2.25', '2.26', '2.27', '2.28', '2.30', '2.31'];
const VERSIONS = NCCL.map((version, i): Job => [`NCCL ${version}`, `--ranks 2 --abi ${i + 1} ${STEADY}`]);

const JOBS: readonly Job[] = [
  ['steady', `--ranks 2 --iterations 400 --ops ${SMALL},sleep:20ms`],
  ['without a pause', '--ranks 2 --iterations 3000 --ops allreduce:64K'],
  ['a little jitter', `--ranks 4 --iterations 250 --ops ${SMALL},sleep:20ms --jitter 1ms`],
  ['much jitter', `--ranks 2 --iterations 200 --ops ${SMALL},sleep:30ms --jitter 20ms`],
  ['long steps', '--ranks 2 --iterations 8 --ops allreduce:1M*20,sleep:1500ms'],
  ['checkpoints of 6 s', '--ranks 2 --iterations 3 --ops allreduce:1M*50,sleep:6000ms'],
  ['checkpoints with jitter', '--ranks 2 --iterations 3 --ops allreduce:1M*50,sleep:5000ms --jitter 3ms'],
  ['a checkpoint of 20 s', '--ranks 2 --iterations 2 --ops allreduce:1M*20,sleep:20000ms'],
  ['idle for 18 s', '--ranks 2 --iterations 1 --ops allreduce:1M,sleep:18000ms'],
  ['idle after much', '--ranks 2 --iterations 1 --ops allreduce:64K*500,sleep:16000ms'],
  ['few calls', '--ranks 4 --iterations 4 --ops allreduce:64K,sleep:3000ms'],
  ['large messages', '--ranks 2 --iterations 40 --ops allreduce:16M,sleep:50ms'],
  ...VERSIONS,
  ['two ranks on each node', `--ranks 4 --node-size 2 ${STEADY}`],
  ['checkpoints of two nodes', '--ranks 4 --node-size 2 --iterations 3 --ops allreduce:1M*20,sleep:6000ms'],
  [
    'tensor and data parallel',
    `--ranks 4 --groups tp=2 --groups-strided dp=2 --iterations 200 --ops allreduce@tp:256K*3,allreduce@dp:64K,sleep:30ms`,
  ],
  [
    'a pipeline',
    '--ranks 4 --iterations 200 --ops group{send+recv:1M},allreduce:64K,sleep:20ms --jitter 2ms',
  ],
  ['all to all', '--ranks 4 --iterations 200 --ops alltoall:1M,sleep:30ms --jitter 1ms'],
  ['a captured graph', '--ranks 2 --iterations 40 --ops graph{allreduce:256K+allreduce:32K}*20,sleep:100ms'],
  ['a tree', `--ranks 4 --algo tree ${STEADY}`],
  ['connections at first use', `--ranks 4 --connect-at-use --settle 3000 ${STEADY}`],
  ['a start of 16 s', `--ranks 2 --settle 16000 ${STEADY}`],
  ['an end without ncclCommDestroy', `--ranks 2 --exit leave ${STEADY}`],
  ['stream mode', `--ranks 2 ${STEADY}`, { NCCL_TRACE_MODE: 'stream' }],
  [
    'stream mode with checkpoints',
    '--ranks 2 --iterations 3 --ops allreduce:64K*500,sleep:6000ms',
    { NCCL_TRACE_MODE: 'stream', NCCL_TRACE_RING_MB: '1' },
  ],
  ['rings that lap', '--ranks 2 --iterations 3000 --ops allreduce:64K*4', { NCCL_TRACE_RING_MB: '1' }],
  ['collectives alone', `--ranks 2 ${STEADY}`, { NCCL_TRACE_EVENTS: 'coll' }],
];

describe.concurrent('not announced:', () => {
  it.each(JOBS.map(([kind, args, settings = {}]) => ({ kind, args, settings })))(
    '$kind',
    async ({ args, settings }) => {
      const { folder, remove } = temporaryFolder();
      try {
        const watcher = startWatch(path.join(folder, 'recording'), ...ALARMS);
        expect((await record(folder, `${args} --timeout 200`, settings)).code).toBe(0);
        const { code, out } = await watcher.ended;
        expect({ code, out }).toEqual(SILENT);
      } finally {
        remove();
      }
    },
  );

  it('by a node that has the files of its own ranks only', async () => {
    const { folder, remove } = temporaryFolder();
    try {
      const job = record(folder, `--ranks 4 --node-size 2 ${STEADY} --timeout 200`);
      const node = path.join(folder, 'node');
      mkdirSync(node);
      for (const name of ['rank00000.bin', 'rank00001.bin']) {
        const file = path.join(folder, 'recording', name);
        while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 20));
        linkSync(file, path.join(node, name));
      }
      const watcher = startWatch(node, ...ALARMS);
      expect((await job).code).toBe(0);
      const { code, out } = await watcher.ended;
      expect({ code, out }).toEqual(SILENT);
    } finally {
      remove();
    }
  });

  it('a job that is started three times', async () => {
    const { folder, remove } = temporaryFolder();
    try {
      const watcher = startWatch(path.join(folder, 'recording'), '--linger', '20', ...ALARMS.slice(2));
      for (let start = 0; start < 3; start++)
        expect((await record(folder, `--ranks 2 --iterations 100 --ops ${SMALL},sleep:30ms`)).code).toBe(0);
      const { code, out } = await watcher.ended;
      expect({ code, out }).toEqual(SILENT);
    } finally {
      remove();
    }
  });
});
