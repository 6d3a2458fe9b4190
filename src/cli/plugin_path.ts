/** `nccl-trace plugin-path`: prints the value for NCCL_PROFILER_PLUGIN. */

import { existsSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { commandWith } from './help.js';
import { NoUsableInput } from '../base/errors.js';
import { MACHINES, nativeFile, THIS_MACHINE, type Machine } from '../rankfile/native_file.js';
import { nativeFiles, PLUGIN } from './native_files.js';

/** NCCL cuts the variable at 254 bytes without a message, and then finds no plugin. */
const MAX_PATH_BYTES = 254;

export function pluginPathCommand(): Command {
  return commandWith('plugin-path', 'Examples:\n  $ export NCCL_PROFILER_PLUGIN=$(nccl-trace plugin-path)\n')
    .description('Print the value for NCCL_PROFILER_PLUGIN.')
    .addOption(
      new Option('--machine <name>', 'the plugin for nodes of another architecture')
        .choices(Object.values(MACHINES))
        .default(THIS_MACHINE, 'this one'),
    )
    .action(async ({ machine }: { machine: Machine | null }) => {
      const path = machine === THIS_MACHINE ? (await nativeFiles(PLUGIN))[0] : forOther(machine);
      const bytes = Buffer.byteLength(path);
      if (bytes > MAX_PATH_BYTES) {
        throw new NoUsableInput(
          `${path} has ${bytes} bytes, but NCCL reads at most ${MAX_PATH_BYTES}; copy the plugin to a shorter path`,
        );
      }
      process.stdout.write(`${path}\n`);
    });
}

/** A package has it. In a checkout it is not built by the way, because the cross compiler is rarely there. */
function forOther(machine: Machine | null): string {
  const path = nativeFile(PLUGIN, machine);
  if (existsSync(path)) return path;
  throw new NoUsableInput(
    `there is no plugin for ${machine} here; "node scripts/build.mjs --machine=${machine}" in a checkout builds it`,
  );
}
