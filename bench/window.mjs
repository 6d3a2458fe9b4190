// What a few seconds of a long stream-mode file cost: `npm run bench:window [-- --slots 67108864 --seconds 3600]`.
//
// The file is made up: one communicator, AllReduces with sends of 256 steps, all of it in chunks packed by zstd (test/support/rank_files/large_stream_file.ts).
// Printed are CPU time, wall time and the peak of memory of each command, a process of its own.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { command } from './command.mjs';
import { importTypeScript } from './tools.mjs';

const { values } = parseArgs({
  options: {
    slots: { type: 'string', default: String(2 ** 26) },
    seconds: { type: 'string', default: '3600' },
  },
});
const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-bench-'));
try {
  const { writeLargeStreamFile } = await importTypeScript('test/support/rank_files/large_stream_file.ts');
  const file = path.join(folder, 'rank00000.bin');
  const seconds = Number(values.seconds);
  const records = writeLargeStreamFile(file, Number(values.slots), 'zstd', seconds);
  console.log(`${seconds} s, ${(records / 1e6).toFixed(1)} million records, ${megabytes(file)} MB`);
  const trace = path.join(folder, 'window.pftrace');
  const middle = ['--from', String(seconds / 2), '--to', String(seconds / 2 + 5)];
  for (const part of [['--last', '5s'], middle, []]) {
    const { cpu, wall, mebibytes } = command(['merge', file, ...part, '-qfo', trace]);
    const what = part.join(' ') || 'all of it';
    console.log(
      `merge, ${what}: ${cpu.toFixed(1)} s of CPU time, ${wall.toFixed(1)} s of wall time, ${mebibytes.toFixed(0)} MiB; trace ${megabytes(trace)} MB`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}

function megabytes(file) {
  return (statSync(file).size / 1e6).toFixed(1);
}
