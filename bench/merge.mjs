// How fast ranks become a trace: `npm run bench:merge [-- --smoke]`. Records a run of 4 ranks with the loopback until the rings
// are full, then merges it again and again, interleaved:
//
//   check        read, check every slot, decode into columns, merge the rings: the floor, warm, one thread;
//                with the addon and without it
//   merge        everything, warm, one thread
//   command -j1  the command as a user runs it, a process of its own
//   command -jN  the same on all processors
//
// Medians over the rounds. A record is one callback; repeats that were folded into counts are not counted here.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { merge } from '../dist/merge.js';
import { memorySource } from '../dist/reader/byte_source.js';
import { bestDecoder, typescriptDecoder } from '../dist/reader/decoder.js';
import { mergedRuns } from '../dist/reader/index.js';
import { streamSource } from '../dist/reader/rank_file_stream.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const smoke = process.argv.includes('--smoke');
const rounds = smoke ? 1 : 7;

const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-bench-'));
try {
  recordRun();
  const files = readdirSync(path.join(folder, 'run')).map((name) => path.join(folder, 'run', name));
  const output = path.join(folder, 'out.pftrace');
  const report = await merge({ inputs: files, output, jobs: 1 });
  const callbacks = report.records;
  const cores = availableParallelism();
  const ways = {
    [`check ${bestDecoder.name}`]: () => files.forEach((file) => checkOnly(file, bestDecoder)),
    'check TypeScript': () => files.forEach((file) => checkOnly(file, typescriptDecoder)),
    merge: () => merge({ inputs: files, output, jobs: 1, force: true }),
    'command -j1': () => command(files, output, 1),
    [`command -j${cores}`]: () => command(files, output, cores),
  };
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const start = process.hrtime.bigint();
      await way();
      times[name].push(Number(process.hrtime.bigint() - start) / 1e9);
    }
  }
  print(report, times, callbacks, output);
} finally {
  rmSync(folder, { recursive: true });
}

function recordRun() {
  const words = smoke
    ? '--ranks 2 --channels 2 --iterations 2 --ops allreduce:256K'
    : '--ranks 4 --channels 4 --iterations 160 --ops allreduce:4M,allreduce:64K*4';
  execFileSync(path.join(root, 'build/nccl-trace-loopback'), [...words.split(' '), '--quiet'], {
    env: {
      PATH: process.env.PATH,
      NCCL_PROFILER_PLUGIN: path.join(root, 'build/libnccl-profiler-trace.so'),
      NCCL_TRACE_DIR: path.join(folder, 'run'),
      NCCL_TRACE_EVENTS: 'all',
      NCCL_TRACE_RING_MB: smoke ? '1' : '16',
    },
    stdio: 'inherit',
  });
}

function command(files, output, jobs) {
  const words = ['merge', ...files, '-o', output, '--force', '--quiet', '--jobs', String(jobs)];
  execFileSync(process.execPath, [path.join(root, 'bin/nccl-trace.js'), ...words]);
}

function checkOnly(file, decoder) {
  const stream = streamSource(memorySource(file, readFileSync(file)), decoder);
  let records = 0;
  for (const run of mergedRuns(stream)) records += run.end - run.from;
  if (records === 0) throw new Error(`${file} holds no records`);
}

function print(report, times, callbacks, output) {
  const bytes = statSync(output).size;
  const packed = gzipSync(readFileSync(output)).length;
  console.log(
    `${report.ranks.length} ranks, ${callbacks} records, ${report.trace.slices} slices, ${rounds} rounds`,
  );
  for (const [name, list] of Object.entries(times)) {
    const median = [...list].sort((a, b) => a - b)[list.length >> 1];
    console.log(
      `${name.padEnd(16)} ${median.toFixed(3)} s   ${(callbacks / median / 1e6).toFixed(2)} M records/s`,
    );
  }
  console.log(
    `trace ${(bytes / callbacks).toFixed(1)} bytes per record, ${(packed / callbacks).toFixed(1)} as .gz`,
  );
  console.log(`peak memory ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB`);
}
