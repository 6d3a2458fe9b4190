#!/usr/bin/env node
// The command, committed so that it is there before anything is built: `npm install --ignore-scripts` links it
// as well, and then it has to say what is missing rather than fail with a stack. So nothing of ours is imported up here.

import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** `engines.node` in package.json says the same; npm only warns, and an old Node fails in obscure ways. */
const NEEDED_NODE = [20, 11];

/** Node 20.15 and 22.2 or newer have it. */
const WITHOUT_RESERVE = '--disable-wasm-trap-handler';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const missing = whatIsMissing();
if (missing === undefined && hasLittleRoom()) await startWithoutReserve();
else if (missing === undefined) {
  const { main } = await import('../dist/cli/main.js');
  process.exitCode = await main(process.argv.slice(2));
} else {
  process.stderr.write(`nccl-trace: ${missing}\n`);
  process.exitCode = 2;
}

/**
 * Node reserves 10 GiB of addresses for each memory of WebAssembly, so that no access needs a check. Each thread has two. Login nodes may limit
 * addresses (`ulimit -v`).
 */
function hasLittleRoom() {
  if (process.execArgv.includes(WITHOUT_RESERVE)) return false;
  if (!process.allowedNodeEnvironmentFlags.has(WITHOUT_RESERVE)) return false;
  try {
    const [, soft] = /^Max address space +(\S+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return Number(soft) < 20 * 2 ** 30 * availableParallelism();
  } catch {
    return false;
  }
}

/** The option counts only when Node starts. A terminal sends Ctrl-C to both processes. */
async function startWithoutReserve() {
  const { spawn } = await import('node:child_process');
  const args = [WITHOUT_RESERVE, ...process.execArgv, ...process.argv.slice(1)];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal !== null) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    }
    process.exitCode = code ?? 1;
  });
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
