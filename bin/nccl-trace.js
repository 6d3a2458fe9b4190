#!/usr/bin/env node
// The command, committed so that it is there before anything is built: `npm install --ignore-scripts` links it
// as well, and then it has to say what is missing rather than fail with a stack. So nothing of ours is imported up here.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

/** `engines.node` in package.json says the same; npm only warns, and an old Node fails in obscure ways. */
const NEEDED_NODE = [20, 11];

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const missing = whatIsMissing();
if (missing === undefined) {
  compileLess();
  const { main } = await import('../dist/cli/main.js');
  process.exitCode = await main(process.argv.slice(2));
} else {
  process.stderr.write(`nccl-trace: ${missing}\n`);
  process.exitCode = 2;
}

/**
 * V8 optimizes what it believes to be hot, and most of what a command runs has done its work before that pays: a quarter of the CPU time of
 * `inspect` were V8's compiler threads. So code has to be eight times as hot.
 */
function compileLess() {
  const [major] = process.versions.node.split('.').map(Number);
  setFlagsFromString(major < 22 ? '--interrupt-budget=540672' : '--invocation-count-for-turbofan=24000');
}

function whatIsMissing() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor < NEEDED_NODE[1])) {
    return `needs Node.js ${NEEDED_NODE.join('.')} or newer, and this is ${process.versions.node}`;
  }
  const notInstalled = `its packages are not installed; run "npm install" in ${root}`;
  if (!existsSync(path.join(root, 'dist/cli/main.js'))) {
    const hasPackages = existsSync(path.join(root, 'node_modules'));
    return hasPackages ? `not built yet; run "npm run build" in ${root}` : notInstalled;
  }
  if (!canFind('piscina')) return notInstalled;
  return undefined;
}

function canFind(name) {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
