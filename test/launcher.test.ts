/** The committed launcher, on its own in an empty folder: it says what is missing, in one line, without a stack. */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LAUNCHER = 'bin/nccl-trace.js';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'a folder with spaces '));
  cpSync(path.join(ROOT, LAUNCHER), path.join(folder, LAUNCHER));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('without packages asks for npm install', () => {
  expect(launch()).toEqual({
    status: 2,
    stdout: '',
    stderr: `nccl-trace: its packages are not installed; run "npm install" in ${folder}\n`,
  });
});

it('without dist, as after npm install --ignore-scripts, asks for npm run build', () => {
  put('node_modules/piscina/package.json', '{ "main": "index.js" }');
  expect(launch()).toEqual({
    status: 2,
    stdout: '',
    stderr: `nccl-trace: not built yet; run "npm run build" in ${folder}\n`,
  });
});

it('hands over the arguments and takes back the exit code', () => {
  put('node_modules/piscina/package.json', '{ "main": "index.js" }');
  put('node_modules/piscina/index.js', '');
  put('dist/cli/main.js', 'export const main = async (args) => { console.log(args.join()); return 3; };');
  expect(launch('merge', '--strict')).toEqual({ status: 3, stdout: 'merge,--strict\n', stderr: '' });
});

it('asks for the same Node as package.json', () => {
  const { engines } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const [, major, minor] =
    /NEEDED_NODE = \[(\d+), (\d+)\]/.exec(readFileSync(path.join(ROOT, LAUNCHER), 'utf8')) ?? [];
  expect(engines.node).toBe(`>=${major}.${minor}`);
});

function put(file: string, text: string): void {
  mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
  writeFileSync(path.join(folder, file), text);
}

function launch(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(folder, LAUNCHER), ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}
