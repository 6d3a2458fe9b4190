/** Login nodes limit a process's addresses (`ulimit -v`), of which Node reserves 10 GiB for each memory of WebAssembly. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runHere } from '../support/program/command_line.js';
import { PROGRAM } from '../support/program/program.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const sample = fileURLToPath(new URL('../../samples/straggler', import.meta.url));
const folder = folderOfFile();

/** `kB`: of addresses. */
const within = (kB: string, ...words: string[]) =>
  spawnSync('bash', ['-c', 'ulimit -v "$0" && exec "$@"', kB, process.execPath, ...words], {
    encoding: 'utf8',
  });

it('inspect and merge give the same within 4 GB of addresses, and scan works: zstd, threads and the kernel find room', async () => {
  const trace = path.join(folder, 'run.pftrace.zst');
  const inspect = ['inspect', sample];
  const merge = ['merge', sample, '-qfo', trace];
  const scan = ['scan', sample, '-o', path.join(folder, 'run.scan')];
  const limited = [inspect, [...merge, '-j', '2'], scan].map((words) => within('4000000', PROGRAM, ...words));
  for (const { status, stderr } of limited) expect(status, stderr).toBe(0);
  const before = readFileSync(trace);
  expect(await runHere(folder, ...merge)).toMatchObject({ code: 0 });
  expect(readFileSync(trace).equals(before)).toBe(true);
  expect(limited[0]!.stdout).toBe((await runHere(folder, ...inspect)).out);
  expect(limited[0]!.stdout).toContain('SLOW  rank 2');
  expect(within('5000000', PROGRAM, ...merge, '-j', '2')).toMatchObject({ status: 0 });
});

it('without the means of the launcher, a sentence says what the limit is too small for', () => {
  const dist = path.join(path.dirname(PROGRAM), '../dist/cli/main.js');
  const code = `import { main } from ${JSON.stringify(dist)}; process.exitCode = await main(['inspect', ${JSON.stringify(sample)}]);`;
  const { status, stderr } = within('8000000', '--input-type=module', '-e', code);
  expect(stderr).toMatch(/^nccl-trace: the system has no room for 10 GiB of addresses.*ulimit -v/m);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(status).toBe(2);
});
