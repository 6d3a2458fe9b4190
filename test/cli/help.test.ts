/** Help, man page and completion are made from the same commands: short help fits a screen, the others have every option. */

import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { manPage } from '../../src/cli/main.js';
import { runHere } from '../support/program/command_line.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();

const helpOf = async (...args: string[]): Promise<string> => (await runHere(folder, ...args)).out;
const commands = [...(await helpOf('--help')).split('Commands:')[1]!.matchAll(/^ {2}([a-z-]+) /gm)].map(
  ([, name]) => name!,
);
const optionsIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/^ +(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name!)),
];

describe('help', () => {
  it('lists every command in one line', async () => {
    expect(commands.length).toBeGreaterThanOrEqual(19);
    const text = await helpOf('--help');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(42);
    for (const command of ['merge', 'open', 'inspect', 'demo'])
      expect(text).toContain(`$ nccl-trace ${command} `);
    for (const line of text.split('\n').slice(6)) expect(line.length).toBeLessThanOrEqual(80);
  });

  it.each(commands)('%s -h fits a screen of 24 lines, and says where the rest is', async (command) => {
    const [short, whole] = [await helpOf(command, '-h'), await helpOf(command, '--help', '--all')];
    expect(short.trimEnd().split('\n').length).toBeLessThanOrEqual(24);
    const hidden = optionsIn(whole).filter((option) => !optionsIn(short).includes(option));
    const said = /^(\d+) more options?.*: nccl-trace \S+ --help --all$/m.exec(short)?.[1];
    expect(Number(said ?? 0)).toBe(hidden.length);
    expect(await helpOf('help', command, '--all')).toBe(whole);
  });

  it('a rare option is one all the same', async () => {
    expect(await helpOf('merge', '-h')).not.toContain('--clock-wander');
    const { err } = await runHere(folder, 'merge', 'x', '--clock-wander', '0');
    expect(err).toContain('must be a number of ppm');
  });
});

describe('the man page', () => {
  it('has every command with every option, and is valid roff', async () => {
    const page = await manPage();
    for (const command of commands.filter((name) => name !== 'completion')) {
      const text = page
        .split(`.SH "NCCL\\-TRACE ${command.toUpperCase().replaceAll('-', '\\-')}"`)[1]!
        .split('\n.SH ')[0]!;
      for (const option of optionsIn(await helpOf(command, '--help', '--all')))
        expect(text, `${command} ${option}`).toContain(option.replaceAll('-', '\\-'));
    }
    const file = path.join(folder, 'nccl-trace.1');
    writeFileSync(file, page);
    const lint = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', file], { encoding: 'utf8' });
    // Without a date the page is the same in each build.
    if (!lint.error) expect(lint.stdout.replace(/^.*missing date.*\n/gm, '')).toBe('');
  });
});

/** The lines that a shell offers for each of these lines, where the shell is installed. */
const has = (shell: string): boolean => spawnSync(shell, ['--version']).error === undefined;
async function script(shell: string): Promise<string> {
  const file = path.join(folder, `completion.${shell}`);
  writeFileSync(file, await helpOf('completion', shell));
  return file;
}

describe('completion', () => {
  it('bash', async () => {
    const file = await script('bash');
    const offered = (...words: string[]): string[] =>
      execFileSync(
        'bash',
        [
          '-c',
          `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nccl_trace; echo "\${COMPREPLY[*]}"`,
          file,
          'nccl-trace',
          ...words,
        ],
        { encoding: 'utf8' },
      )
        .trim()
        .split(' ');
    expect(offered('in')).toEqual(['inspect']);
    expect(offered('').sort()).toEqual([...commands, 'help', '--help', '--version'].sort());
    expect(offered('merge', '--cl')).toEqual(['--clock', '--clock-alike', '--clock-wander']);
    expect(offered('merge', '--clock', '')).toEqual(['auto', 'realtime']);
    expect(offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    // Nothing of ours: the shell offers files.
    expect(offered('merge', 'x')).toEqual(['']);
    for (const command of commands.filter((name) => name !== 'completion'))
      expect(offered(command, '--')).toEqual(
        expect.arrayContaining(optionsIn(await helpOf(command, '--help', '--all'))),
      );
  });

  it.runIf(has('fish'))('fish', async () => {
    const file = await script('fish');
    const offered = (line: string): string[] =>
      execFileSync('fish', ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', file, line], {
        encoding: 'utf8',
      })
        .trim()
        .split('\n');
    expect(offered('nccl-trace in')).toEqual([
      'inspect\tGive the verdict on a run, or show what a rank file holds',
    ]);
    expect(offered('nccl-trace merge --cl').map((one) => one.split('\t')[0])).toEqual([
      '--clock',
      '--clock-alike',
      '--clock-wander',
    ]);
    expect(offered('nccl-trace demo --scenario ').map((one) => one.split('\t')[0])).toEqual([
      'hang',
      'healthy',
      'straggler',
    ]);
    writeFileSync(path.join(folder, 'only.file'), '');
    expect(offered(`nccl-trace merge ${folder}/only`)).toEqual([`${folder}/only.file`]);
  });

  it.runIf(has('zsh'))('zsh, by the Tab key', async () => {
    const file = await script('zsh');
    /** Waits until the terminal shows what the pattern says. */
    const typed = (line: string, shows: string): void => {
      const lines = [
        'zmodload zsh/zpty; zpty z zsh -f -i',
        `zpty -w z "PS1=; autoload -U compinit; compinit -u -D; source $1; stty cols 200; print RE''ADY"`,
        `zpty -r z out '*READY*'; zpty -w -n z "$2"$'\\t'; zpty -r z out "$3"`,
      ];
      execFileSync('zsh', ['-f', '-c', lines.join('\n'), 'zsh', file, line, shows], { timeout: 600_000 });
    };
    typed('nccl-trace insp', '*inspect*');
    typed('nccl-trace merge --clock ', '*auto*realtime*');
    typed('nccl-trace merge --clock-w', '*wander*');
  });
});
