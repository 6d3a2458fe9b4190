/** Makes `dist/` from the current sources before a test run, because tests start the program as a process of its own. */

import { fileURLToPath } from 'node:url';
import { bundleCommand } from '../../../scripts/bundle.mjs';
import { buildKernel } from '../../../scripts/kernel.mjs';

export default async function buildCommand(): Promise<void> {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  await bundleCommand(root);
  await buildKernel(root);
}
