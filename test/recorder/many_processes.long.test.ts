/**
 * 64 processes of one node begin to record on a disk that others keep busy, each with 64 MB of rings, and are killed as soon as the last
 * one has said where it records. The files of all of them can be read.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { findRankFiles } from '../../src/rankfile/index.js';
import { findRuns } from '../../src/runs/find_runs.js';
import { EMULATED, IN_MEMORY, inNewFolder, PLUGIN, programFile, SANITIZER } from './programs.js';

const PROCESSES = 64;
const LOOPBACK = await programFile('nccl-trace-loopback');
const ROOM = 16 * 1024 ** 3;
const canRun = !EMULATED && SANITIZER === '';

const hasRoom = (place: string): boolean => {
  const { bavail, bsize } = statfsSync(place);
  return bavail * bsize > ROOM;
};

/** Writes to the disk until it is stopped. */
const BUSY = `
const { fsyncSync, openSync, writeSync } = require('node:fs');
const fd = openSync(process.argv[1], 'w');
for (const piece = Buffer.alloc(1 << 24);;) {
  for (let i = 0; i < 64; i++) writeSync(fd, piece, 0, piece.length, i * piece.length);
  fsyncSync(fd);
}`;

/** Resolves when all processes record. They say it in lines of NCCL's log. */
function allRecord(job: ChildProcess): Promise<string> {
  let said = '';
  return new Promise((done, failed) => {
    job.stderr!.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if ((said.match(/nccl-trace: recording (?:to|into) .*, mask /g) ?? []).length === PROCESSES) done(said);
    });
    job.once('exit', () => {
      failed(new Error(`the job ended: ${said.slice(-500)}`));
    });
  });
}

it.runIf(canRun).each([
  ['in memory, as by default', true],
  ['in the rank files', false],
])('all 64 files can be used after a kill in the first second, rings %s', (_, isInMemory) =>
  inNewFolder(
    (rings) =>
      inNewFolder(async (folder) => {
        mkdirSync(folder);
        mkdirSync(rings);
        const places = isInMemory ? [folder, rings] : [folder];
        expect(places.every(hasRoom), 'needs 16 GiB of disk, and of memory').toBe(true);
        const writers = [0, 1].map((i) =>
          spawn(process.execPath, ['-e', BUSY, path.join(folder, `busy-${i}`)]),
        );
        await sleep(5000);
        const args = `--ranks ${PROCESSES} --channels 1 --timeout 200 --iterations 100000 --ops allreduce:16K`;
        const env = {
          ...{ PATH: process.env.PATH, NCCL_DEBUG: 'INFO', NCCL_PROFILER_PLUGIN: PLUGIN },
          ...{ NCCL_TRACE_DIR: path.join(folder, 'run'), NCCL_TRACE_RING_MB: '64' },
          NCCL_TRACE_RING_DIR: isInMemory ? rings : 'none',
        };
        const job = spawn(LOOPBACK, args.split(' '), {
          env,
          detached: true,
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        const ended = new Promise((done) => job.once('close', done));
        try {
          const said = await allRecord(job);
          process.kill(-job.pid!, 'SIGKILL');
          await ended;
          const { runs, unusable } = findRuns(findRankFiles([path.join(folder, 'run')]).files);
          const late = (said.match(/not there after 1.7 s/g) ?? []).length;
          console.log(`${unusable.length} of ${PROCESSES} files cannot be used; ${late} were late`);
          expect(runs).toHaveLength(1);
          // Of rings in memory that are no file, the first copy may be 2 s away.
          expect(unusable.length).toBeLessThanOrEqual(isInMemory ? 0 : late);
          expect(runs[0]!.files).toHaveLength(PROCESSES - unusable.length);
        } finally {
          if (job.exitCode === null && job.signalCode === null) process.kill(-job.pid!, 'SIGKILL');
          for (const writer of writers) writer.kill('SIGKILL');
        }
      }),
    IN_MEMORY,
  ),
);
