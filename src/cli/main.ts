/**
 * The command line: reads the arguments, calls one function per command, and turns what comes back into an exit
 * code. Data goes to stdout, text for people to stderr. A subcommand is one file beside this one.
 */

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Command, CommanderError } from 'commander';
import { HIDDEN_PATH, sentenceText } from '../base/sentence.js';
import { OutputError, RankFileError, UsageError } from '../base/errors.js';
import { hint } from '../base/nearest.js';
import { projectFile } from '../base/project.js';
import { printable } from '../report/text.js';
import { ExitCode, exitCodeOf } from './exit.js';
import { examplesOf, ONE_LINE_PER_COMMAND, prepareHelp, withoutAll } from './help.js';
import { stackInSources } from './source_stack.js';
import { hearErrors, isBrokenPipe, say } from './streams.js';
import { usageSentence } from './usage_text.js';

type SetExit = (code: ExitCode) => void;

/** In the order of the help. A command's code is loaded when the command is asked for. */
const COMMANDS: Readonly<Record<string, (setExit: SetExit) => Promise<Command>>> = {
  merge: async (setExit) => (await import('./merge.js')).mergeCommand(setExit),
  open: async () => (await import('./open.js')).openCommand(),
  inspect: async (setExit) => (await import('./inspect.js')).inspectCommand(setExit),
  report: async (setExit) => (await import('./report.js')).reportCommand(setExit),
  collectives: async (setExit) => (await import('./table_commands.js')).tableCommand('collectives')(setExit),
  links: async (setExit) => (await import('./table_commands.js')).tableCommand('links')(setExit),
  ranks: async (setExit) => (await import('./table_commands.js')).tableCommand('ranks')(setExit),
  waits: async (setExit) => (await import('./table_commands.js')).tableCommand('waits')(setExit),
  export: async (setExit) => (await import('./export.js')).exportCommand(setExit),
  query: async (setExit) => (await import('./query.js')).queryCommand(setExit),
  diff: async (setExit) => (await import('./diff.js')).diffCommand(setExit),
  scan: async (setExit) => (await import('./steps.js')).scanCommand(setExit),
  study: async (setExit) => (await import('./steps.js')).studyCommand(setExit),
  convert: async (setExit) => (await import('./steps.js')).convertCommand(setExit),
  join: async (setExit) => (await import('./steps.js')).joinCommand(setExit),
  clocks: async (setExit) => (await import('./clocks.js')).clocksCommand(setExit),
  demo: async (setExit) => (await import('./demo.js')).demoCommand(setExit),
  'plugin-path': async () => (await import('./plugin_path.js')).pluginPathCommand(),
  watch: async (setExit) => (await import('./watch.js')).watchCommand(setExit),
  top: async (setExit) => (await import('./top.js')).topCommand(setExit),
  metrics: async (setExit) => (await import('./metrics.js')).metricsCommand(setExit),
  snapshot: async (setExit) => (await import('./snapshot.js')).snapshotCommand(setExit),
  text: async (setExit) => (await import('./text.js')).textCommand(setExit),
  prune: async (setExit) => (await import('./prune.js')).pruneCommand(setExit),
  control: async (setExit) => (await import('./control.js')).controlCommand(setExit),
  completion: async () => (await import('./completion.js')).completionCommand(wholeProgram),
};

const EXAMPLES = `Examples:
  $ nccl-trace merge nccl-trace/ -o run.pftrace      all ranks of the newest run in one trace
  $ nccl-trace open run.pftrace                      show it in your browser
  $ nccl-trace inspect nccl-trace/ | head -15        the verdict: healthy, slow or hung, and which rank
  $ nccl-trace demo                                  record and merge a run without a GPU
`;

/** Called by bin/nccl-trace.js, which sets the exit code: nothing in here ends the process. */
export async function main(args: readonly string[]): Promise<ExitCode> {
  hearErrors();
  try {
    let exit: ExitCode = ExitCode.ok;
    const { args: asked, all } = withoutAll(withoutHelpCommand(args));
    if (asked.includes('--redact')) (await import('../rankfile/stalls.js')).hideNames();
    const root = await program(commandsFor(asked[0]), (code) => (exit = code), all);
    await root.parseAsync(asked, { from: 'user' });
    return exit;
  } catch (error) {
    // Commander has already printed its message: --help and --version arrive here too, with its code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    return report(error, args.includes('--redact'));
  }
}

/** All commands with all options. */
const wholeProgram = (): Promise<Command> =>
  program(
    Object.keys(COMMANDS).filter((name) => name !== 'completion'),
    () => undefined,
    true,
  );

/** For scripts/build.mjs. */
export const manPage = async (): Promise<string> =>
  (await import('./man_page.js')).manPageOf(await wholeProgram(), examplesOf);

/** "help merge" is "merge --help". */
function withoutHelpCommand(args: readonly string[]): readonly string[] {
  const [first, command, ...rest] = args;
  if (first !== 'help') return args;
  if (command === undefined) return ['--help'];
  if (rest.length === 1 && rest[0] === '--all') return [command, '--help', '--all'];
  if (rest.length > 0) throw new UsageError('help takes one command; see nccl-trace --help');
  if (!Object.hasOwn(COMMANDS, command) && !command.startsWith('-')) throw noSuchCommand(command);
  return [command, '--help'];
}

const noSuchCommand = (name: string): UsageError =>
  new UsageError(`there is no command ${name}${hint(name, Object.keys(COMMANDS))}; see nccl-trace --help`);

async function program(names: readonly string[], setExit: SetExit, all: boolean): Promise<Command> {
  const root = new Command('nccl-trace')
    .description('Record what NCCL does on every rank, and merge all into one Perfetto trace.')
    .version(version(), '-V, --version')
    .exitOverride()
    .configureOutput(errorsFor('nccl-trace'))
    .configureHelp(ONE_LINE_PER_COMMAND)
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', '"nccl-trace help COMMAND" shows its options, with --all the rare ones, too.')
    .argument('[command]')
    .usage('<command> [options]')
    .allowExcessArguments()
    .action((name: string | undefined, _options: unknown, command: Command) => {
      if (name === undefined) command.help({ error: true });
      throw noSuchCommand(name);
    });
  for (const name of names) {
    const command = await COMMANDS[name]!(setExit);
    root.addCommand(
      // Subcommands inherit how Commander ends: by an exception, which `main` catches.
      prepareHelp(command, all)
        .copyInheritedSettings(root)
        .allowExcessArguments(false)
        .configureOutput(errorsFor(`nccl-trace ${command.name()}`)),
    );
  }
  return root;
}

const errorsFor = (command: string) => ({
  outputError: (text: string) => {
    say(`${printable(usageSentence(text, command))}\n`);
  },
});

/** The command that the arguments name. Without a known command all are loaded, for the help or a hint. */
function commandsFor(name = ''): readonly string[] {
  if (name === '-V' || name === '--version') return [];
  return Object.hasOwn(COMMANDS, name) ? [name] : Object.keys(COMMANDS);
}

/** `redact`: also hides the names of files in messages. The last part of an output's name stays. */
function report(error: unknown, redact: boolean): ExitCode {
  const code = exitCodeOf(error);
  if (code === ExitCode.outputFailed && error instanceof Error && isBrokenPipe(error.cause)) return code;
  const isBug = code === ExitCode.bug;
  const text =
    error instanceof Error
      ? ((isBug ? stackInSources(error) : undefined) ?? messageOf(error, redact))
      : String(error);
  // The lines are ours, but their text may come from a file.
  say(`nccl-trace: ${text.split('\n').map(printable).join('\n')}\n`);
  return code;
}

function messageOf(error: Error, redact: boolean): string {
  if (!redact) return error.message;
  if (error instanceof RankFileError) return sentenceText(error.sentence, () => HIDDEN_PATH);
  if (!(error instanceof OutputError)) return error.message;
  return sentenceText(error.sentence, (path) => (path === error.path ? basename(path) : HIDDEN_PATH));
}

function version(): string {
  const text = readFileSync(projectFile('package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
