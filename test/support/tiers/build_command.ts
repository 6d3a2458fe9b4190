/** Makes `dist/` and the addon from the current sources before a test run, because tests start the program as a process of its own. */

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
}
