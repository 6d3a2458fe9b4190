/** Whether a process is alive is decided by a second look, not by how soon after a crash the files are read. */

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
