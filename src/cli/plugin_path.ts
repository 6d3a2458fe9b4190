/** `nccl-trace plugin-path`: prints the value for NCCL_PROFILER_PLUGIN. */

import type { Command } from 'commander';
import { commandWith } from './help.js';
import { NoUsableInput } from '../base/errors.js';
import { nativeFiles, PLUGIN } from './native_files.js';

/** NCCL cuts the variable at 254 bytes without a message, and then finds no plugin. */
const MAX_PATH_BYTES = 254;

export function pluginPathCommand(): Command {
  return commandWith('plugin-path', 'Examples:\n  $ export NCCL_PROFILER_PLUGIN=$(nccl-trace plugin-path)\n')
    .description('Print the value for NCCL_PROFILER_PLUGIN.')
    .action(async () => {
      const [path] = await nativeFiles(PLUGIN);
      const bytes = Buffer.byteLength(path);
      if (bytes > MAX_PATH_BYTES) {
        throw new NoUsableInput(
          `${path} has ${bytes} bytes, but NCCL reads at most ${MAX_PATH_BYTES}; copy the plugin to a shorter path`,
        );
      }
      process.stdout.write(`${path}\n`);
    });
}
