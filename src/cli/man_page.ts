/** The man page nccl-trace(1), from the commands with all their options. scripts/build.mjs writes it. */

import type { Command } from 'commander';

/** Text in roff: a backslash, and a dot or an apostrophe at the begin of a line, are its own. */
const roff = (text: string): string =>
  text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/gm, '\\&$&');

export function manPageOf(program: Command, examplesOf: (command: Command) => string): string {
  const lines = [
    '.TH NCCL\\-TRACE 1 "" "nccl\\-trace" "User Commands"',
    '.SH NAME',
    'nccl\\-trace \\- a flight recorder and a timeline for NCCL',
    '.SH SYNOPSIS',
    '.B nccl\\-trace',
    '.I command',
    '[options]',
    '.SH DESCRIPTION',
    roff(program.description()),
    ...program.commands.flatMap((command) => [
      `.SH "${roff(`nccl-trace ${command.name()}`).toUpperCase()}"`,
      `.B nccl\\-trace ${roff(command.name())}`,
      roff(command.usage()),
      '.PP',
      roff(command.description()),
      ...terms(command.registeredArguments.map((one) => [one.name(), one.description] as const)),
      ...optionsOf(command),
      '.PP',
      '.nf',
      roff(examplesOf(command).trimEnd()),
      '.fi',
    ]),
    '.SH "EXIT STATUS"',
    'docs/exit\\-codes.md has all of them.',
  ];
  return `${lines.join('\n')}\n`;
}

function optionsOf(command: Command): string[] {
  const help = command.createHelp();
  return terms(
    help
      .visibleOptions(command)
      .map((option) => [help.optionTerm(option), help.optionDescription(option)] as const),
  );
}

const terms = (list: readonly (readonly [string, string])[]): string[] =>
  list.flatMap(([term, about]) => ['.TP', `.B ${roff(term)}`, roff(about)]);
