/** Which build of the kernel runs. The debug build checks what the release build believes. An installed package does not have it. */

// For all of a test's processes and threads. No result depends on it.
// eslint-disable-next-line no-restricted-imports
import { env } from 'node:process';
import { projectFile } from '../../base/project.js';

export const kernelFile = (): string =>
  projectFile(env.NCCL_TRACE_KERNEL === 'debug' ? 'dist/kernel.debug.wasm' : 'dist/kernel.wasm');
