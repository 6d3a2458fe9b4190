/** What README, docs and help say is there: commands, options, settings, files; and what they show runs. */

import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from './support/made_up_run.js';
import { runHere } from './support/command_line.js';
import { PROGRAM } from './support/program.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');
const markdown = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join(folder, name));
const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'src/README.md',
  ...markdown('docs'),
  ...markdown('schemas'),
];

const COMMANDS = [
  'merge',
  'open',
  'inspect',
  'report',
  'collectives',
  'links',
  'ranks',
  'waits',
  'diff',
  'prune',
  'scan',
  'study',
  'convert',
  'join',
  'clocks',
  'demo',
  'plugin-path',
];
const helps = new Map<string, string>();
for (const command of ['', ...COMMANDS]) helps.set(command, await helpOf(command));

async function helpOf(command: string): Promise<string> {
  return (await runHere(ROOT, ...command.split(' ').filter(Boolean), '--help', '--all')).out;
}

const help = (command: string): string => helps.get(command)!;

describe('documents name only commands, options, settings and files that exist', () => {
  it('all commands are known to this test', async () => {
    const listed = [...help('').matchAll(/^ {2}([a-z-]+) {2,}[A-Z]/gm)].map(([, name]) => name);
    expect(listed).toEqual(expect.arrayContaining(COMMANDS));
    for (const name of listed) expect(await helpOf(name!)).toMatch(/^Examples\b/);
  });

  it.each(DOCUMENTS)('%s: commands and their options', (name) => {
    for (const [, command, rest] of read(name).matchAll(/nccl-trace ([a-z][a-z-]+)((?: [^\n`|;#&]*)?)/g)) {
      if (!COMMANDS.includes(command!)) continue;
      for (const [option] of rest!.matchAll(/(?<= )--?[a-z][a-z-]*/g))
        expect(help(command!).split(/[\s,]+/), `${name}: nccl-trace ${command} ${option}`).toContain(option);
    }
  });

  it.each(DOCUMENTS)('%s: settings', (name) => {
    const readers = ['native/plugin', 'native/addon']
      .flatMap((place) =>
        readdirSync(path.join(ROOT, place), { recursive: true, encoding: 'utf8' })
          .filter((file) => file.endsWith('.cc'))
          .map((file) => read(path.join(place, file))),
      )
      .join('\n');
    for (const [setting] of read(name).matchAll(/\bNCCL_TRACE_[A-Z_]+\b/g))
      expect(readers.includes(`"${setting}"`) || INTERNAL.has(setting), `${name}: ${setting}`).toBe(true);
  });

  it('and every setting that the plugin reads is in docs/recording.md', () => {
    const settings = [...read('native/plugin/process/settings.cc').matchAll(/"(NCCL_TRACE_[A-Z_]+)"/g)].map(
      ([, name]) => name!,
    );
    expect(settings.length).toBeGreaterThan(5);
    for (const setting of new Set(settings)) expect(read('docs/recording.md')).toContain(setting);
  });

  it.each(DOCUMENTS)('%s: files, links and scripts', (name) => {
    const text = read(name);
    const here = path.dirname(path.join(ROOT, name));
    for (const [, target] of text.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g))
      expect(existsSync(path.join(here, target!)), `${name}: ${target}`).toBe(true);
    for (const [, file] of text.matchAll(
      /`((?:src|docs|samples|schemas|test|native|bench|scripts|bin)\/[\w./-]+)`/g,
    ))
      expect(existsSync(path.join(ROOT, file!)), `${name}: ${file}`).toBe(true);
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const [, script] of text.matchAll(/npm run ([\w:-]+)/g))
      expect(scripts[script!], `${name}: npm run ${script}`).toBeDefined();
  });
});

it('the README fits a page: 120 lines of 120 characters', () => {
  const lines = read('README.md').trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(120);
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
});

it('the report in the README is the report of its sample', () => {
  const [, shown] = /^```\n(HUNG[\s\S]*?)\n```$/m.exec(read('README.md')) ?? [];
  expect(shown).toBe(read('test/goldens/hang.inspect.txt').trimEnd());
});

/** Read by the tests. */
const INTERNAL = new Set([
  'NCCL_TRACE_KERNEL',
  'NCCL_TRACE_LONG',
  'NCCL_TRACE_MACHINE',
  'NCCL_TRACE_RUNNER',
  'NCCL_TRACE_SANITIZER',
]);

/** Names and times in the examples of `merge`, and those of samples/healthy. */
const OF_THE_SAMPLE = [
  ['--comm dp', '--comm world'],
  ['0x5cb6', '0x9edbe9bd18ad781d'],
  ['03:02:11,2s', '19:01:58,2s'],
  ['2026-03-01T03:02:11Z', '2026-11-21T19:01:58Z'],
  ['2026-03-01T03:05:00Z', '2026-11-21T19:02:00Z'],
  ['--from 90s', '--from 0.05s'],
] as const;

describe('the commands in documents run', () => {
  let folder: string;
  let remove: () => void;
  beforeEach(() => {
    ({ folder, remove } = temporaryFolder());
    symlinkSync(path.join(ROOT, 'samples'), path.join(folder, 'samples'));
  });
  afterEach(() => {
    remove();
  });

  /** In this process where no shell is needed. */
  async function run(script: string): Promise<{ status: number | null; output: string }> {
    const lines = script.trim().split('\n');
    if (!lines.every((line) => /^nccl-trace [\w ./:,+-]+$/.test(line))) return runInShell(script);
    let output = script;
    for (const line of lines) {
      const { code, out, err } = await runHere(folder, ...line.split(' ').slice(1).filter(Boolean));
      output += `\n${out}\n${err}`;
      if (code !== 0) return { status: code, output };
    }
    return { status: 0, output };
  }

  /** With our program under its name, and without what is not ours. Pipes that close early are no failure. */
  function runInShell(script: string): { status: number | null; output: string } {
    const functions = [
      `nccl-trace() { "${process.execPath}" "${PROGRAM}" "$@"; }`,
      'npx() { "$@"; }',
      'npm() { :; }',
      'jq() { cat >/dev/null; }',
    ];
    const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', `${functions.join('\n')}\n${script}`], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, output: `${script}\n${stdout}\n${stderr}` };
  }

  it.each(
    DOCUMENTS.flatMap((name) =>
      [...read(name).matchAll(/^```sh run\n([\s\S]*?)^```$/gm)].map(([, script]) => [name, script!] as const),
    ),
  )('%s: %s', async (_, script) => {
    const { status, output } = await run(script);
    expect({ status, output }).toEqual({ status: 0, output });
  });

  /** By the commands whose help has them: some have the same. */
  const examples = new Map<string, string>();
  for (const command of ['', ...COMMANDS.filter((name) => name !== 'demo')]) {
    const lines = help(command)
      .split('\n')
      .filter((line) => line.startsWith('  $ '))
      .map((line) => line.slice(4).split(/ {2,}/)[0]!)
      .filter((line) => !line.includes('nccl-trace demo'));
    const script = lines.join('\n');
    examples.set(script, `${examples.has(script) ? `${examples.get(script)!}, ` : ''}"${command}"`);
  }

  it.each([...examples].map(([script, commands]) => [commands, script] as const))(
    'the examples in the help of %s',
    async (_, script) => {
      // The names that examples use.
      for (const name of ['nccl-trace', 'DIR', 'RUN', 'before', 'after']) {
        mkdirSync(path.join(folder, name));
        for (const rank of [0, 1])
          copyFileSync(
            path.join(ROOT, `samples/healthy/rank0000${rank}.bin`),
            path.join(folder, name, `rank0000${rank}.bin`),
          );
      }
      copyFileSync(path.join(ROOT, 'samples/healthy/rank00003.bin'), path.join(folder, 'rank00003.bin'));
      for (const trace of ['trace.pftrace', 'run.pftrace']) writeFileSync(path.join(folder, trace), '\n\0');
      expect(script).not.toBe('');
      for (const example of script.split('\n')) {
        if (example.startsWith('nccl-trace merge '))
          for (const name of readdirSync(folder))
            if (/^(run|nccl)\./.test(name)) rmSync(path.join(folder, name));
        const quick = example.replace(/^nccl-trace open .*/, '$& --timeout 0.001');
        const here = OF_THE_SAMPLE.reduce((output, [theirs, ours]) => output.replaceAll(theirs, ours), quick);
        const { status, output } = await run(here);
        expect({ status, output }).toEqual({ status: 0, output });
      }
    },
  );
});

it('docs/verdicts.md: each rule is in the file that its row names', () => {
  const files = [...read('docs/verdicts.md').matchAll(/^\| `([\w/]+\.ts)` \|/gm)].map(([, file]) => file!);
  expect(files.length).toBeGreaterThan(20);
  const isThere = (file: string): boolean =>
    existsSync(path.join(ROOT, 'src', file.includes('/') ? file : `verdict/${file}`));
  expect(files.filter((file) => !isThere(file))).toEqual([]);
});
