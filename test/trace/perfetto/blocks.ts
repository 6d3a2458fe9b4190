/** What the tests of this folder share: a block written in one go, and a whole small trace. */

import type { BlockCounts } from '../../../src/kernel/host/drawn_rows.js';
import { traceNsFromClockMap } from '../../../src/base/time.js';
import { BlockWriter, type BlockOptions } from '../../../src/trace/perfetto/block_writer.js';
import { prologue } from '../../../src/trace/perfetto/prologue.js';

export const T0 = 1_790_000_000_000_000_000n;

export const ns = traceNsFromClockMap;

export const rank = (pid: number) => ({ pid: 1_000_000 + pid, name: `rank ${pid}`, orderRank: pid });

export interface Block {
  readonly bytes: Uint8Array;
  readonly chunks: readonly Uint8Array[];
  readonly counts: BlockCounts;
}

/** The block that `write` makes; by default of rank 0 alone. */
export function block(write: (sink: BlockWriter) => void, options: Partial<BlockOptions> = {}): Block {
  const chunks: Uint8Array[] = [];
  const sink = new BlockWriter({
    ...{ blockIndex: 0, blockCount: 1, process: rank(0), traceStart: T0 },
    ...options,
    output: (chunk) => chunks.push(chunk.slice()),
  });
  write(sink);
  sink.close();
  return { bytes: Buffer.concat(chunks), chunks, counts: sink.counts() };
}

export const opening = (): Uint8Array =>
  prologue({ traceStart: T0, uuid: { high: 1n, low: 2n }, attributes: [['ranks', 1]] });

/** A trace of these blocks. */
export const trace = (...blocks: readonly Block[]): Uint8Array =>
  Buffer.concat([opening(), ...blocks.map(({ bytes }) => bytes)]);
