// Turns src/ into JavaScript with esbuild, which strips the types. `npm run check` checks them with `tsc`.
//
//   dist/page/      what runs in the browser, for the page of a report
//   dist/           the command in a few files. A start used to load 270 modules, a quarter of a second before any work.
//   build/modules/  file by file, for benchmarks and tests that reach into the built code
//
// What a command needs is loaded when it is asked for: each `import()` in src/ begins a chunk of its own.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { KERNEL_FILES } from './kernel.mjs';
import { put } from './put.mjs';

/** Read by their path, so their names stay: by bin/nccl-trace.js, and as the code of worker threads and of the process of a look. */
const ENTRIES = ['src/cli/main.ts', 'src/cli/look.ts', 'src/study/task.ts'];

/** Brings files of its own (a worker's code, WebAssembly) that it finds beside itself. DuckDB is there if the user installed it. */
const STAY_PACKAGES = ['piscina', '@bokuweb/zstd-wasm', 'node-sqlite3-wasm', '@duckdb/node-api'];

/** Packages written for `require` may call it while they are bundled. */
const BANNER = `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url);`;

/** Throws what esbuild throws; it has said why. */
export async function bundleCommand(root) {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    ...optionsIn(root),
    entryPoints: ENTRIES,
    outdir: path.join(root, 'dist'),
    bundle: true,
    splitting: true,
    external: STAY_PACKAGES,
    // As deep as the entries, so that a path relative to the code means the same in each.
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: BANNER },
    minifyWhitespace: true,
    write: false,
  });
  const page = [...(await bundlePage(root, build)), parquetIn(root)];
  // Entries last: a command that starts meanwhile finds all chunks of the old or of the new entry.
  const isEntry = ({ path: file }) => !file.includes(`${path.sep}chunks${path.sep}`);
  for (const file of [...page, ...outputFiles.filter((f) => !isEntry(f)), ...outputFiles.filter(isEntry)])
    put(file.path, file.contents);
  const made = [...page, ...outputFiles].map((file) => file.path);
  const kernel = KERNEL_FILES.map((name) => path.join(root, 'dist', name));
  removeAllBut(path.join(root, 'dist'), new Set([...made, ...kernel]));
}

/** The code of parquet-wasm is bundled. It is given its WebAssembly by src/export/parquet.ts. */
const parquetIn = (root) => ({
  path: path.join(root, 'dist/parquet.wasm'),
  contents: readFileSync(path.join(root, 'node_modules/parquet-wasm/esm/parquet_wasm_bg.wasm')),
});

/** What runs in the browser, for a report's page: one script and one style, which the page carries. */
async function bundlePage(root, build) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { client: 'src/page/client/client.ts' },
    outdir: path.join(root, 'dist/page'),
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    // Browsers of 2022 and newer.
    target: ['chrome105', 'firefox110', 'safari16'],
    charset: 'utf8',
    logLevel: 'warning',
    write: false,
  });
  return outputFiles;
}

export async function transpileModules(root) {
  const { build } = await import('esbuild');
  const sources = readdirSync(path.join(root, 'src'), { recursive: true }).filter((name) =>
    /^(?!page\/client\/|kernel\/(?!host\/|result_rows)).*(?<!\.d)\.[jt]s$/.test(name),
  );
  const { outputFiles } = await build({
    ...optionsIn(root),
    entryPoints: sources.map((name) => path.join('src', name)),
    outdir: path.join(root, 'build/modules'),
    write: false,
  });
  for (const file of outputFiles) put(file.path, file.contents);
  removeAllBut(path.join(root, 'build/modules'), new Set(outputFiles.map((file) => file.path)));
}

/** Names the build: the files between the steps of a merge are of one build (src/shards/build.ts). */
function buildOf(root) {
  const digest = createHash('sha256');
  for (const name of readdirSync(path.join(root, 'src'), { recursive: true }).sort())
    if (name.endsWith('.ts')) digest.update(readFileSync(path.join(root, 'src', name)));
  return digest.digest('hex').slice(0, 32);
}

function optionsIn(root) {
  return {
    define: { NCCL_TRACE_BUILD: JSON.stringify(buildOf(root)) },
    absWorkingDir: root,
    outbase: 'src',
    format: 'esm',
    platform: 'node',
    target: 'node20.11',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  };
}

/** What came of a source that is gone would still be found. */
function removeAllBut(folder, wanted) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (!entry.isDirectory()) {
      if (!wanted.has(file) && !file.endsWith('.tmp')) rmSync(file, { force: true });
    } else if ([...wanted].some((one) => one.startsWith(file + path.sep))) removeAllBut(file, wanted);
    else rmSync(file, { recursive: true, force: true });
  }
}
