// Fuzzing. `npm run fuzz -- --seconds 60 [--seed S] [--merges | --repeats] [--once]` forges numbers of the samples (test/fuzz/fuzz.ts);
// `npm run fuzz -- --native --seconds 60` builds the addon's loops with clang, AddressSanitizer and UBSan, and runs libFuzzer
// on them (native/fuzz), with a corpus made from the samples under build/fuzz.

import { Buffer } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const work = path.join(root, 'build/fuzz');
mkdirSync(work, { recursive: true });
const args = process.argv.slice(2);
if (args.includes('--native')) fuzzNative(args[args.indexOf('--seconds') + 1] ?? '60');
else await fuzzValues();

async function fuzzValues() {
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
    external: ['piscina', '@bokuweb/zstd-wasm'],
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
  });
  const { main } = await import(pathToFileURL(outfile).href);
  await main(root, args);
}

function fuzzNative(seconds) {
  const program = path.join(work, 'decoder_fuzz');
  const sources = ['native/fuzz/decoder_fuzz.cc', 'native/addon/slots.cc', 'native/addon/records.cc'];
  const flags = ['-std=c++17', '-O2', '-g', '-fno-sanitize-recover=all', '-Inative'];
  const sanitizers = '-fsanitize=fuzzer,address,undefined';
  run(process.env.CLANGXX ?? 'clang++', [...flags, sanitizers, ...sources, '-o', program]);
  const corpus = path.join(work, 'corpus');
  mkdirSync(corpus, { recursive: true });
  seed(corpus);
  // Wall time: an input takes less than a millisecond, but a busy machine may stop the program for seconds.
  const patience = '-timeout=20';
  const limits = [`-max_total_time=${seconds}`, '-max_len=1024', patience, '-rss_limit_mb=512'];
  run(program, [corpus, ...limits, `-artifact_prefix=${work}/`, '-print_final_stats=1']);
}

function run(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (error?.code === 'ENOENT') console.error(`${program} is missing: install clang, or name it in CLANGXX`);
  if (status !== 0) process.exit(1);
}

/** A file per area of a few samples: the target's plan of 24 bytes (decoder_fuzz.cc), then slots. */
function seed(corpus) {
  for (const sample of readdirSync(path.join(root, 'samples'))) {
    const file = readFileSync(path.join(root, 'samples', sample, 'rank00000.bin'));
    const directory = Number(file.readBigUInt64LE(32));
    for (let area = 0; area < file.readUInt32LE(28); area++) {
      const entry = directory + area * 64;
      const plan = Buffer.alloc(24);
      file.copy(
        plan,
        0,
        Number(file.readBigUInt64LE(entry + 8)),
        Number(file.readBigUInt64LE(entry + 8)) + 8,
      );
      file.copy(plan, 8, 104, 112);
      plan.set([5, 255, area, 0], 16);
      const slots = Number(file.readBigUInt64LE(entry + 24));
      const bytes = file.subarray(slots, slots + 31 * 32);
      if (bytes.some((byte) => byte !== 0))
        writeFileSync(path.join(corpus, `${sample}-${area}`), Buffer.concat([plan, bytes]));
    }
  }
}
