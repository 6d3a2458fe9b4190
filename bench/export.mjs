// What it costs to export the transfers of a large run: `npm run bench:export [-- --rounds 3] [--files 64] [--smoke]`.
//
//   inspect    the comparison: the first pass and the verdict, which an export needs too
//   export     everything; "more" is what it takes beyond `inspect`: the second pass, the encoding, the files
//
// Files as in bench/merge.mjs: 106,200 transfers of 540,000 records each. Printed is the least of all rounds: CPU time of all threads and
// time, both per million rows, and the peak of memory.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { command } from './command.mjs';
import { importTypeScript } from './tools.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    files: { type: 'string' },
    smoke: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds ?? (values.smoke ? 1 : 3));
const fileCount = Number(values.files ?? (values.smoke ? 2 : 64));
const collectives = values.smoke ? 160 : 8850;
const rows = fileCount * collectives * 12;

const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-bench-'));
try {
  const files = await writeFiles();
  const best = {};
  const ways = { inspect: ['inspect'] };
  for (const format of ['parquet', 'csv'])
    for (const jobs of [1, 2]) ways[`--${format} -j${jobs}`] = ['export', `-qj${jobs}`, `--${format}`];
  for (let round = 0; round < rounds; round++)
    for (const [name, [verb, ...options]] of Object.entries(ways)) {
      const output = path.join(folder, 'out');
      const used = command([verb, ...files, ...options, ...(verb === 'export' ? [output] : [])]);
      best[name] ??= { cpu: Infinity, wall: Infinity, bytes: 0 };
      const known = best[name];
      known.cpu = Math.min(known.cpu, used.cpu);
      known.wall = Math.min(known.wall, used.wall);
      known.mebibytes = used.mebibytes;
      if (verb === 'export') known.bytes = bytesIn(path.join(output, 'steps'));
      rmSync(output, { recursive: true, force: true });
    }
  console.log(`${files.length} files, ${rows} rows of steps`);
  for (const [name, { cpu, wall, mebibytes, bytes }] of Object.entries(best)) {
    const more = cpu - best.inspect.cpu;
    const rate = more > 0 ? `, more: ${(rows / more / 1e6).toFixed(2)} M rows per s of CPU time` : '';
    const size = bytes > 0 ? `, ${(bytes / rows).toFixed(0)} bytes a row` : '';
    console.log(
      `${name.padEnd(14)} ${cpu.toFixed(2)} s of CPU time, ${wall.toFixed(2)} s, ${mebibytes.toFixed(0)} MiB${size}${rate}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** The builder of rank files is the tests', and in TypeScript. */
async function writeFiles() {
  const { writeManyFiles } = await importTypeScript('bench/merge/many_files.ts');
  const many = path.join(folder, 'files');
  mkdirSync(many);
  return writeManyFiles(many, fileCount, collectives);
}

function bytesIn(below) {
  return readdirSync(below).reduce((sum, name) => sum + statSync(path.join(below, name)).size, 0);
}
