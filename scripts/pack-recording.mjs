#!/usr/bin/env node
/**
 * Packs the rank files of a folder into one small file for the tests (test/support/jobs/packed_recording.ts): only the 4 KiB blocks that
 * are not zero, compressed. usage: pack-recording.mjs FOLDER OUTPUT.br
 */

import { Buffer } from 'node:buffer';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const BLOCK = 4096;
const ZERO = Buffer.alloc(BLOCK);
const [folder, output] = process.argv.slice(2);
if (!folder || !output) {
  process.stderr.write('usage: pack-recording.mjs FOLDER OUTPUT.br\n');
  process.exit(2);
}

const files = [];
const pieces = [];
for (const name of readdirSync(folder, { recursive: true }).sort()) {
  if (!statSync(join(folder, name)).isFile()) continue;
  const bytes = readFileSync(join(folder, name));
  const blocks = [];
  for (let at = 0; at < bytes.length; at += BLOCK) {
    const block = bytes.subarray(at, at + BLOCK);
    if (block.equals(ZERO.subarray(0, block.length))) continue;
    blocks.push(at / BLOCK);
    pieces.push(block);
  }
  files.push({ name, bytes: bytes.length, blocks });
}
const head = Buffer.from(`${JSON.stringify(files)}\n`);
const packed = brotliCompressSync(Buffer.concat([head, ...pieces]), {
  params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 },
});
writeFileSync(output, packed);
process.stdout.write(`${output}: ${files.length} files, ${packed.length} bytes\n`);
