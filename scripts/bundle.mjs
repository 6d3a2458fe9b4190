// Turns src/ into JavaScript with esbuild, which strips the types. `npm run check` checks them with `tsc`.
//
//   dist/page/      what runs in the browser, for the page of a report
//   dist/bundle/    the command in one file, and its code cache (scripts/code_cache.mjs). A start used to load 270 modules.
//                   Beside it large packages that few commands need
//   dist/cli/, dist/study/   what is started by name, and src/cli/load.ts, which runs the bundle for it
//   build/modules/  file by file, for benchmarks and tests that reach into the built code
//
// The bundle is a script and not a module, because Node takes a code cache for scripts only. What a command needs runs when it is asked
// for: with the first `import()` of it in src/.

import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { cacheOf } from './code_cache.mjs';
import { KERNEL_FILES } from './kernel.mjs';
import { put } from './put.mjs';

/** Sources that are started by their name: by bin/nccl-trace.js, as the process of a look, as the code of worker threads. With their exports. */
const ENTRIES = { 'cli/main.js': ['main', 'manPage'], 'cli/look.js': [], 'study/task.js': ['default'] };

/** Brings files of its own (a worker's code, WebAssembly) that it finds beside itself. DuckDB is there if the user installed it. */
const STAY_PACKAGES = ['piscina', '@bokuweb/zstd-wasm', 'node-sqlite3-wasm', '@duckdb/node-api'];

/** Sources that only pass on large packages. Each is a bundle of its own, which the command's bundle loads when a command needs it. */
const APART = ['export/arrow', 'live/opentelemetry'];

/** Throws what esbuild throws; it has said why. */
export async function bundleCommand(root) {
  const { build } = await import('esbuild');
  const apart = await bundleApart(root, build);
  const { outputFiles } = await build({
    ...optionsIn(root),
    stdin: { contents: bundleOf(Object.keys(ENTRIES)), resolveDir: root, sourcefile: 'program' },
    outdir: path.join(root, 'dist'),
    // As deep as the sources, so that a path relative to the code means the same in each.
    entryNames: 'bundle/program-[hash]',
    bundle: true,
    format: 'cjs',
    define: { ...optionsIn(root).define, 'import.meta.url': 'bundleUrl' },
    external: STAY_PACKAGES,
    plugins: [takenFrom(apart)],
    // By `require`: see importModule in src/cli/native_files.ts.
    supported: { 'dynamic-import': false },
    banner: {
      js: '(function (require, module, bundleUrl, importModule) {"use strict";const exports = module.exports;',
    },
    footer: { js: '})' },
    minifyWhitespace: true,
    write: false,
  });
  const bundle = outputFiles.find((file) => file.path.endsWith('.js')).path;
  const starts = await startsOf(root, build, bundle);
  const others = [...(await bundlePage(root, build)), parquetIn(root), ...apart];
  // What starts the bundle last: a command that starts meanwhile finds all of the old or of the new one.
  for (const file of [...others, ...outputFiles, ...starts]) put(file.path, file.contents);
  const made = [...others, ...outputFiles, ...starts].map((file) => file.path);
  const kernel = KERNEL_FILES.map((name) => path.join(root, 'dist', name));
  removeAllBut(path.join(root, 'dist'), new Set([...made, ...kernel, cacheOf(bundle)]));
}

/** CommonJS, because the command's bundle is a script. The names have hashes, so that an old bundle does not load new code. */
async function bundleApart(root, build) {
  const { outputFiles } = await build({
    ...optionsIn(root),
    entryPoints: APART.map((source) => `src/${source}.ts`),
    outdir: path.join(root, 'dist/bundle'),
    entryNames: '[name]-[hash]',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    // Where parquet-wasm would look for its WebAssembly, which it is given.
    define: { 'import.meta.url': '__filename' },
    minifyWhitespace: true,
    sourcemap: false,
    write: false,
  });
  return outputFiles;
}

const takenFrom = (apart) => ({
  name: 'apart',
  setup({ onResolve }) {
    for (const source of APART) {
      const name = path.basename(source);
      const bundle = apart.find((file) => path.basename(file.path).startsWith(`${name}-`));
      const from = { path: `./${path.basename(bundle.path)}`, external: true };
      onResolve({ filter: new RegExp(`^\\./${name}\\.js$`) }, () => from);
    }
  },
});

const bundleOf = (names) =>
  names.map((name) => `exports['${name}'] = () => import('./src/${name}');`).join('\n');

/** src/cli/load.ts, and a file for each entry that asks it for the entry's exports. */
async function startsOf(root, build, bundle) {
  const { outputFiles } = await build({
    ...optionsIn(root),
    entryPoints: ['src/cli/load.ts'],
    define: { NCCL_TRACE_BUNDLE: JSON.stringify(`../bundle/${path.basename(bundle)}`) },
    outdir: path.join(root, 'dist'),
    write: false,
  });
  const entries = Object.entries(ENTRIES).map(([name, exports]) => ({
    path: path.join(root, 'dist', name),
    contents: Buffer.from(`import { load } from '../cli/load.js';
const entry = await load('${name}');
${exports.map((one) => (one === 'default' ? 'export default entry.default;' : `export const ${one} = entry.${one};`)).join('\n')}
`),
  }));
  return [...outputFiles, ...entries];
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
