#!/usr/bin/env node
// The command, committed so that it is there before anything is built: `npm install --ignore-scripts` links it
// as well, and then it has to say what is missing rather than fail with a stack. So nothing of ours is imported up here.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** `engines.node` in package.json says the same; npm only warns, and an old Node fails in obscure ways. */
const NEEDED_NODE = [20, 11];

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const missing = whatIsMissing();
if (missing === undefined) {
  const { main } = await import('../dist/cli/main.js');
  process.exitCode = await main(process.argv.slice(2));
} else {
  process.stderr.write(`nccl-trace: ${missing}\n`);
  process.exitCode = 2;
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
