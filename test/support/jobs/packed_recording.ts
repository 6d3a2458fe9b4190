/** Recordings of test/fixtures, as scripts/pack-recording.mjs packs them: rank files without their empty blocks. */

import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';

const BLOCK = 4096;
const ROOT = fileURLToPath(new URL('../../fixtures', import.meta.url));

/** `name`: `real/slow`, say. Writes the rank files into `folder`/`name`, sparse, and returns that folder. */
export function unpackRecording(name: string, folder: string): string {
  const bytes = brotliDecompressSync(readFileSync(join(ROOT, `${name}.br`)));
  const end = bytes.indexOf(0x0a);
  const files = JSON.parse(bytes.toString('utf8', 0, end)) as {
    name: string;
    bytes: number;
    blocks: number[];
  }[];
  const output = join(folder, name);
  let at = end + 1;
  for (const file of files) {
    const path = join(output, file.name);
    mkdirSync(dirname(path), { recursive: true });
    const fd = openSync(path, 'w');
    for (const block of file.blocks) {
      const length = Math.min(BLOCK, file.bytes - block * BLOCK);
      writeSync(fd, bytes, at, length, block * BLOCK);
      at += length;
    }
    ftruncateSync(fd, file.bytes);
    closeSync(fd);
  }
  return output;
}
