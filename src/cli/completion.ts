/**
 * `nccl-trace completion SHELL`: prints a script that completes commands, options and their values. It is made from the commands themselves, so
 * it has what this version has, and a Tab starts no program.
 */

import { Argument, type Command, type Option } from 'commander';
import { commandWith } from './help.js';
import { print } from './streams.js';

const EXAMPLES = `Examples:
  $ source <(nccl-trace completion bash)                                      in ~/.bashrc; the same with zsh in ~/.zshrc
  $ nccl-trace completion fish > ~/.config/fish/completions/nccl-trace.fish
  $ nccl-trace completion bash > /etc/bash_completion.d/nccl-trace            for all users
`;

export function completionCommand(whole: () => Promise<Command>): Command {
  return commandWith('completion', EXAMPLES)
    .description('Print a script with which your shell completes commands.')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .action(async (shell: keyof typeof SCRIPTS) => {
      await print(SCRIPTS[shell]((await whole()).commands));
    });
}

const SCRIPTS = { bash, zsh, fish };
type Commands = readonly Command[];

/** What follows an option. */
function valueOf({
  required,
  optional,
  argChoices,
  flags,
}: Option): 'nothing' | 'file' | 'other' | readonly string[] {
  if (!required && !optional) return 'nothing';
  if (argChoices) return argChoices;
  return /[<[](file|folder|dir)[>\]]/.test(flags) ? 'file' : 'other';
}

const namesOf = ({ short, long }: Option): string[] => [short, long].filter((name) => name !== undefined);
const withoutDot = (text: string): string => text.replace(/\.$/, '');
const words = (list: readonly string[]): string => list.join(' ');
/** The first sentence; the rest is for the help. */
const about = ({ description }: Option): string => description.split(/[:;(]/)[0]!.trim();

function bash(commands: Commands): string {
  const values = commands.flatMap((command) =>
    command.options.flatMap((option) => {
      const value = valueOf(option);
      if (typeof value === 'string') return [];
      const places = namesOf(option).map((name) => `${command.name()}:${name}`);
      return [`    ${places.join('|')}) COMPREPLY=($(compgen -W '${words(value)}' -- "$cur")); return ;;`];
    }),
  );
  const options = commands.map(
    (command) => `    ${command.name()}) all='${words([...command.options.flatMap(namesOf), '--help'])}' ;;`,
  );
  return `# bash completion for nccl-trace
_nccl_trace() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command=\${COMP_WORDS[1]} all=
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W '${words([...commands.map((command) => command.name()), 'completion', 'help', '--help', '--version'])}' -- "$cur"))
    return
  fi
  case $command:$prev in
${values.join('\n')}
    completion:completion) COMPREPLY=($(compgen -W '${words(Object.keys(SCRIPTS))}' -- "$cur")); return ;;
    help:help) COMPREPLY=($(compgen -W '${words(commands.map((command) => command.name()))}' -- "$cur")); return ;;
  esac
  [[ $cur == -* ]] || return # a path: -o default
  case $command in
${options.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$all" -- "$cur"))
}
complete -o bashdefault -o default -F _nccl_trace nccl-trace
`;
}

/** How a shell is told what follows an option: nothing, a file, one of some words, or anything. */
function textOfValue(option: Option, file: string, other: string, oneOf: (list: string) => string): string {
  const value = valueOf(option);
  if (value === 'nothing') return '';
  return value === 'file' ? file : value === 'other' ? other : oneOf(words(value));
}

const zshQuoted = (text: string): string => text.replace(/[[\]:]/g, '\\$&').replaceAll("'", "'\\''");

function zsh(commands: Commands): string {
  const specs = (command: Command): string[] =>
    command.options.map((option) => {
      const after = textOfValue(option, ':file:_files', ':value: ', (list) => `:value:(${list})`);
      const names = namesOf(option);
      const either = names.length > 1 ? `'(${words(names)})'{${names.join(',')}}` : `'${names[0]}'`;
      return `${either}'[${zshQuoted(about(option))}]${after}'`;
    });
  const cases = commands.map((command) => {
    const path = command.registeredArguments.length > 0 ? [`'*:path:_files'`] : [];
    return `      ${command.name()}) _arguments ${[...specs(command), `'--help[show the help]'`, ...path].join(' \\\n          ')} ;;`;
  });
  const described = commands.map(
    (command) => `    '${command.name()}:${zshQuoted(withoutDot(command.description()))}'`,
  );
  return `#compdef nccl-trace
_nccl_trace() {
  local -a commands=(
${described.join('\n')}
    'completion:Print a script with which your shell completes commands'
  )
  local state line
  typeset -A opt_args
  _arguments -C '1:command:->command' '*::argument:->arguments'
  case $state in
    command) _describe command commands ;;
    arguments) case $words[1] in
${cases.join('\n')}
      completion) _arguments '1:shell:(${words(Object.keys(SCRIPTS))})' ;;
    esac ;;
  esac
}
# Sourced, or found in $fpath.
if [ "$funcstack[1]" = _nccl_trace ]; then _nccl_trace "$@"; else compdef _nccl_trace nccl-trace; fi
`;
}

const fishQuoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

function fish(commands: Commands): string {
  const start = 'complete -c nccl-trace';
  const lines = commands.flatMap((command) => [
    `${start} -n __fish_use_subcommand -f -a ${command.name()} -d ${fishQuoted(withoutDot(command.description()))}`,
    ...command.options.map((option) => {
      const after = textOfValue(option, ' -r -F', ' -x', (list) => ` -x -a ${fishQuoted(list)}`);
      const names = [
        ...(option.short === undefined ? [] : [`-s ${option.short.slice(1)}`]),
        ...(option.long === undefined ? [] : [`-l ${option.long.slice(2)}`]),
      ];
      return `${start} -n '__fish_seen_subcommand_from ${command.name()}' ${words(names)}${after} -d ${fishQuoted(about(option))}`;
    }),
  ]);
  return `# fish completion for nccl-trace
${lines.join('\n')}
${start} -n __fish_use_subcommand -f -a completion -d 'Print a script with which your shell completes commands'
${start} -n '__fish_seen_subcommand_from completion' -f -a ${fishQuoted(words(Object.keys(SCRIPTS)))}
`;
}
