// Builds everything: dist/ from src/ with esbuild, and build/ from native/ with the C++ compiler, where there is one.
//
//   node scripts/build.mjs                      all of it, only what has changed
//   node scripts/build.mjs --sanitize=thread    the native part again, into build/thread/ (address, undefined)
//   node scripts/build.mjs --machine=aarch64    the native part for another machine, into build/aarch64/
//   node scripts/build.mjs --native             the native part alone
//
// npm runs it on install (`prepare`), before tests (`pretest`) and on `npm run build`. How strict it is depends on
// who asks. What esbuild cannot read always fails: without dist/ nothing works. (Types are checked by `npm run check`.)
// A C++ error fails too, but not an install,
// which is complete for reading and merging without the native part; it says so instead.

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleCommand, transpileModules } from './bundle.mjs';
import { NativeBuildError, buildNative } from './native_build.mjs';
import { MACHINES, SANITIZERS } from './native.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const npmScript = process.env.npm_lifecycle_event ?? 'build';
const isInstall = npmScript === 'prepare';
/** An install, a test or a benchmark has to work with compilers we have never seen, and theirs may warn of more. */
const warningsAreErrors = !npmScript.startsWith('pre');

const { sanitize, machine, native } = parseArgs({
  options: {
    sanitize: { type: 'string' },
    machine: { type: 'string' },
    native: { type: 'boolean', default: false },
  },
}).values;
if (sanitize !== undefined && !Object.hasOwn(SANITIZERS, sanitize)) {
  fail(`--sanitize=${sanitize}: there are ${Object.keys(SANITIZERS).join(', ')}`);
}
if (machine !== undefined && !Object.hasOwn(MACHINES, machine)) {
  fail(`--machine=${machine}: there are ${Object.keys(MACHINES).join(', ')}`);
}
if (machine !== undefined && sanitize !== undefined) fail('--machine or --sanitize, not both');

if (sanitize === undefined && machine === undefined && !native) await buildTypeScript();
try {
  const whyNot = await buildNative({ root, sanitize, machine, warningsAreErrors });
  if (whyNot !== undefined) say(whyNot);
} catch (error) {
  if (!(error instanceof NativeBuildError)) throw error;
  say(error.message);
  if (!isInstall) fail('the native part does not build; see above');
  say('the native part does not build (see above), so there is no plugin and no demo; the rest is installed');
}

async function buildTypeScript() {
  try {
    await bundleCommand(root);
    if (!isInstall) await transpileModules(root);
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') fail('the packages are not installed; run "npm install"');
    // esbuild has said why, and where.
    if (!Array.isArray(error.errors)) throw error;
    fail('the TypeScript part does not build; see above');
  }
}

function say(words) {
  process.stderr.write(`${words}\n`);
}

function fail(words) {
  say(words);
  process.exit(1);
}
