/**
 * The picture of a file does not depend on how its rings are read: steps in long runs, as both passes do, or all records one by one in the
 * order of their ticks. On random runs of the loopback: a few of them, 60 with NCCL_TRACE_LONG=1.
 */

import { rmSync, readdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { mergedRows } from '../../src/rankfile/index.js';
import { record } from '../support/loopback.js';
import { drawFile } from '../support/picture.js';
import { seeded } from '../support/simulated_links.js';

const folder = await mkdtemp(join(tmpdir(), 'reading-order-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const RUNS = process.env.NCCL_TRACE_LONG === '1' ? 60 : 3;

/** Several progress threads, old interfaces, events of network plugins, a hang, late starts, lost stops, handles that fit nothing. */
const WAYS = [
  '--groups tp=2 --ops allreduce:1M,allreduce@tp:64K*3',
  '--abi 3 --ops allreduce:256K*2,allgather:64K',
  '--net-events ib --ops allreduce:256K,allreduce:64K*2',
  '--abuse all --ops allreduce:64K*4',
  '--lost-recv-stops --abi 4 --ops allreduce:256K*2',
  '--irecv-busy 2 --registered --ops allgather:1M,group{send+recv:256K}',
  '--pxn 0:1 --ops alltoall:64K*2',
  '--skip-rank 1 --skip-at 2 --hang-seconds 1 --ops allreduce:256K*3',
  '--exit hasty --ops allreduce:1M,allreduce:64K*2',
];

/** Tracks one by one, each in order of time; arrows are numbered in the order in which they are drawn. */
const linesOf = (path: string, order?: Parameters<typeof drawFile>[3]): string[] =>
  drawFile(path, true, false, order)
    .sink.lines.map((line) => line.replace(/ flow=\d+/, ' flow'))
    .sort();

it.each(Array.from({ length: RUNS }, (_, run) => run))('run %i', async (run) => {
  const random = seeded(run + 1);
  const pick = (most: number): number => 1 + Math.floor(random() * most);
  const args = `--ranks 4 --channels ${pick(3)} --iterations ${2 + pick(6)} ${WAYS[(run * 4) % WAYS.length]!}`;
  const { folder: recording } = await record(join(folder, String(run)), args);
  const files = readdirSync(recording).filter((name) => name.endsWith('.bin'));
  expect(files.length).toBeGreaterThan(1);
  for (const name of files) {
    const path = join(recording, name);
    const lines = linesOf(path);
    expect(lines.length).toBeGreaterThan(10);
    expect(lines).toEqual(linesOf(path, (rings) => mergedRows({ rings })));
  }
});
