/** Whether a process is alive is decided by a second look, not by how soon after a crash the files are read. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Run } from '../../src/runs/run.js';
import { scanFile } from '../../src/scan/scan.js';
import { seemAlive, stillAlive } from '../../src/study/second_look.js';
import { startPuppet } from '../support/jobs/puppet.js';

const path = fileURLToPath(new URL('../../samples/hang/rank00000.bin', import.meta.url));
const scan = scanFile(path);
const read = scan.heartbeat!.realtime;

/** Read a second after its newest heartbeat, which was that of `scanned`. */
const runOf = (more: Partial<typeof scan>): Run =>
  ({ members: [{ scan: { ...scan, readAt: read + 1_000_000_000n, ...more } }] }) as unknown as Run;

it('a process is alive at once with a newer heartbeat, and not alive after a wait without one', async () => {
  const newer = runOf({ heartbeat: { ...scan.heartbeat!, realtime: read - 1n } });
  const same = runOf({});
  expect(seemAlive(same)).toEqual([true]);
  const decided: [string, boolean[]][] = [];
  await Promise.all([
    stillAlive(same, [true], [path]).then((alive) => decided.push(['same', alive])),
    stillAlive(newer, [true], [path]).then((alive) => decided.push(['newer', alive])),
  ]);
  expect(decided).toEqual([
    ['newer', [true]],
    ['same', [false]],
  ]);
});

it('a file that disappeared is no evidence', async () => {
  expect(await stillAlive(runOf({}), [true], [`${path}.gone`])).toEqual([false]);
});

it('a process does not seem alive long after its last heartbeat', () => {
  expect(seemAlive(runOf({ readAt: read + 60_000_000_000n }))).toEqual([false]);
});

it('a process of this node that runs is alive, however late its heartbeat; stopped or killed it is not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nccl-trace-starved-'));
  const job = startPuppet({ NCCL_TRACE_DIR: folder, RANK: '0' });
  try {
    await job.tell('coll 1');
    const file = join(folder, 'rank00000.bin');
    await expect.poll(() => scanFile(file).heartbeat).not.toBeNull();
    const { header, heartbeat } = scanFile(file);
    // As if its heartbeat had been `late` seconds old. No heartbeat is newer than one of the future.
    const starved = (late: number): Run => {
      const realtime = heartbeat!.realtime + 3_600_000_000_000n;
      const readAt = realtime + BigInt(late) * 1_000_000_000n;
      return runOf({ header, heartbeat: { ...heartbeat!, realtime }, readAt });
    };
    expect(seemAlive(starved(5))).toEqual([true]);
    expect(seemAlive(starved(31))).toEqual([false]);
    expect(await stillAlive(starved(5), [true], [file])).toEqual([true]);
    job.process.kill('SIGSTOP');
    await expect.poll(() => seemAlive(starved(5))).toEqual([false]);
    expect(await stillAlive(starved(1), [true], [file])).toEqual([false]);
    job.process.kill('SIGCONT');
    await expect.poll(() => seemAlive(starved(5))).toEqual([true]);
    await job.kill();
    expect(seemAlive(starved(5))).toEqual([false]);
  } finally {
    await job.kill();
    rmSync(folder, { recursive: true });
  }
});
