/** Before the tests of any run: `dist/`, which they start as a process of its own, is made of the sources as they are now. */

import { fileURLToPath } from 'node:url';
import { bundleCommand } from '../../scripts/bundle.mjs';

export default async function buildCommand(): Promise<void> {
  await bundleCommand(fileURLToPath(new URL('../..', import.meta.url)));
}
