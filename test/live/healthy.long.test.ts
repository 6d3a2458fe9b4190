/** Healthy jobs of many kinds, watched from start to end: none of them is announced. */

import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { record } from '../support/jobs/loopback.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import { startWatch } from './watched.js';

const SMALL = 'allreduce:256K,allreduce:32K*4';

describe.concurrent('not announced:', () => {
  it.each([
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
  ])('%s', async (_, args) => {
    const { folder, remove } = temporaryFolder();
    try {
      const all = 'hung,broken,mismatch,slow,unclear';
      const watcher = startWatch(path.join(folder, 'recording'), '--linger', '0', '--fail-on', all);
      expect((await record(folder, `${args} --timeout 200`)).code).toBe(0);
      const { code, out } = await watcher.ended;
      expect({ code, out }).toEqual({ code: 0, out: '' });
    } finally {
      remove();
    }
  });
});
