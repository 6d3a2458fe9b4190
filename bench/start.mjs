// The cost of starting the command: `npm run bench:start [-- --rounds 20]`. Each case is a process of its own, in turn. The smallest time
// of all rounds is printed, because other load can only add. Node alone is the floor.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } });
const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-start-'));
const command = path.join(root, 'bin/nccl-trace.js');
const merge = [
  command,
  'merge',
  path.join(root, 'samples/straggler'),
  '-qfo',
  path.join(folder, 'out.pftrace'),
];
const ways = {
  'node alone': ['-e', '0'],
  '--version': [command, '--version'],
  'inspect samples/straggler': [command, 'inspect', path.join(root, 'samples/straggler')],
  'merge samples/straggler': merge,
  'the same, --jobs 2': [...merge, '--jobs', '2'],
};
const least = Object.fromEntries(Object.keys(ways).map((name) => [name, Infinity]));
process.stderr.write(`about ${2 * Number(values.rounds)} seconds\n`);
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    process.stderr.write(`round ${round + 1}/${values.rounds}\n`);
    for (const [name, args] of Object.entries(ways)) {
      const start = performance.now();
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
      least[name] = Math.min(least[name], performance.now() - start);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
for (const [name, ms] of Object.entries(least))
  console.log(`${name.padEnd(26)} ${ms.toFixed(0).padStart(5)} ms`);
