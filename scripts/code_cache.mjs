// V8's code cache of the command: what it compiles of dist/bundle/ while it looks at a sample and merges it. The next start takes it from
// there (src/cli/load.ts). It is good for this version of Node on this kind of machine; another one compiles as without it.
//
//   node scripts/code_cache.mjs    writes it anew. For the build: only if there is none.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { put } from './put.mjs';

export const cacheOf = (bundle) => `${bundle}.${process.version}-${process.arch}.cache`;

/** After the bundle and the kernel. In a process of its own, because settings of V8 are the process's. */
export function ensureCodeCache(root) {
  if (existsSync(cacheOf(bundleIn(root)))) return;
  const script = fileURLToPath(import.meta.url);
  execFileSync(process.execPath, [script, root], { stdio: ['ignore', 'ignore', 'inherit'] });
}

function bundleIn(root) {
  const folder = path.join(root, 'dist/bundle');
  return path.join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.js')),
  );
}

async function makeCodeCache(root) {
  const dist = pathToFileURL(path.join(root, 'dist/'));
  const { load, newCache, url } = await import(new URL('cli/load.js', dist).href);
  const { main } = await load('cli/main.js');
  const sample = path.join(root, 'samples/straggler');
  const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-cache-'));
  try {
    for (const args of [['inspect'], ['merge', '-qo', path.join(folder, 'a'), '--detail', 'step']]) {
      const status = await main([...args, sample]);
      if (status !== 0) throw new Error(`${args[0]} of ${sample} ended with ${status}`);
    }
    // Of the bundle that ran: another build may have put its own there meanwhile.
    put(cacheOf(fileURLToPath(url)), newCache());
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await makeCodeCache(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));
