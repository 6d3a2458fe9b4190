// What the recorder's thread costs in stream mode and in flight mode: CPU, writes, bytes on disk, losses. Runs
// build/stream_bench, which makes steps' callbacks at a steady rate, and a run of the loopback, whose traffic is real.
//
//   npm run bench:stream             about 80 seconds
//   node bench/stream.mjs --smoke    does it still run?
//   node bench/stream.mjs --json     the figures alone
//
// Without a spare core the recorder's thread (nice 10) is late. `wait` is its longest wait for a core within half a second. Records it
// misses are counted as missing.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { smoke, json } = parseArgs({
  options: { smoke: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
}).values;

const build = fileURLToPath(new URL('../build', import.meta.url));
const plugin = path.join(build, 'libnccl-profiler-trace.so');
const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-bench-'));
const environment = { PATH: process.env.PATH, NCCL_TRACE_MODE: 'stream', NCCL_TRACE_MAX_MB: '0' };
const modes = ['stream', 'flight'];

try {
  const seconds = smoke ? 0.5 : 8;
  const rates = smoke ? [200_000] : [0, 10_000, 100_000, 1_000_000];
  if (!json) console.error(`about ${modes.length * rates.length * (seconds + 2)} seconds`);
  const steady = modes.flatMap((mode) =>
    rates.map((rate) => ({ mode, rate, ...steps(mode, rate, seconds) })),
  );
  const loopback = recordedRun();
  if (json) console.log(JSON.stringify({ steady, loopback }, undefined, 2));
  else print(steady, loopback);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function steps(mode, rate, seconds) {
  if (!json) console.error(`${mode} mode, ${rate} callbacks/s`);
  const run = path.join(folder, `steady-${mode}-${rate}`);
  return JSON.parse(
    execFileSync(path.join(build, 'stream_bench'), [plugin, run, '1', String(seconds), String(rate)], {
      env: { ...environment, NCCL_TRACE_MODE: mode },
      encoding: 'utf8',
    }),
  );
}

/** Small rings, so that nearly all records are in chunks. */
function recordedRun() {
  const run = path.join(folder, 'loopback');
  const args = smoke
    ? '--ranks 2 --channels 2 --iterations 2 --ops allreduce:256K'
    : '--ranks 2 --channels 4 --iterations 200 --ops allreduce:4M,allreduce:64K*4';
  execFileSync(path.join(build, 'nccl-trace-loopback'), [...args.split(' '), '--quiet'], {
    env: { ...environment, NCCL_PROFILER_PLUGIN: plugin, NCCL_TRACE_DIR: run, NCCL_TRACE_RING_MB: '4' },
  });
  const counts = readdirSync(run, { recursive: true })
    .filter((name) => name.endsWith('.bin'))
    .map((name) =>
      JSON.parse(
        execFileSync(path.join(build, 'stream_bench'), ['--count', path.join(run, name)], {
          encoding: 'utf8',
        }),
      ),
    );
  return Object.fromEntries(
    Object.keys(counts[0]).map((key) => [key, counts.reduce((sum, count) => sum + count[key], 0)]),
  );
}

function print(steady, loopback) {
  console.log('mode     callbacks/s   recorder CPU   writes, MB/s   bytes/callback   missing     wait');
  for (const {
    mode,
    rate,
    recorder_cpu: cpu,
    written_mb: written,
    longest_wait: wait,
    missing,
    ...counts
  } of steady) {
    const cells = [
      mode.padEnd(8),
      String(rate).padStart(11),
      `${(cpu * 100).toFixed(2)} %`.padStart(14),
      written.toFixed(2).padStart(14),
      bytesPerCallback(counts).padStart(16),
      String(missing).padStart(9),
      `${(wait * 1000).toFixed(0)} ms`.padStart(8),
    ];
    console.log(cells.join(' '));
  }
  console.log(
    `loopback, all events: ${loopback.records} callbacks, ${bytesPerCallback(loopback)} bytes each in chunks, ${loopback.missing} slots missing`,
  );
}

/** Of the records in chunks. The rest is still in rings. */
function bytesPerCallback({ chunk_records: records, stored_bytes: bytes }) {
  return records === 0 ? '-' : (bytes / records).toFixed(1);
}
