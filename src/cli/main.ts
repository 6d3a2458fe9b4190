/**
 * The command line: reads the words, calls one function per command, and turns what comes back into an exit
 * code. Data goes to stdout, words for people to stderr. A subcommand is one file beside this one.
 */

import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { clocksCommand } from './clocks.js';
import { demoCommand } from './demo.js';
import { ExitCode, exitCodeOf } from './exit.js';
import { inspectCommand } from './inspect.js';
import { mergeCommand } from './merge.js';
import { openCommand } from './open.js';
import { pluginPathCommand } from './plugin_path.js';

/** Called by bin/nccl-trace.js, which sets the exit code: nothing in here ends the process. */
export async function main(words: readonly string[]): Promise<ExitCode> {
  try {
    let exit: ExitCode = ExitCode.ok;
    await program((code) => (exit = code)).parseAsync(words, { from: 'user' });
    return exit;
  } catch (error) {
    // Commander has already printed its message: --help and --version arrive here too, with its code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    return report(error);
  }
}

/** Subcommands inherit how Commander ends: by an exception, caught above. */
function program(setExit: (code: ExitCode) => void): Command {
  const root = new Command('nccl-trace')
    .description('Record what NCCL does on every rank, and merge all ranks into one Perfetto trace.')
    .version(version(), '-V, --version')
    .exitOverride()
    .action((_options: unknown, command: Command) => {
      command.help({ error: true });
    });
  for (const command of [
    mergeCommand(setExit),
    openCommand(),
    inspectCommand(setExit),
    clocksCommand(setExit),
    demoCommand(),
    pluginPathCommand(),
  ]) {
    root.addCommand(command.copyInheritedSettings(root));
  }
  return root;
}

function report(error: unknown): ExitCode {
  const code = exitCodeOf(error);
  const isBug = code === ExitCode.bug;
  const text = error instanceof Error ? ((isBug ? error.stack : undefined) ?? error.message) : String(error);
  process.stderr.write(`nccl-trace: ${text}\n`);
  return code;
}

/** package.json lies two folders up from here, in src as in dist. */
function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
