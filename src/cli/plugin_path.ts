/** `nccl-trace plugin-path`: prints the value for NCCL_PROFILER_PLUGIN, with `--chain` what to export for further plugins. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { commandWith } from './help.js';
import { NoUsableInput } from '../base/errors.js';
import { MACHINES, nativeFile, THIS_MACHINE, type Machine } from '../rankfile/native_file.js';
import { quoted } from '../trace/commands.js';
import { nativeFiles, PLUGIN } from './native_files.js';

/** NCCL cuts the variable at 254 bytes without a message, and then finds no plugin. */
const MAX_PATH_BYTES = 254;

/** The recorder's limits (native/plugin/chain). */
const MAX_CHAINED = 3;
const MAX_CHAINED_BYTES = 255;

export function pluginPathCommand(): Command {
  return commandWith(
    'plugin-path',
    'Examples:\n  $ export NCCL_PROFILER_PLUGIN=$(nccl-trace plugin-path)\n' +
      '  $ eval "$(nccl-trace plugin-path --chain /opt/libnccl-profiler-inspector.so)"\n',
  )
    .description('Print the value for NCCL_PROFILER_PLUGIN.')
    .addOption(
      new Option('--machine <name>', 'the plugin for nodes of another architecture')
        .choices(Object.values(MACHINES))
        .default(THIS_MACHINE, 'this one'),
    )
    .option('--chain <plugins...>', 'also call these profiler plugins; prints what to export')
    .action(async ({ machine, chain = [] }: { machine: Machine | null; chain?: string[] }) => {
      const path = machine === THIS_MACHINE ? (await nativeFiles(PLUGIN))[0] : forOther(machine);
      const bytes = Buffer.byteLength(path);
      if (bytes > MAX_PATH_BYTES) {
        throw new NoUsableInput(
          `${path} has ${bytes} bytes, but NCCL reads at most ${MAX_PATH_BYTES}; copy the plugin to a shorter path`,
        );
      }
      process.stdout.write(chain.length === 0 ? `${path}\n` : exports(path, chain));
    });
}

/** Lines for `eval` in a shell. A name without "/" is searched by the recorder, as NCCL searches its plugin. */
function exports(path: string, chain: readonly string[]): string {
  if (chain.length > MAX_CHAINED)
    throw new NoUsableInput(`${chain.length} plugins: at most ${MAX_CHAINED} can be chained`);
  const plugins = chain.map((name) => {
    const full = name.includes('/') ? resolve(name) : name;
    if (name.includes('/') && !existsSync(full)) throw new NoUsableInput(`${full} does not exist`);
    const bytes = Buffer.byteLength(full);
    if (bytes > MAX_CHAINED_BYTES || full.includes(':'))
      throw new NoUsableInput(
        `${full} cannot be chained: a path may have ${MAX_CHAINED_BYTES} bytes and no ":"; copy it elsewhere`,
      );
    return full;
  });
  return `export NCCL_PROFILER_PLUGIN=${quoted(path)}\nexport NCCL_TRACE_CHAIN=${quoted(plugins.join(':'))}\n`;
}

/** A package has it. In a checkout it is not built by the way, because the cross compiler is rarely there. */
function forOther(machine: Machine | null): string {
  const path = nativeFile(PLUGIN, machine);
  if (existsSync(path)) return path;
  throw new NoUsableInput(
    `there is no plugin for ${machine} here; "node scripts/build.mjs --machine=${machine}" in a checkout builds it`,
  );
}
