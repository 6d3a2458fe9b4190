/**
 * Generates src/trace/perfetto/generated/protos.{js,d.ts} from schemas/perfetto/*.proto. The result is committed, so that
 * installing needs no generator; test/trace/perfetto/generated.check.test.ts fails when the two have drifted apart.
 *
 *   node scripts/generate-protos.mjs [directory]
 *
 * Only encode and decode are generated. The converters are left out on purpose: `fromObject` takes a bigint while
 * `encode` turns one into 0, so the one door for 64-bit values is toLong (src/trace/perfetto/long.ts).
 */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import pbjs from 'protobufjs-cli/pbjs.js';
import pbts from 'protobufjs-cli/pbts.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const schemas = join(root, 'schemas', 'perfetto');
const output = process.argv[2] ?? join(root, 'src', 'trace', 'perfetto', 'generated');
const banner = '// Generated from schemas/perfetto by scripts/generate-protos.mjs. Do not edit.\n\n';

const generate = (tool, args) =>
  new Promise((resolve, reject) => {
    tool.main(args, (error, text) => (error ? reject(error) : resolve(text)));
  });

const module = (...more) =>
  generate(pbjs, [
    ...['--target', 'static-module', '--wrap', 'esm', '--root', 'nccl-trace', '--force-long'],
    ...['--no-create', '--no-verify', '--no-convert', '--no-delimited', '--no-typeurl', '--no-service'],
    ...more,
    ...['--path', schemas, join(schemas, 'trace.proto')],
  ]);

/** The types are read from the comments of a commented module, which nobody else needs. */
async function types() {
  const commented = join(output, 'commented.js');
  writeFileSync(commented, await module());
  try {
    return await generate(pbts, ['--no-comments', commented]);
  } finally {
    rmSync(commented);
  }
}

mkdirSync(output, { recursive: true });
writeFileSync(join(output, 'protos.js'), banner + (await module('--no-comments')));
// protobufjs's own structural Long spares us a dependency on the package `long` and its two sets of types.
const long = /^import Long = require\("long"\);$/m;
const text = await types();
if (!long.test(text)) throw new Error('pbts no longer imports Long as expected');
writeFileSync(join(output, 'protos.d.ts'), banner + text.replace(long, 'import { Long } from "protobufjs";'));
if (!readFileSync(join(output, 'protos.js'), 'utf8').includes('protobufjs/minimal.js')) {
  throw new Error('pbjs no longer imports protobufjs/minimal.js as expected');
}
