/** What README, docs and help show. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runHere } from './support/program/command_line.js';
import { PROGRAM } from './support/program/program.js';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const read = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');
const markdown = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join(folder, name));
export const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'src/README.md',
  ...markdown('docs'),
  ...markdown('schemas'),
];

export const COMMANDS = [
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
  'watch',
  'metrics',
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

export async function helpOf(command: string): Promise<string> {
  return (await runHere(ROOT, ...command.split(' ').filter(Boolean), '--help', '--all')).out;
}

export const help = (command: string): string => helps.get(command)!;

/** The scripts of a document that are said to run. */
export const scriptsIn = (name: string): string[] =>
  [...read(name).matchAll(/^```sh run\n([\s\S]*?)^```$/gm)].map(([, script]) => script!);

/** A script of a document, in `folder`: in this process where no shell is needed. */
export async function runScript(
  folder: string,
  script: string,
): Promise<{ status: number | null; output: string }> {
  const lines = script.trim().split('\n');
  // The files between the steps of a merge are for one build alone, and what runs here is another than the bundle.
  const isOfSteps = lines.some((line) => /^nccl-trace (scan|study|convert|join) /.test(line));
  if (isOfSteps || !lines.every((line) => /^nccl-trace [\w ./:,+-]+$/.test(line)))
    return runInShell(folder, script);
  let output = script;
  for (const line of lines) {
    const { code, out, err } = await runHere(folder, ...line.split(' ').slice(1).filter(Boolean));
    output += `\n${out}\n${err}`;
    if (code !== 0) return { status: code, output };
  }
  return { status: 0, output };
}

/** With our program under its name, and without what is not ours. Pipes that close early are no failure. */
function runInShell(folder: string, script: string): { status: number | null; output: string } {
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
