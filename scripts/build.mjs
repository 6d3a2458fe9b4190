// Builds everything: dist/ from src/ with esbuild and the compiler of AssemblyScript, and build/ from native/ with the C++ compiler, where there is one.
//
//   node scripts/build.mjs                      all of it, only what has changed
//   node scripts/build.mjs --sanitize=thread    the native part again, into build/thread/ (address, undefined)
//   node scripts/build.mjs --machine=aarch64    the native part for another machine, into build/aarch64/
//   node scripts/build.mjs --native             the native part alone
//
// npm runs it on install (`prepare`), before it packs (`prepack`), before benchmarks and on `npm run build`. An install
// makes what reading and merging need: dist/ and the addon, in seconds. The rest is made when it is needed first
// (scripts/ensure_native.mjs), or here.
//
// How strict it is depends on the npm script. An error of esbuild or of the kernel's compiler always fails: without dist/ nothing works. (Types are checked by
// `npm run check`.) A C++ error fails too, but not an install, which is complete without the addon; it says so instead.

import { Buffer } from 'node:buffer';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleCommand, transpileModules } from './bundle.mjs';
import { ensureCodeCache } from './code_cache.mjs';
import { ensureNative } from './ensure_native.mjs';
import { KernelBuildError, buildKernel } from './kernel.mjs';
import { NativeBuildError } from './native_build.mjs';
import { ADDON, MACHINES, SANITIZERS, SHIPPED } from './native.mjs';
import { prebuild } from './prebuilt.mjs';
import { put } from './put.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const npmScript = process.env.npm_lifecycle_event ?? 'build';
const isInstall = npmScript === 'prepare';
/** From a git address npm installs what `prepare` leaves in a clone of its own, without the sources: nothing can be built later. */
const isGitInstall = isInstall && process.env._PACOTE_NO_PREPARE_ !== undefined;
const NOT_YET =
  'built: the command and its addon. Not built yet: the plugin and the loopback; ' +
  '"plugin-path" and "demo" build them when they need them, "npm run build" builds all';
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
const only = npmScript === 'prepack' || isGitInstall ? SHIPPED : isInstall ? [ADDON] : undefined;
try {
  const whyNot = await ensureNative({ root, what: 'compiling', sanitize, machine, warningsAreErrors, only });
  if (whyNot !== undefined) say(whyNot);
  else if (npmScript === 'prepack' || isGitInstall) await fillPackage();
  else if (isInstall && process.env.npm_command !== 'pack') say(NOT_YET);
} catch (error) {
  if (!(error instanceof NativeBuildError)) throw error;
  say(error.message);
  if (!isInstall) fail('the native part does not build; see above');
  say('the addon does not build (see above): merge and inspect work without it, more slowly');
}

async function buildTypeScript() {
  try {
    await bundleCommand(root);
    await writeManPage();
    await buildKernel(root, { debug: !isInstall });
    makeCodeCache();
    if (!isInstall) await transpileModules(root);
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') fail('the packages are not installed; run "npm install"');
    if (error instanceof KernelBuildError) fail(error.message);
    // esbuild has said why, and where.
    if (!Array.isArray(error.errors)) throw error;
    fail('the TypeScript part does not build; see above');
  }
}

/** The command works without it. An install may have little room, such as on a login node. */
function makeCodeCache() {
  try {
    ensureCodeCache(root);
  } catch (error) {
    if (!isInstall) throw error;
    say('no code cache could be made (see above): a command takes a little longer to start');
  }
}

/** An install from a git address is for this machine alone. */
async function fillPackage() {
  for (const { machine, whyNot, packs } of await prebuild(root, {
    others: !isGitInstall,
    warningsAreErrors,
  })) {
    if (isGitInstall && whyNot === undefined) continue; // an install is silent
    const raw = packs ? '' : ', without zstd: its stream mode does not compress';
    say(
      whyNot === undefined ? `in the package: ${machine}${raw}` : `not in the package: ${machine}: ${whyNot}`,
    );
  }
}

/** From the commands, as their help. */
async function writeManPage() {
  const { manPage } = await import('../dist/cli/main.js');
  put(path.join(root, 'man/nccl-trace.1'), Buffer.from(await manPage()));
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
