// What several benchmarks need: a recording of the loopback by the real plugin, and code of the tests, which is TypeScript.

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Records into `folder`, and returns the rank files. `args`: options of the loopback. `settings`: NCCL_TRACE_*. */
export function record(folder, args, settings) {
  execFileSync(path.join(root, 'build/nccl-trace-loopback'), [...args.split(' '), '--quiet'], {
    env: {
      PATH: process.env.PATH,
      NCCL_PROFILER_PLUGIN: path.join(root, 'build/libnccl-profiler-trace.so'),
      NCCL_TRACE_DIR: folder,
      NCCL_TRACE_RING_DIR: 'none',
      ...settings,
    },
    stdio: 'inherit',
  });
  return readdirSync(folder).map((name) => path.join(folder, name));
}

/** Bundles a module below the root and imports it. The bundle lies beside node_modules, where its packages are found. */
export async function importTypeScript(source) {
  const outfile = path.join(root, `build/bench-${path.basename(source, '.ts')}.mjs`);
  const entryPoints = [path.join(root, source)];
  const options = { bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' };
  await build({ entryPoints, outfile, ...options });
  return import(pathToFileURL(outfile).href);
}
