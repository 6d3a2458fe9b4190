// The benchmarks still run, and count every callback that they measure. Their figures are not judged here.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { programFile, SANITIZER } from './programs.js';

const printed = (script: string): unknown =>
  JSON.parse(
    execFileSync(
      process.execPath,
      [fileURLToPath(new URL(`../../bench/${script}`, import.meta.url)), '--smoke', '--json'],
      {
        encoding: 'utf8',
      },
    ),
  );

for (const name of [
  'record_bench',
  'cold_bench',
  'stall_bench',
  'stream_bench',
  'libnccl-profiler-stub.so',
  'nccl-trace-loopback',
])
  await programFile(name);

// They measure the ordinary build.
const measured = test.skipIf(SANITIZER !== '');

measured('npm run bench:record', () => {
  const { cases, cold, stalls, jobs } = printed('record.mjs') as {
    cases: { version: number; ns: number; loop: number }[];
    cold: { kib: number; calls: { name: string; ns: number }[] }[];
    stalls: { calls: number; series: { median: number }[] }[];
    jobs: { blocks: number; seconds: number; callbacks: number }[];
  };
  for (const version of [1, 2, 3, 4, 5, 6, 7]) {
    expect(cases.filter((each) => each.version === version).length).toBeGreaterThan(12);
  }
  // If the loop was interrupted, more may be subtracted than was measured.
  for (const { ns, loop } of cases) expect(ns + loop).toBeGreaterThan(0);
  expect(stalls.map(({ calls }) => calls)).toEqual([20_000, 20_000, 20_000, 20_000]);
  for (const { series } of stalls) for (const { median } of series) expect(median).toBeGreaterThan(0);
  expect(cold.map(({ kib }) => kib)).toEqual([0, 16, 256]);
  for (const { calls } of cold) expect(calls).toHaveLength(6);
  expect(jobs).toHaveLength(2);
  for (const { blocks, seconds, callbacks } of jobs) {
    expect(blocks).toBe(1);
    expect(seconds).toBeGreaterThan(0);
    expect(callbacks).toBeGreaterThan(100);
  }
});

interface Counts {
  readonly mode: string;
  /** -1: the kernel does not report it. */
  readonly written_mb: number;
  readonly calls: number;
  readonly records: number;
  readonly slots: number;
  readonly missing: number;
}

measured('npm run bench:stream', () => {
  const { steady, loopback } = printed('stream.mjs') as { steady: Counts[]; loopback: Counts };
  expect(steady.map(({ mode }) => mode)).toEqual(['stream', 'flight']);
  for (const { calls, slots, missing, written_mb: written } of steady) {
    expect(slots + missing).toBe(calls + OPERATIONS);
    // Within half a second there may be no copy.
    expect(written >= 0 || written === -1).toBe(true);
  }
  expect(loopback.records).toBeGreaterThan(100);
});

const OPERATIONS = 16; // of two slots each; all other records of stream_bench have one
