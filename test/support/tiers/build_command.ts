/** Bundles `dist/` from the current sources before a test run, because tests start the program as a process of its own. */

import { fileURLToPath } from 'node:url';
import { bundleCommand } from '../../../scripts/bundle.mjs';

export default async function buildCommand(): Promise<void> {
  await bundleCommand(fileURLToPath(new URL('../../..', import.meta.url)));
}
