/**
 * The help of a command on one screen: the examples and options that most people need. `--help --all` shows the others, too. Man page and
 * completion are made from the same commands, with all options.
 */

import { counted } from '../base/units.js';
import { Command, type Help } from 'commander';

const ALL = '--all';

/** How many of a command's examples the short help has. */
const FEW = 2;

/** Long names of options that few people need. */
const RARE = new Set([
  ...['--act-on', '--every', '--incidents', '--linger', '--no-snapshot', '--ring-dir'],
  ...[
    '--around',
    '--clock',
    '--clock-alike',
    '--clock-wander',
    '--detail',
    '--from',
    '--hung-after',
    '--jobs',
    '--link',
    '--max-memory',
  ],
  ...['--no-trace', '--origin', '--peak', '--redact', '--strict', '--summary', '--to', '--trace-budget'],
]);

/** Except in these commands, where they matter or where there is room. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  clocks: ['--clock', '--strict'],
  demo: ['--strict', '--summary'],
  inspect: ['--hung-after'],
  open: ['--origin'],
  scan: ['--around'],
  snapshot: ['--strict', '--ring-dir'],
  text: ['--redact'],
};

const examples = new WeakMap<Command, string>();
export const examplesOf = (command: Command): string => examples.get(command) ?? '';

/** `its`: a line of title, then one example per line, the most useful first. */
export function commandWith(name: string, its: string): Command {
  const command = new Command(name);
  examples.set(command, its);
  return command;
}

/** Whether the arguments ask for the whole help. Takes the word out. */
export function withoutAll(args: readonly string[]): {
  readonly args: readonly string[];
  readonly all: boolean;
} {
  const isHelp = args.some((arg) => arg === '-h' || arg === '--help');
  return { args: isHelp ? args.filter((arg) => arg !== ALL) : args, all: isHelp && args.includes(ALL) };
}

/** Prepares the help of a command. Its options work all the same. */
export function prepareHelp(command: Command, all: boolean): Command {
  const [title = '', ...lines] = examplesOf(command).trimEnd().split('\n');
  const rare = command.options.filter(
    ({ long }) => RARE.has(long ?? '') && !NEEDED[command.name()]?.includes(long!),
  );
  if (title !== '')
    command.addHelpText('before', `${[title, ...(all ? lines : lines.slice(0, FEW))].join('\n')}\n`);
  if (all) return command;
  for (const option of rare) option.hideHelp();
  const more = [
    ...(rare.length > 0 ? [counted(rare.length, 'more option')] : []),
    ...(lines.length > FEW ? ['more examples'] : []),
  ];
  if (more.length > 0)
    command.addHelpText('after', `${more.join(', ')}: nccl-trace ${command.name()} --help ${ALL}`);
  return command;
}

/** One line per command. */
export const ONE_LINE_PER_COMMAND: Partial<Help> = {
  subcommandTerm: (command) => command.name(),
};
