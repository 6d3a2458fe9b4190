// Fuzzing. `npm run fuzz -- --seconds 60 [--seed S] [--merges | --repeats] [--once]` forges numbers of the samples (test/fuzz/fuzz.ts).

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const work = path.join(root, 'build/fuzz');
mkdirSync(work, { recursive: true });
const args = process.argv.slice(2);
const { build } = await import('esbuild');
const outfile = path.join(work, 'fuzz.mjs');
await build({
  absWorkingDir: root,
  entryPoints: ['test/fuzz/fuzz.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'error',
  external: ['piscina', '@bokuweb/zstd-wasm', 'node-sqlite3-wasm'],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
});
const { main } = await import(pathToFileURL(outfile).href);
await main(root, args);
