/** Assembles the trace: the prologue, the blocks of all files in order, the last packet. The end of the trace's name decides the compression. */

import { createReadStream } from 'node:fs';
import { deliver, type Delivery } from '../output/deliver.js';
import { compressed, compressionOf } from './compression.js';
import { lastPacket } from './perfetto/last_packet.js';

/** Joins all and moves the result to its place. `blocks`: compressed like the trace. `slices`: in all of it. Returns the size in bytes. */
export function assemble(
  delivery: Delivery,
  folder: string,
  prologue: Uint8Array,
  blocks: AsyncIterable<Uint8Array>,
  slices: number,
): Promise<number> {
  const compression = compressionOf(delivery.output.path);
  async function* all(): AsyncGenerator<Uint8Array> {
    yield compressed(prologue, compression);
    yield* blocks;
    yield compressed(lastPacket(slices), compression);
  }
  return deliver(delivery, folder, all());
}

export async function* contentOf(files: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const file of files)
    for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) yield chunk as Buffer;
}
