/** Login nodes limit a process's addresses (`ulimit -v`), of which Node reserves 10 GiB for each memory of WebAssembly. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { PROGRAM } from '../support/program/program.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const sample = fileURLToPath(new URL('../../samples/straggler', import.meta.url));
const folder = folderOfFile();

/** `kB`: of addresses. */
const within = (kB: string, ...words: string[]) =>
  spawnSync('bash', ['-c', 'ulimit -v "$0" && exec "$@"', kB, process.execPath, ...words], {
    encoding: 'utf8',
  });

it('inspect and merge give the same within 4 GB of addresses, also with threads', () => {
  const [limited, free] = ['4000000', 'unlimited'].map((kB) => {
    const trace = path.join(folder, `${kB}.pftrace`);
    const inspect = within(kB, PROGRAM, 'inspect', sample);
    const merge = within(kB, PROGRAM, 'merge', sample, '-j', '2', '-o', trace);
    expect(merge.status, merge.stderr).toBe(inspect.status);
    return { verdict: inspect.stdout, status: inspect.status, trace: readFileSync(trace) };
  });
  expect(limited).toEqual(free);
  expect(free!.verdict).toContain('SLOW  rank 2');
});

it.each([4_000_000, 5_000_000])('zstd, threads and the kernel find room beside each other in %i kB', (kB) => {
  for (const words of [
    ['merge', sample, '-j', '2', '-o', path.join(folder, `${kB}.pftrace.zst`)],
    ['scan', sample, '-o', path.join(folder, `${kB}.scan`)],
  ]) {
    const { status, stderr } = within(String(kB), PROGRAM, ...words);
    expect(status, stderr).toBe(0);
  }
});

it('without the means of the launcher, a sentence says what the limit is too small for', () => {
  const dist = path.join(path.dirname(PROGRAM), '../dist/cli/main.js');
  const code = `import { main } from ${JSON.stringify(dist)}; process.exitCode = await main(['inspect', ${JSON.stringify(sample)}]);`;
  const { status, stderr } = within('8000000', '--input-type=module', '-e', code);
  expect(stderr).toMatch(/^nccl-trace: the system has no room for 10 GiB of addresses.*ulimit -v/m);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(status).toBe(2);
});
