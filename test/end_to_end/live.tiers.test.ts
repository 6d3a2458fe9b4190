/**
 * Files that are still being written: copied with plain `cp` while the job runs, and left behind by processes killed at
 * random instants. What was committed is there, nothing is invented, and the trace is clean.
 */

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { openRankFile, openRankFileHeader } from '../../src/rankfile/index.js';
import type { RankFile } from '../../src/rankfile/file_types.js';
import { LOOPBACK, PLUGIN } from '../support/jobs/loopback.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import { inTier } from '../support/tiers/tier.js';
import { viewTrace, type ViewSlice } from '../support/traces/trace_view.js';

const COPIES = inTier({ first: 1, long: 4 });
const RANKS = 2;

let folder: string;
let remove: () => void;
let job: ChildProcess | undefined;

beforeEach(() => {
  ({ folder, remove } = temporaryFolder());
});
afterEach(() => {
  job?.kill('SIGKILL');
  remove();
});

function startJob(iterations: number, ringMiB = 32): ChildProcess {
  const args = `--ranks ${RANKS} --channels 2 --iterations ${iterations} --ops allreduce:256K,allreduce:32K --quiet`;
  job = spawn(LOOPBACK, args.split(' '), {
    env: {
      PATH: process.env.PATH,
      NCCL_PROFILER_PLUGIN: PLUGIN,
      NCCL_TRACE_DIR: path.join(folder, 'run'),
      NCCL_TRACE_RING_DIR: 'none',
      NCCL_TRACE_EVENTS: 'all',
      NCCL_TRACE_RING_MB: String(ringMiB),
    },
    stdio: 'ignore',
  });
  return job;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const rankFiles = (where: string): string[] =>
  readdirSync(path.join(folder, where))
    .sort()
    .map((name) => path.join(folder, where, name));

/** Reads headers only, because a job is over in less time than its rings take to read. */
async function untilRecording(): Promise<void> {
  for (let i = 0; i < 400; i++) {
    try {
      if (rankFiles('run').filter((file) => openRankFileHeader(file).life === 'recording').length === RANKS)
        return;
    } catch {
      // not there yet, or being created
    }
    await pause(5);
  }
  throw new Error('the job does not record');
}

/** Every record as one line of text, by ring and position. */
function recordsOf(file: RankFile): Map<string, string> {
  const lines = new Map<string, string>();
  for (const { ring, records: r } of file.rings) {
    for (let i = 0; i < r.length; i++) {
      const words = [r.word1Low[i], r.word1High[i], r.word2Low[i], r.word2High[i]];
      const more = r.extra.subarray(r.extraStart[i], r.extraStart[i + 1]).join();
      lines.set(`${ring}:${r.position[i]}`, `${r.kind[i]} ${r.tick[i]} ${words.join()} ${more}`);
    }
  }
  return lines;
}

async function expectCleanTrace(where: string): Promise<void> {
  const output = path.join(folder, `${where}.pftrace`);
  const report = await merge({ inputs: [path.join(folder, where)], output, jobs: 1 });
  const view = viewTrace(readFileSync(output), { emptySlices: 'fine' });
  expect(view.problems).toEqual([]);
  expect(report.trace.slices).toBe(view.slices.length);
  expect(report.trace.flows).toBe(view.flows.length);
}

it('a plain copy of a live file holds what was recorded, and nothing else', async () => {
  const running = startJob(100_000);
  await untilRecording();
  const copies: string[] = [];
  while (copies.length < COPIES) {
    await pause(30);
    const copy = `copy${copies.length}`;
    mkdirSync(path.join(folder, copy), { recursive: true });
    execFileSync('cp', ['--reflink=never', ...rankFiles('run'), path.join(folder, copy)]);
    // The first copies may be older than a rank's first record.
    if (rankFiles(copy).every((file) => recordsOf(openRankFile(file)).size > 0)) copies.push(copy);
    expect(running.exitCode).toBeNull();
  }
  running.kill('SIGKILL');
  await once(running, 'exit');
  const final = rankFiles('run').map((file) => recordsOf(openRankFile(file)));
  for (const copy of copies) {
    rankFiles(copy).forEach((file, rank) => {
      for (const [place, record] of recordsOf(openRankFile(file)))
        expect(final[rank]?.get(place)).toBe(record);
    });
    await expectCleanTrace(copy);
  }
});

// Both passes count works: if a ring went on between them, each collective would get the end of another.
it.each(inTier({ first: [8], long: [1, 8] }))(
  'the files of a running job, read in place: rings of %i MiB',
  async (ringMiB) => {
    const running = startJob(100_000, ringMiB);
    await untilRecording();
    await pause(ringMiB === 1 ? 3000 : 500);
    for (let round = 0; round < inTier({ first: 1, long: 4 }); round++) {
      await expectCleanTrace('run');
      const output = path.join(folder, 'run.pftrace');
      const { slices } = viewTrace(readFileSync(output), { emptySlices: 'fine' });
      expect(wrongEnds(slices)).toEqual([]);
      rmSync(output);
    }
    expect(running.exitCode).toBeNull();
  },
);

/** Collectives that end before one of their own operations on the same rank. */
function wrongEnds(slices: readonly ViewSlice[]): ViewSlice[] {
  const key = ({ track, correlation }: ViewSlice): string => `${track.process?.pid} ${correlation}`;
  const endOf = ({ ts, dur }: ViewSlice): bigint => ts + dur;
  const ended = slices.filter(({ track, dur }) => track.process !== undefined && dur >= 0n);
  const lastOp = new Map<string, bigint>();
  for (const slice of ended)
    if (slice.name?.startsWith('proxy ') && (lastOp.get(key(slice)) ?? 0n) < endOf(slice))
      lastOp.set(key(slice), endOf(slice));
  const works = ended.filter(({ name, track }) => name === 'AllReduce' && track.name.includes('collectives'));
  expect(works.length).toBeGreaterThan(10);
  return works.filter((work) => endOf(work) < (lastOp.get(key(work)) ?? 0n));
}

it('processes killed at a random instant leave a clean trace', async () => {
  for (let round = 0; round < inTier({ first: 1, long: 50 }); round++) {
    const running = startJob(10_000);
    await untilRecording();
    await pause(Math.random() * 100);
    // The launcher ends its ranks when it is told to stop.
    running.kill('SIGTERM');
    await once(running, 'exit');
    const lives = rankFiles('run').map((file) => openRankFile(file).header.life);
    expect(lives).toEqual(Array.from({ length: RANKS }, () => 'recording'));
    await expectCleanTrace('run');
    execFileSync('mv', [path.join(folder, 'run'), path.join(folder, `run${round}`)]);
    execFileSync('rm', [path.join(folder, 'run.pftrace')]);
  }
});
