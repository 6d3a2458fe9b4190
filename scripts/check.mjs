// All checks of the code that do not run it, and of what is made of it: generated files, the package. All of them run even if one fails.
//
//   node scripts/check.mjs           look
//   node scripts/check.mjs --write   repair what a formatter or the linter can repair by itself

import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
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

const failed = [
  ...(write ? [] : [check('types', tool('typescript/bin/tsc', '--project', 'tsconfig.test.json'))]),
  ...(write ? [] : [check('types of the page', tool('typescript/bin/tsc', '--project', 'src/page/client'))]),
  ...(write ? [] : [check('types of the kernel', tool('typescript/bin/tsc', '--project', 'src/kernel'))]),
  ...(write ? [] : [check('kernel', [process.execPath, 'scripts/kernel.mjs'])]),
  check('lint', tool('eslint/bin/eslint.js', ...(write ? ['--fix'] : ['--max-warnings=0']), '.')),
  check('format', tool('prettier/bin/prettier.cjs', '--log-level=warn', write ? '--write' : '--check', '.')),
  check('format C++', clangFormat()),
  ...(write ? [] : [check('warnings C++', [process.execPath, 'scripts/build.mjs', '--native'])]),
  ...(write
    ? []
    : [
        check(
          'generated files and the package',
          tool('vitest/vitest.mjs', ...'run --project check --reporter verbose'.split(' ')),
        ),
      ]),
].filter((name) => name !== undefined);

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

/** @returns {string | undefined} the check's name if it failed */
function check(name, command) {
  if (command === undefined) return undefined;
  process.stderr.write(`${name}: `);
  const { status, stdout } = spawnSync(command[0], command.slice(1), {
    cwd: root,
    encoding: 'utf8',
    // The native build is as strict as in `npm run build`, however this script was started.
    env: { ...process.env, npm_lifecycle_event: 'build' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // What a test runner left out is said, with its reason.
  const skipped = stdout.match(/^.*↓.*\n/gm) ?? [];
  process.stderr.write(status === 0 ? `ok\n${skipped.join('')}` : `\n${stdout}`);
  return status === 0 ? undefined : name;
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
