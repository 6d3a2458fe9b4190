/** Makes `dist/` and the addon from the current sources before a test run, because tests start the program as a process of its own. */

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleCommand } from '../../../scripts/bundle.mjs';
import { ensureCodeCache } from '../../../scripts/code_cache.mjs';
import { ensureNative } from '../../../scripts/ensure_native.mjs';
import { buildKernel } from '../../../scripts/kernel.mjs';
import { ADDON } from '../../../scripts/native.mjs';

export default async function buildCommand(): Promise<void> {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  await bundleCommand(root);
  await buildKernel(root);
  ensureCodeCache(root);
  await ensureNative({ root, what: 'compiling the addon', warningsAreErrors: false, only: [ADDON] });
  findPython();
}

/** A python3 that is a script which looks for one, as pyenv's, takes ten times as long to start. */
function findPython(): void {
  const { status, stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
  });
  if (status === 0) process.env.PATH = `${path.dirname(stdout)}:${process.env.PATH}`;
}
