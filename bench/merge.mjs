// How fast ranks become a trace: `npm run bench:merge [-- --smoke]`. Records a run of 4 ranks with the loopback until the rings
// are full, then merges it again and again, interleaved:
//
//   decode       check every slot and assemble the records of the largest ring of each file, in memory: with the addon and
//                without it
//   check        read, decode, merge the rings: the floor, warm, one thread
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
import { merge } from '../build/modules/merge.js';
import { bestDecoder } from '../build/modules/rankfile/best_decoder.js';
import { typescriptDecoder } from '../build/modules/rankfile/decoder.js';
import { mergedRows, streamRankFile } from '../build/modules/rankfile/index.js';
import { NOTHING_CARRIED } from '../build/modules/rankfile/records.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const smoke = process.argv.includes('--smoke');
const rounds = smoke ? 1 : 7;
/** Records of one pass over `rings`. */
let decoded = 0;

const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-bench-'));
try {
  recordRun();
  const files = readdirSync(path.join(folder, 'run')).map((name) => path.join(folder, 'run', name));
  const output = path.join(folder, 'out.pftrace');
  const report = await merge({ inputs: files, output, jobs: 1 });
  const callbacks = report.records;
  const rings = files.map(largestRing);
  rings.forEach((ring) => decodeOnly(ring, bestDecoder));
  const ringRecords = decoded;
  const cores = availableParallelism();
  const ways = {
    [`decode ${bestDecoder.name}`]: () => rings.forEach((ring) => decodeOnly(ring, bestDecoder)),
    'decode TypeScript': () => rings.forEach((ring) => decodeOnly(ring, typescriptDecoder)),
    check: () => files.forEach(checkOnly),
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
  print(report, times, (name) => (name.startsWith('decode') ? ringRecords : callbacks), output);
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
      NCCL_TRACE_RING_DIR: 'none',
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

function checkOnly(file) {
  const stream = streamRankFile(file);
  let records = 0;
  for (const { from, end } of mergedRows(stream)) records += end - from;
  stream.close();
  if (records === 0) throw new Error(`${file} holds no records`);
}

/** The slots of a file's first ring, which is the largest: the steps of its first progress thread. */
function largestRing(file) {
  const bytes = readFileSync(file);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const u64 = (at) => Number(view.getBigUint64(at, true));
  const directory = u64(32);
  const capacity = view.getUint32(directory + 4, true);
  const slots = u64(directory + 24);
  const words = new Uint32Array(new Uint8Array(bytes.subarray(slots, slots + capacity * 32)).buffer);
  return { words, capacity, head: u64(u64(directory + 8)) };
}

function decodeOnly({ words, capacity, head }, decoder) {
  const slots = decoder.checkRing(words, capacity, head);
  const { records } = decoder.assembleRecords(words, decoder.stretches(slots), NOTHING_CARRIED, 0n);
  decoded += records.length;
}

function print(report, times, recordsOf, output) {
  const callbacks = report.records;
  const bytes = statSync(output).size;
  const packed = gzipSync(readFileSync(output)).length;
  console.log(
    `${report.ranks.length} ranks, ${callbacks} records, ${report.trace.slices} slices, ${rounds} rounds`,
  );
  for (const [name, list] of Object.entries(times)) {
    const median = [...list].sort((a, b) => a - b)[list.length >> 1];
    console.log(
      `${name.padEnd(17)} ${median.toFixed(3)} s   ${(recordsOf(name) / median / 1e6).toFixed(2)} M records/s`,
    );
  }
  console.log(
    `trace ${(bytes / callbacks).toFixed(1)} bytes per record, ${(packed / callbacks).toFixed(1)} as .gz`,
  );
  console.log(`peak memory ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB`);
}
