/**
 * A small file that unpacks to millions of starts: each is nearly as the one before, so a chunk of 1 MiB takes a page. All checks hold. For what
 * a file may cost.
 */

import { closeSync, openSync, writeSync } from 'node:fs';
import * as format from '../../../src/rankfile/format/constants.js';
import { ChunkFile, DrainedRing } from '../rank_files/large_stream_file.js';
import { RankFileBuilder } from '../rank_files/rank_file_builder.js';

const { Kind } = format;
const SLOTS = format.MAX_CHUNK_RAW_BYTES / format.SLOT_BYTES;

interface Start {
  readonly kind: number;
  readonly ring: 'host' | 'ops' | 'steps';
  /** Words 1 and 2 of the first slot as halves, and all words of the others, of start `i`. */
  readonly words: (i: number, tag: number) => readonly (readonly number[])[];
}

const NAMES = [1 | (2 << 16), 3 | (4 << 16)];

export const STARTS = {
  collectives: {
    kind: Kind.StartColl,
    ring: 'host',
    words: (i) => [[0, 0, 0, 0], [i, 0, 1 << 20, 0, ...NAMES], [0, 0, 0, i, 1, 0], []],
  },
  sends: {
    kind: Kind.StartP2p,
    ring: 'host',
    words: (i) => [
      [0, 0, 0, 0],
      [0, 0, 1 << 20, 0, NAMES[0]!, 1],
      [0, 0, i % 1000, 0],
    ],
  },
  calls: { kind: Kind.StartCollApi, ring: 'host', words: (i) => [[0, 0, 0, NAMES[0]!], [i, 0], []] },
  groups: { kind: Kind.StartGroupApi, ring: 'host', words: () => [[0, 0, 0, 0]] },
  operations: {
    kind: Kind.StartProxyOp,
    ring: 'ops',
    words: (i) => [
      [0, 0, 0, i],
      [0, 8, 4096, 1000, 1 << 8, 0],
    ],
  },
  blocks: { kind: Kind.StartKernelCh, ring: 'ops', words: (i) => [[0, 0, 0, i & 255], []] },
  steps: { kind: Kind.StartProxyStep, ring: 'steps', words: (i, tag) => [[2, tag, 0, i]] },
} as const satisfies Record<string, Start>;

/** Returns the number of starts. `bytes`: of the file, mostly behind the last chunk. */
export function writePackedStarts(
  path: string,
  name: keyof typeof STARTS,
  { chunks, bytes, rank = 0 }: { readonly chunks: number; readonly bytes: number; readonly rank?: number },
): number {
  const { kind, ring: ringClass, words }: Start = STARTS[name];
  const builder = new RankFileBuilder({
    mode: 'stream',
    rank,
    worldSize: 2,
    life: 'closed',
    runId: 'packed',
  });
  builder.communicator({ name: 'dp', commId: 7n, rank, nRanks: 2 });
  for (const text of ['AllReduce', 'ncclFloat32', 'RING', 'SIMPLE']) builder.string(text);
  builder.ring(ringClass, 64, { tid: 1, threadName: ringClass });
  builder.heartbeat(1e11);
  const head = builder.build();
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, head);
    writeSync(file, new Uint8Array(1), 0, 1, bytes - 1);
    const ring = new DrainedRing(0, new ChunkFile(file, head.length, 'zstdPlanes'), builder);
    let starts = 0;
    for (; ring.position < chunks * SLOTS; starts++) {
      const [first, ...more] = words(starts, Number(builder.tag >> 32n));
      ring.add(kind, 100 * starts, first!, ...more);
    }
    ring.drain();
    return starts;
  } finally {
    closeSync(file);
  }
}
