/**
 * Writes a stream-mode file of any size, quickly: one communicator, and collectives of one channel with sends of many
 * steps. All records are in chunks and the rings are empty, as if everything had been drained. For tests of memory and
 * speed. Use RankFileBuilder for small files whose content matters.
 */

import { closeSync, openSync, writeSync } from 'node:fs';

import * as format from '../../../src/rankfile/format/constants.js';
import { metaHigh, metaLow, slotCheck, word3High } from '../../../src/rankfile/format/slot.js';
import { align, chunkBytes, type ChunkCodec } from './chunk_bytes.js';
import { RankFileBuilder } from './rank_file_builder.js';

const { Kind } = format;
const CHUNK_SLOTS = format.MAX_CHUNK_RAW_BYTES / format.SLOT_BYTES;
const STEPS_PER_OPERATION = 256;

/** Returns the number of records. `seconds`: the time from the first operation to the last; by default there are no pauses. */
export function writeLargeStreamFile(
  path: string,
  slots: number,
  codec: 'raw' | 'zstd',
  seconds?: number,
): number {
  const operations = slots / (5 * STEPS_PER_OPERATION);
  const every = seconds === undefined ? STEPS_PER_OPERATION * 1000 : Math.floor((seconds * 1e9) / operations);
  const builder = new RankFileBuilder({ mode: 'stream', rank: 0, worldSize: 2, life: 'closed' });
  builder.communicator({ name: 'dp', commId: 7n, rank: 0, nRanks: 2 });
  const strings = ['AllReduce', 'ncclFloat32', 'RING', 'SIMPLE'].map((text) => builder.string(text));
  for (const name of ['host', 'ops', 'steps'] as const) builder.ring(name, 64, { tid: 1, threadName: name });
  const file = openSync(path, 'wx', 0o600);
  try {
    if (seconds !== undefined) builder.heartbeat(seconds * 1e9);
    const head = builder.build();
    writeSync(file, head);
    const out = new ChunkFile(file, head.length, codec);
    const [host, ops, steps] = [0, 1, 2].map((ring) => new DrainedRing(ring, out, builder)) as [
      DrainedRing,
      DrainedRing,
      DrainedRing,
    ];
    let records = 0;
    for (let i = 0; steps.position < slots; i++)
      records += operation(i, i * every, strings, { host, ops, steps });
    for (const ring of [host, ops, steps]) ring.drain();
    return records;
  } finally {
    closeSync(file);
  }
}

type Handle = [low: number, high: number];

interface Rings {
  readonly host: DrainedRing;
  readonly ops: DrainedRing;
  readonly steps: DrainedRing;
}

function operation(i: number, at: number, strings: readonly number[], { host, ops, steps }: Rings): number {
  let tick = at;
  const [func = 0, datatype = 0, algo = 0, proto = 0] = strings;
  const names = [func | (datatype << 16), algo | (proto << 16)];
  const work = host.add(
    Kind.StartColl,
    tick,
    [0, 0, 0, 0],
    [i, 0, 1 << 20, 0, ...names],
    [0, 0, 0, i, 1, 0],
    [],
  );
  host.add(Kind.Stop, (tick += 50), [...work, 0, 0]);
  const flags = 1 << 8;
  const sizes = [i, STEPS_PER_OPERATION, 4096, 1000, flags, 0];
  const op = ops.add(Kind.StartProxyOp, (tick += 50), [...work, 0, 1], sizes);
  for (let step = 0; step < STEPS_PER_OPERATION; step++) {
    const handle = steps.add(Kind.StartProxyStep, (tick += 100), [...op, 0, step]);
    for (const state of [8, 20, 9])
      steps.add(Kind.State, (tick += 100), [...handle, state | (4096 << 16), 0]);
    steps.add(Kind.Stop, (tick += 200), [...handle, 0, 0]);
  }
  ops.add(Kind.Stop, tick + 100, [...op, 0, 0]);
  return 4 + 5 * STEPS_PER_OPERATION;
}

/** A ring whose every slot goes into a chunk. A 64-bit word is two halves, the low one first. */
export class DrainedRing {
  position = 0;
  private readonly words = new Uint32Array(CHUNK_SLOTS * 8);
  private used = 0;
  private readonly tagHigh: number;
  private readonly baseLow: number;
  private readonly baseHigh: number;

  constructor(
    private readonly number: number,
    private readonly out: ChunkFile,
    builder: RankFileBuilder,
  ) {
    this.tagHigh = Number(builder.tag >> 32n);
    this.baseLow = Number(BigInt.asUintN(32, builder.startTick));
    this.baseHigh = Number(builder.startTick >> 32n);
  }

  /** `first`: words 1 and 2 of the first slot; `more`: the words of each further one. Returns the handle. */
  add(kind: number, tick: number, first: readonly number[], ...more: readonly (readonly number[])[]): Handle {
    const start = this.position;
    const low = this.baseLow + tick;
    const at = this.used * 8;
    this.words[at] = low % 2 ** 32;
    this.words[at + 1] = this.baseHigh + Math.floor(low / 2 ** 32);
    this.slot(kind, 0, 1 + more.length, first, 2);
    for (let i = 0; i < more.length; i++) this.slot(kind, 1 + i, 1 + more.length, more[i]!, 0);
    return [(start % 2 ** 31) * 2, (this.tagHigh | (this.number << 9) | Math.floor(start / 2 ** 31)) >>> 0];
  }

  drain(): void {
    if (this.used === 0) return;
    const slots = new Uint8Array(this.words.buffer, 0, this.used * format.SLOT_BYTES);
    this.out.append(this.number, this.position - this.used, slots);
    this.used = 0;
  }

  /** Writes `words`, beginning with half `from`. The halves before it are already there. */
  private slot(kind: number, part: number, parts: number, words: readonly number[], from: number): void {
    const { words: w, position } = this;
    const at = this.used * 8;
    for (let i = from; i < 6; i++) w[at + i] = words[i - from] ?? 0;
    const low = metaLow(kind, part, parts, position % 0x10000);
    const high = metaHigh(position);
    w[at + 6] = low;
    w[at + 7] = word3High(
      slotCheck(w[at]!, w[at + 1]!, w[at + 2]!, w[at + 3]!, w[at + 4]!, w[at + 5]!, low, high),
      position,
    );
    this.position++;
    this.used++;
    if (this.used === CHUNK_SLOTS) this.drain();
  }
}

export class ChunkFile {
  private sequence = 0;

  constructor(
    private readonly file: number,
    private at: number,
    private readonly codec: ChunkCodec,
  ) {}

  append(ring: number, firstPosition: number, slots: Uint8Array): void {
    const chunk = chunkBytes({ ring, firstPosition, slots, codec: this.codec, sequence: this.sequence++ });
    writeSync(this.file, chunk, 0, chunk.length, this.at);
    this.at = align(this.at + chunk.length, format.CHUNK_ALIGNMENT);
  }
}
