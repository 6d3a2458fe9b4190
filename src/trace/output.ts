/** Assembles the trace: the prologue and the blocks of all files in order. The end of the trace's name decides the compression. */

import { createReadStream } from 'node:fs';
import { deliver, type Delivery } from '../output/deliver.js';
import { compressed, compressionOf } from './compression.js';

/** Joins prologue and blocks and moves the result to its place. `blocks`: compressed like the trace. Returns the size in bytes. */
export function assemble(
  delivery: Delivery,
  folder: string,
  prologue: Uint8Array,
  blocks: AsyncIterable<Uint8Array>,
): Promise<number> {
  async function* all(): AsyncGenerator<Uint8Array> {
    yield compressed(prologue, compressionOf(delivery.output.path));
    yield* blocks;
  }
  return deliver(delivery, folder, all());
}

export async function* contentOf(files: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const file of files)
    for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) yield chunk as Buffer;
}
