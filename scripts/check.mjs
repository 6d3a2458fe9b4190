// All checks of the code that do not run it, and of what is made of it: generated files, the package. All of them run even if one fails.
//
//   node scripts/check.mjs           look
//   node scripts/check.mjs --write   repair what a formatter or the linter can repair by itself

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const write = process.argv.includes('--write');
const require = createRequire(import.meta.url);

const cplusplus = ['native', 'tools']
  .flatMap((room) =>
    readdirSync(path.join(root, room), { recursive: true }).map((name) => path.join(room, name)),
  )
  .filter((name) => /\.(h|cc)$/.test(name))
  .sort();

const lint = tool('eslint/bin/eslint.js', ...(write ? ['--fix'] : ['--max-warnings=0']), '.');
const prettier = tool('prettier/bin/prettier.cjs', '--log-level=warn', write ? '--write' : '--check', '.');
const formats = [
  ['types and lint', lint],
  ['format', prettier],
  ['format C++', clangFormat()],
];
// Lists that run at once. Each check takes one core, but for the last two of the first list, which take all there are.
const lists = write
  ? [formats]
  : [
      [
        ['types of the kernel', tool('typescript/bin/tsc', '--project', 'src/kernel')],
        ['kernel', [process.execPath, 'scripts/kernel.mjs']],
        ['warnings C++', [process.execPath, 'scripts/build.mjs', '--native']],
        [
          'generated files and the package',
          tool('vitest/vitest.mjs', ...'run --project check --reporter verbose'.split(' ')),
        ],
      ],
      formats,
    ];
const failed = (await Promise.all(lists.map(inTurn))).flat();

process.stderr.write(
  `hand-written lines: ${['src', 'native', 'tools', 'test'].map((room) => `${room} ${linesOf(room)}`).join(', ')}\n`,
);

if (failed.length > 0) {
  process.stderr.write(
    `failed: ${failed.join(', ')}${write ? '' : ' ("npm run format" repairs formatting)'}\n`,
  );
  process.exitCode = 1;
}

/** @returns {number} lines of code of a room, with comments and without generated files */
function linesOf(room) {
  return readdirSync(path.join(root, room), { recursive: true })
    .filter((name) => /\.(ts|mjs|cc|h|py)$/.test(name) && !name.includes('generated'))
    .reduce((sum, name) => sum + readFileSync(path.join(root, room, name), 'utf8').split('\n').length - 1, 0);
}

/** @returns {Promise<string[]>} the names of the checks that failed */
async function inTurn(checks) {
  const failures = [];
  for (const [name, command] of checks) {
    if (command !== undefined && !(await passes(name, command))) failures.push(name);
  }
  return failures;
}

/** Runs a check and says how it ended. What a test runner left out is said, with its reason. */
async function passes(name, [program, ...args]) {
  const child = spawn(program, args, {
    cwd: root,
    // The native build is as strict as in `npm run build`, however this script was started.
    env: { ...process.env, npm_lifecycle_event: 'build' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  const skipped = out.match(/^.*↓.*\n/gm) ?? [];
  process.stderr.write(`${name}: ${status === 0 ? `ok\n${skipped.join('')}` : `failed\n${out}${err}`}`);
  return status === 0;
}

function tool(file, ...args) {
  const [name] = file.split('/');
  const folder = path.dirname(require.resolve(`${name}/package.json`));
  return [process.execPath, path.join(folder, file.slice(name.length + 1)), ...args];
}

/** It comes from the system, not from npm, so it may be missing. CI installs it. */
function clangFormat() {
  if (cplusplus.length === 0 || spawnSync('clang-format', ['--version']).status !== 0) {
    process.stderr.write('format C++: skipped, there is no clang-format here\n');
    return undefined;
  }
  // One complaint per file is enough to know which to format.
  return ['clang-format', ...(write ? ['-i'] : ['--dry-run', '--Werror', '--ferror-limit=1']), ...cplusplus];
}
