// Compiles src/kernel, which is AssemblyScript, to WebAssembly. An error or a warning of the compiler fails.
//
//   dist/kernel.wasm         what the command runs
//   dist/kernel.debug.wasm   for tests: with all assertions
//   dist/*.wasm.map          places in their code → lines of src/kernel, for stacks
//
//   node scripts/kernel.mjs  both, for scripts/check.mjs

import { Buffer } from 'node:buffer';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { put } from './put.mjs';

const require = createRequire(import.meta.url);

/** `--debug` keeps the names of functions, for stacks. The code is the same with and without. */
const COMMON = [
  'src/kernel/index.ts',
  '--runtime',
  'stub',
  '--importMemory',
  '--maximumMemory',
  '65535',
  '--debug',
  '--sourceMap',
];
/** `--converge` took half as long again, and made the code 0.3 % smaller. */
const RELEASE = { name: 'kernel.wasm', args: [...COMMON, '-O3', '--noAssert'] };
/** `-O3` would inline more functions, which are then missing in stacks. `-O1` inlines none, and tests of the kernel took a third longer. */
const DEBUG = { name: 'kernel.debug.wasm', args: [...COMMON, '-O2'] };

/** Of its sources. An older checkout has only the first one. */
const FOLDERS = ['src/kernel', 'src/kernel/draw'];

/** What `buildKernel` makes in dist/. */
export const KERNEL_FILES = [RELEASE, DEBUG].flatMap(({ name }) => [name, `${name}.map`]);

export class KernelBuildError extends Error {}

/** Only what changed, and only the kernel of the command unless `debug`. `root` may be another checkout; the compiler is ours. */
export async function buildKernel(root, { debug = true } = {}) {
  await Promise.all((debug ? [RELEASE, DEBUG] : [RELEASE]).map((kernel) => build(root, kernel)));
}

async function build(root, { name, args }) {
  const file = path.join(root, 'dist', name);
  const origin = originOf(root, args);
  if (existsSync(file) && readFileSync(file).subarray(-origin.length).equals(origin)) return;
  const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-kernel-'));
  try {
    const draft = path.join(folder, name);
    await compile(root, [...args, '--outFile', draft]);
    // The map first, so that whoever finds the code finds its map. It would also repeat all sources.
    const map = { ...JSON.parse(readFileSync(`${draft}.map`, 'utf8')), sourcesContent: undefined };
    put(`${file}.map`, Buffer.from(JSON.stringify(map)));
    put(file, Buffer.concat([readFileSync(draft), customSection('origin', origin)]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function compile(root, args) {
  const command = [require.resolve('assemblyscript/bin/asc.js'), '--noColors', ...args];
  const failed = (text) => new KernelBuildError(`the kernel does not compile:\n${text.trim()}`);
  let said;
  try {
    said = await promisify(execFile)(process.execPath, command, { cwd: root });
  } catch (error) {
    if (error.stderr === undefined) throw error;
    throw failed(error.stderr || error.message);
  }
  if (said.stderr !== '') throw failed(said.stderr);
}

/** A hash of all that the code depends on: sources, compiler, arguments. */
function originOf(root, args) {
  const { version } = require('assemblyscript/package.json');
  const hash = createHash('sha256').update(JSON.stringify([version, args]));
  for (const folder of FOLDERS.map((folder) => path.join(root, folder)).filter(existsSync)) {
    for (const name of readdirSync(folder).sort()) {
      if (name.endsWith('.ts'))
        hash.update(JSON.stringify([name, readFileSync(path.join(folder, name), 'utf8')]));
    }
  }
  return hash.digest();
}

/** WebAssembly's place for what others attach to a module. Name and content are short, so each length is one byte. */
function customSection(name, content) {
  const body = Buffer.concat([Buffer.from([name.length]), Buffer.from(name), content]);
  return Buffer.concat([Buffer.from([0, body.length]), body]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await buildKernel(fileURLToPath(new URL('..', import.meta.url)));
  } catch (error) {
    if (!(error instanceof KernelBuildError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
