/**
 * The command line: reads the words, calls one function per command, and turns what comes back into an exit
 * code. Data goes to stdout, words for people to stderr. A subcommand is one file beside this one.
 */

import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { UsageError } from '../base/errors.js';
import { clocksCommand } from './clocks.js';
import { tuneCompiler } from './compiler.js';
import { controlCommand } from './control.js';
import { demoCommand } from './demo.js';
import { ExitCode, exitCodeOf } from './exit.js';
import { inspectCommand } from './inspect.js';
import { mergeCommand } from './merge.js';
import { openCommand } from './open.js';
import { hint } from '../base/nearest.js';
import { hearErrors, isBrokenPipe, say } from './output.js';
import { pluginPathCommand } from './plugin_path.js';
import { snapshotCommand } from './snapshot.js';
import { printable } from '../report/text.js';

const EXAMPLES = `Examples:
  $ nccl-trace merge nccl-trace/ -o run.pftrace      all ranks of the newest run in one trace
  $ nccl-trace inspect nccl-trace/ | head -15        healthy, slow or hung, and who: writes nothing
  $ nccl-trace open run.pftrace                      in the Perfetto UI of your browser
  $ nccl-trace demo                                  a run of your own, without a GPU
`;

/** Called by bin/nccl-trace.js, which sets the exit code: nothing in here ends the process. */
export async function main(words: readonly string[]): Promise<ExitCode> {
  hearErrors();
  tuneCompiler();
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
    .addHelpText('before', EXAMPLES)
    .argument('[command]')
    .usage('<command> [options]')
    .allowExcessArguments()
    .action((word: string | undefined, _options: unknown, command: Command) => {
      if (word === undefined) command.help({ error: true });
      const known = command.commands.map((sub) => sub.name());
      throw new UsageError(`there is no command ${word}${hint(word, known)}; see nccl-trace --help`);
    });
  for (const command of [
    mergeCommand(setExit),
    openCommand(),
    inspectCommand(setExit),
    clocksCommand(setExit),
    demoCommand(setExit),
    pluginPathCommand(),
    snapshotCommand(setExit),
    controlCommand(setExit),
  ]) {
    root.addCommand(
      command
        .copyInheritedSettings(root)
        .showHelpAfterError(`(nccl-trace ${command.name()} --help has examples)`),
    );
  }
  return root;
}

function report(error: unknown): ExitCode {
  const code = exitCodeOf(error);
  if (code === ExitCode.outputFailed && error instanceof Error && isBrokenPipe(error.cause)) return code;
  const isBug = code === ExitCode.bug;
  const text = error instanceof Error ? ((isBug ? error.stack : undefined) ?? error.message) : String(error);
  // Lines are ours, what stands in them may be a file's.
  say(`nccl-trace: ${text.split('\n').map(printable).join('\n')}\n`);
  return code;
}

/** package.json lies two folders up from here, in src as in dist. */
function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
