// What it costs to look at a run and to draw it: `npm run bench:merge [-- --rounds 5] [--files 1024] [--large 16] [--smoke]`.
//
//   floor          read, check and decode every file once, write as many bytes as the trace has: nothing can be faster
//   scan           the first pass: what `inspect` does with each file
//   merge          everything
//   inspect, merge -j1, -j2        as commands, processes of their own, cold; "no addon": chunks are unpacked in WebAssembly
//   of many files                  the same commands on --files files of 9,760 records each, eight to a host (merge/many_files.ts)
//   of large files                 on --large files of 540,000 records each; 64 of them take 2 GB of disk and some minutes
//
// The first three are warm, on one thread. Ways take turns. Printed is the least CPU time of all rounds, since what else the
// machine does can only add; of commands also the least time and the peak of memory. A record is one callback; repeats that were
// folded into counts are not counted.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { command } from './command.mjs';
import { importTypeScript, record } from './tools.mjs';
import { merge } from '../build/modules/merge.js';
import { mergedRows, streamRankFile } from '../build/modules/rankfile/index.js';
import { compressFrame } from '../build/modules/rankfile/zstd.js';
import { scanFile } from '../build/modules/scan/scan.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    files: { type: 'string' },
    large: { type: 'string' },
    smoke: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds ?? (values.smoke ? 1 : 5));
const fileCount = Number(values.files ?? (values.smoke ? 16 : 1024));
const largeCount = Number(values.large ?? 16);
/** Collectives of a file. */
const [SHORT, LONG] = [160, values.smoke ? 160 : 8850];
if (!values.smoke) console.log(`about ${Math.ceil(1 + rounds / 2)} minutes on two quiet cores`);

/** As large as it gets: what is measured is drawing all of it. */
const EVERYTHING = { slices: 1e9, tracks: 1e9, bytes: 1e12 };
const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-bench-'));
const output = path.join(folder, 'out.pftrace');
try {
  const files = recordRun();
  const report = await merge({ inputs: files, output, jobs: 1, budget: EVERYTHING });
  const trace = readFileSync(output);
  const rows = {
    floor: () => floor(files, trace),
    scan: () => files.forEach((file) => scanFile(file)),
    merge: () => merge({ inputs: files, output, jobs: 1, force: true, budget: EVERYTHING }),
    inspect: () => command(['inspect', ...files]),
    'inspect, no addon': () => command(['inspect', ...files], { BENCH_NO_ADDON: '1' }),
    'merge -j1': () => command(['merge', ...files, '--detail', 'step', '-qfo', output, '-j1']),
    'merge -j1, no addon': () =>
      command(['merge', ...files, '--detail', 'step', '-qfo', output, '-j1'], { BENCH_NO_ADDON: '1' }),
    'merge -j2': () => command(['merge', ...files, '--detail', 'step', '-qfo', output, '-j2']),
  };
  console.log(`${files.length} files, ${report.records} records, ${report.trace.slices} slices`);
  await measure(rows, report.records);
  const packed = compressFrame(trace).length;
  const perRecord = (bytes) => (bytes / report.records).toFixed(1);
  console.log(`bytes of trace per record: ${perRecord(trace.length)}, as .zst ${perRecord(packed)}`);

  await measureMany('many', fileCount, SHORT, []);
  await measureMany('large', largeCount, LONG, ['--detail', 'step']);
} finally {
  rmSync(folder, { recursive: true });
}

function recordRun() {
  const args = values.smoke
    ? '--ranks 2 --channels 2 --iterations 2 --ops allreduce:256K'
    : '--ranks 4 --channels 4 --iterations 640 --ops allreduce:4M,allreduce:64K*4';
  const settings = {
    NCCL_TRACE_EVENTS: 'all',
    NCCL_ALLGATHERV_ENABLE: '0', // else the recorder warns
    NCCL_TRACE_RING_MB: values.smoke ? '1' : '64',
  };
  return record(path.join(folder, 'run'), args, settings);
}

async function measureMany(name, count, collectives, detail) {
  const many = await writeMany(name, count, collectives);
  const { records } = await merge({ inputs: many, output, jobs: 1, force: true });
  console.log(`\n${many.length} files, ${records} records`);
  await measure(
    {
      [`inspect of ${name} files`]: () => command(['inspect', ...many]),
      [`merge of ${name} files`]: () => command(['merge', ...many, ...detail, '-qfo', output, '-j1']),
      [`-j2 of ${name} files`]: () => command(['merge', ...many, ...detail, '-qfo', output, '-j2']),
    },
    records,
  );
  rmSync(path.dirname(many[0]), { recursive: true });
}

/** The builder of rank files is the tests', and in TypeScript. */
async function writeMany(name, count, collectives) {
  const { writeManyFiles } = await importTypeScript('bench/merge/many_files.ts');
  const many = path.join(folder, name);
  mkdirSync(many);
  return writeManyFiles(many, count, collectives);
}

function floor(files, trace) {
  for (const file of files) {
    const stream = streamRankFile(file);
    let records = 0;
    for (const { from, end } of mergedRows(stream)) records += end - from;
    stream.close();
    if (records === 0) throw new Error(`${file} holds no records`);
  }
  writeFileSync(output, trace);
}

async function measure(ways, records) {
  const best = Object.fromEntries(Object.keys(ways).map((name) => [name, { cpu: Infinity, wall: Infinity }]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const [start, before] = [performance.now(), process.cpuUsage()];
      const used = await way();
      const wall = (performance.now() - start) / 1e3;
      const { user, system } = process.cpuUsage(before);
      const { cpu, mebibytes } = used?.cpu ? used : { cpu: (user + system) / 1e6 };
      const known = best[name];
      best[name] = { cpu: Math.min(known.cpu, cpu), wall: Math.min(known.wall, wall), mebibytes };
    }
  }
  for (const [name, { cpu, wall, mebibytes }] of Object.entries(best)) {
    const asCommand = mebibytes
      ? `   ${wall.toFixed(2).padStart(6)} s of wall time   ${mebibytes.toFixed(0)} MiB`
      : '';
    const times = best.floor ? `   ${(cpu / best.floor.cpu).toFixed(1).padStart(5)} x floor` : '';
    const rate = `${(records / cpu / 1e6).toFixed(2).padStart(6)} M records/s`;
    console.log(
      `${name.padEnd(22)} ${cpu.toFixed(2).padStart(6)} s of CPU time   ${rate}${times}${asCommand}`,
    );
  }
}
