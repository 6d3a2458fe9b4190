/**
 * One history of callbacks, stored in several ways: in rings that hold all of it, or in small rings that a recorder
 * drains into chunks. The reader's result must not depend on how it was stored.
 */

import { RankFileBuilder, type ChunkCodec, type RingBuilder } from '../rank_files/rank_file_builder.js';

export interface Storage {
  /** Slots per ring, 64 at least. A ring that is nearly full is always drained. */
  readonly capacity: number;
  /** In turn: after this many operations this ring is drained, except its newest `keep` slots. */
  readonly drains: readonly { readonly after: number; readonly ring: number; readonly keep: number }[];
  readonly codec: ChunkCodec;
  /** Each chunk begins this many slots before the end of the last one. */
  readonly overlap: number;
}

export const UNSPLIT: Storage = { capacity: 4096, drains: [], codec: 'raw', overlap: 0 };

/** `operations` collectives with their steps, folds and kernels, over three rings; `torn`: positions per ring. */
export function history(operations: number, storage: Storage, torn: readonly number[] = []): RankFileBuilder {
  const file = new RankFileBuilder({ mode: 'stream', rank: 0, worldSize: 2, life: 'closed' });
  const comm = file.communicator({ name: 'dp', commId: 7n, rank: 0, nRanks: 2 });
  const names = ['host', 'ops', 'steps'] as const;
  const rings = names.map((name, i) => file.ring(name, storage.capacity, { tid: i, foldCapacity: 4 }));
  const [host, ops, steps] = rings as [RingBuilder, RingBuilder, RingBuilder];
  const tearTo = [0, 0, 0];
  let next = 0;
  let until = storage.drains[0]?.after ?? Infinity;
  for (let i = 0; i < operations; i++) {
    operation(i, { comm, host, ops, steps });
    for (const [number, ring] of rings.entries()) {
      for (const position of torn)
        if (position >= tearTo[number]! && position < ring.head) ring.tear(position);
      tearTo[number] = ring.head;
    }
    if (storage.drains.length > 0)
      for (const ring of rings)
        if (ring.head - ring.drainedTo > storage.capacity - 24) drain(ring, 0, storage);
    if (i < until) continue;
    const turn = storage.drains[next++ % storage.drains.length]!;
    drain(rings[turn.ring]!, turn.keep, storage);
    until = i + storage.drains[next % storage.drains.length]!.after;
  }
  return file.heartbeat(operations * 1000);
}

/** All but the newest `keep` slots. */
function drain(ring: RingBuilder, keep: number, { capacity, overlap, codec }: Storage): void {
  const to = ring.head - keep;
  const from = Math.max(0, ring.head - capacity, ring.drainedTo - overlap);
  if (to > ring.drainedTo && from < to) ring.drain({ from, to, codec });
}

interface Parts {
  readonly comm: number;
  readonly host: RingBuilder;
  readonly ops: RingBuilder;
  readonly steps: RingBuilder;
}

function operation(i: number, { comm, host, ops, steps }: Parts): void {
  const t = 1000 * i;
  const work = host.startColl(t, { comm, seqNumber: i, func: i % 2 === 0 ? 'AllReduce' : 'AllGather' });
  const op = ops.startProxyOp(t + 10, { comm, parent: work, peer: 1, isSend: true, ordinal: i, nSteps: 2 });
  const kernel = ops.startKernelCh(t + 12, { comm, parent: work, channel: 0, pTimer: BigInt(t + 5) });
  host.stop(t + 20, work);
  for (let step = 0; step < 2; step++) {
    const at = t + 30 + 200 * step;
    const handle = steps.startProxyStep(at, { comm, parent: op, step });
    steps.state(at + 5, handle, 8).state(at + 10, handle, 20);
    if (i % 3 === 0) steps.fold(at + 30, handle, 20, at + 25, 1000);
    steps.state(at + 40, handle, 9, 4096).stop(at + 100, handle);
  }
  ops.state(t + 600, kernel, 22, t + 590).stop(t + 601, kernel);
  // One operation in seven never ends.
  if (i % 7 !== 6) ops.stop(t + 700, op);
}
