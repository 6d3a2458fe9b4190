/** The first command that needs a native file, in a checkout that cannot build it: one sentence, and no promise before it. */

import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
let folder = '';

/** A checkout after an install whose addon was not built. */
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'first-start-'));
  for (const name of ['bin', 'dist', 'scripts', 'native', 'package.json'])
    cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  // The launcher looks for this package.
  mkdirSync(path.join(folder, 'node_modules/piscina'), { recursive: true });
  writeFileSync(path.join(folder, 'node_modules/piscina/package.json'), '{ "main": "index.js" }');
  writeFileSync(path.join(folder, 'node_modules/piscina/index.js'), '');
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function pluginPath(options: {
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
}) {
  const program = path.join(folder, 'bin/nccl-trace.js');
  const { status, stderr } = spawnSync(process.execPath, [program, 'plugin-path'], {
    encoding: 'utf8',
    ...options,
  });
  return { status, said: stderr };
}

it('without a compiler', () => {
  expect(pluginPath({ env: { ...process.env, CXX: 'not-a-compiler' } })).toEqual({
    status: 3,
    said:
      'nccl-trace: no C++ compiler (CXX=not-a-compiler does not run): the plugin and the demo are not built; ' +
      'merge, inspect and open work without them; to have them, install one (Debian: g++) and try again\n',
  });
});

it('in a checkout that cannot be written', () => {
  rmSync(path.join(folder, 'build'), { recursive: true, force: true });
  chmodSync(folder, 0o555);
  // Root may write anywhere.
  const somebody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const result = pluginPath(somebody);
  chmodSync(folder, 0o755);
  expect(result).toEqual({
    status: 3,
    said:
      `nccl-trace: libnccl-profiler-trace.so cannot be built here: ${path.join(folder, 'build')} cannot be written (EACCES); ` +
      'run "npm run build" where it can be written, or in a copy\n',
  });
});
