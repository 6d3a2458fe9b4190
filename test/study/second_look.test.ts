/** Who lives is decided by a second look, not by how soon after a crash the files are read. */

import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Run } from '../../src/runs/run.js';
import { scanFile } from '../../src/scan/scan.js';
import { seemAlive, stillAlive } from '../../src/study/second_look.js';

const path = fileURLToPath(new URL('../../samples/hang/rank00000.bin', import.meta.url));
const scan = scanFile(path);
const read = scan.heartbeat!.realtime;

/** Read a second after its newest heartbeat, which was that of `scanned`. */
const runOf = (more: Partial<typeof scan>): Run =>
  ({ members: [{ scan: { ...scan, readAt: read + 1_000_000_000n, ...more } }] }) as unknown as Run;

it('a process without a new heartbeat is not alive, even if its last one was recent', async () => {
  const run = runOf({});
  expect(seemAlive(run)).toEqual([true]);
  expect(await stillAlive(run, [true], [path])).toEqual([false]);
});

it('one that has a newer heartbeat by now is, at once', async () => {
  const run = runOf({ heartbeat: { ...scan.heartbeat!, realtime: read - 1n } });
  const before = performance.now();
  expect(await stillAlive(run, [true], [path])).toEqual([true]);
  expect(performance.now() - before).toBeLessThan(1000);
});

it('a file that disappeared is no evidence', async () => {
  expect(await stillAlive(runOf({}), [true], [`${path}.gone`])).toEqual([false]);
});

it('long after its last heartbeat none seems alive', () => {
  expect(seemAlive(runOf({ readAt: read + 60_000_000_000n }))).toEqual([false]);
});
