/** Assembles the trace: the prologue and the blocks of all files in order, compressed by its name. */

import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deliver, type Delivery } from '../output/deliver.js';
import { compressed, compressionOf } from './compression.js';

/** Joins prologue and blocks and moves the result to its place. Returns its size in bytes. */
export async function assemble(
  delivery: Delivery,
  folder: string,
  prologue: Uint8Array,
  blocks: readonly string[],
): Promise<number> {
  const first = join(folder, 'prologue');
  await writeFile(first, compressed(prologue, compressionOf(delivery.output.path)));
  return deliver(delivery, folder, joined([first, ...blocks]));
}

async function* joined(parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts)
    for await (const chunk of createReadStream(part, { highWaterMark: 1 << 20 })) yield chunk as Buffer;
}
