/** What README, docs and help say is there: commands, options, settings, files; and what they show runs. */

import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMANDS, DOCUMENTS, help, helpOf, read, ROOT, runScript, scriptsIn } from './documents.js';
import { RULES } from '../src/verdict/rules.js';
import { temporaryFolder } from './support/program/temporary_folder.js';

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
    // What a command that `watch` starts finds in its environment.
    const given = read('src/cli/incidents.ts');
    for (const [setting] of read(name).matchAll(/\bNCCL_TRACE_[A-Z_]+\b/g))
      expect(
        readers.includes(`"${setting}"`) || given.includes(`${setting}: `) || INTERNAL.has(setting),
        `${name}: ${setting}`,
      ).toBe(true);
  });

  it('and every setting that the plugin reads is in docs/recording.md', () => {
    const settings = [...read('native/plugin/process/settings.cc').matchAll(/"(NCCL_TRACE_[A-Z_]+)"/g)].map(
      ([, name]) => name!,
    );
    expect(settings.length).toBeGreaterThan(5);
    for (const setting of new Set(settings)) expect(read('docs/recording.md')).toContain(setting);
  });

  it('docs/verdict-lines.md explains every line that a verdict may have', () => {
    const inSources = readdirSync(path.join(ROOT, 'src/report'))
      .flatMap((file) => [...read(`src/report/${file}`).matchAll(/\blabelled\(\s*'([^']+)'/g)])
      .map(([, label]) => label!);
    const inGoldens = readdirSync(path.join(ROOT, 'test/goldens'))
      .filter((file) => file.endsWith('.inspect.txt'))
      .flatMap((file) => [
        ...read(`test/goldens/${file}`).matchAll(/^ {2}(?!ranks? [\d,-]+:)([a-z][a-z ?]*): /gm),
      ])
      .map(([, label]) => label!);
    const page = read('docs/verdict-lines.md');
    const labels = new Set([...inSources, ...inGoldens]);
    expect(labels.size).toBeGreaterThan(50);
    expect([...labels].filter((label) => !page.includes(`\`${label}\``))).toEqual([]);
  });

  it.each(DOCUMENTS)('%s: files, links and scripts', (name) => {
    const text = read(name);
    const here = path.dirname(path.join(ROOT, name));
    for (const [, target] of text.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g))
      expect(existsSync(path.join(here, target!)), `${name}: ${target}`).toBe(true);
    for (const [, file] of text.matchAll(
      /`((?:src|docs|samples|schemas|test|native|tools|bench|scripts|bin)\/[\w./-]+)`/g,
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

/** For tests. */
const INTERNAL = new Set([
  'NCCL_TRACE_KERNEL',
  'NCCL_TRACE_MACHINE',
  'NCCL_TRACE_RUNNER',
  'NCCL_TRACE_SANITIZER',
]);

it('docs/verdicts.md: each rule is in the file that its row names', () => {
  const files = [...read('docs/verdicts.md').matchAll(/^\| `([\w/]+\.ts)` \|/gm)].map(([, file]) => file!);
  expect(files.length).toBeGreaterThan(20);
  const isThere = (file: string): boolean =>
    existsSync(path.join(ROOT, 'src', file.includes('/') ? file : `verdict/${file}`));
  expect(files.filter((file) => !isThere(file))).toEqual([]);
});

describe('the commands of the README run', () => {
  let folder: string;
  let remove: () => void;
  beforeEach(() => {
    ({ folder, remove } = temporaryFolder());
    symlinkSync(path.join(ROOT, 'samples'), path.join(folder, 'samples'));
  });
  afterEach(() => {
    remove();
  });

  it.each(scriptsIn('README.md'))('%s', async (script) => {
    const { status, output } = await runScript(folder, script);
    expect({ status, output }).toEqual({ status: 0, output });
  });
});

it('docs/verdicts.md lists the rules of the verdict, in their order', () => {
  const listed = [...read('docs/verdicts.md').matchAll(/^\| `([a-z ]+)` \| `\w+\.ts` \|/gm)];
  const inCode = (name: string): string => name.replace(/ (.)/g, (_, first: string) => first.toUpperCase());
  expect(listed.map(([, name]) => inCode(name!))).toEqual(RULES.map(({ name }) => name));
});
