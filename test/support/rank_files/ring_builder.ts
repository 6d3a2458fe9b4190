/**
 * Rings for RankFileBuilder: one method per kind of record. A start returns the handle that NCCL would carry. All other
 * methods return the ring, so calls can be chained. Slots can be torn, and the head can be stale. `drain` copies the
 * current content of the ring into a chunk, as the recorder does in stream mode.
 */

import * as format from '../../../src/rankfile/format/constants.js';
import type { ChunkCodec, RankFileBuilder } from './rank_file_builder.js';
import type {
  StartApi,
  StartCeColl,
  StartColl,
  StartNetPlugin,
  StartOptions,
  StartP2p,
  StartProxyOp,
} from './ring_starts.js';
import { MASK_64, SlotArea } from './slot_area.js';

const { Kind } = format;
export interface RingOptions {
  readonly tid?: number;
  readonly threadName?: string;
  readonly foldCapacity?: number;
  /** Position of the first record, for a ring that has been in use before. */
  readonly startAt?: number;
}

export interface DrainOptions {
  /** Positions [from, to) go into the chunk. Default: from the end of the last chunk to the head. */
  readonly from?: number;
  readonly to?: number;
  readonly codec?: ChunkCodec;
}

export class RingBuilder {
  readonly area: SlotArea;
  /** One past the newest slot that was put into a chunk. */
  drainedTo = 0;
  readonly areaClass: number;
  readonly foldCapacity: number;
  private readonly folds: (readonly [handle: bigint, lastTick: bigint, control: bigint])[] = [];

  constructor(
    private readonly file: RankFileBuilder,
    readonly number: number,
    ringClass: 'steps' | 'ops' | 'host' | 'overflow',
    capacity: number,
    options: RingOptions,
  ) {
    this.areaClass = ['steps', 'ops', 'host', 'overflow'].indexOf(ringClass) + 1;
    this.area = new SlotArea(capacity, 'wraps');
    this.area.head = options.startAt ?? 0;
    this.drainedTo = this.area.head;
    this.foldCapacity = options.foldCapacity ?? 4;
  }

  get head(): number {
    return this.area.head;
  }

  /** Any record: words 1 and 2 of its first slot, then three per further slot. Returns its handle. */
  record(kind: number, tick: number, ...words: bigint[]): bigint {
    const padded = [...words];
    while ((padded.length + 1) % 3 !== 0 || padded.length < 2) padded.push(0n);
    return this.handleAt(this.area.append(kind, [this.file.rawTick(tick), ...padded]));
  }

  handleAt(position: number): bigint {
    return this.file.tag | (BigInt(this.number) << 41n) | (BigInt(position) << 1n);
  }

  startGroup(tick: number, options: StartOptions = {}): bigint {
    return this.record(Kind.StartGroup, tick, parentOf(options), commText(options, 0));
  }

  startColl(tick: number, o: StartColl = {}): bigint {
    return this.record(
      Kind.StartColl,
      tick,
      parentOf(o),
      commText(o, this.rankOf(o)),
      BigInt(o.seqNumber ?? 0),
      BigInt(o.count ?? 1024),
      bits([this.id(o.func ?? 'AllReduce'), 16], [this.id(o.datatype ?? 'ncclFloat32'), 16]) |
        (bits([this.id(o.algo ?? 'RING'), 16], [this.id(o.proto ?? 'SIMPLE'), 16]) << 32n),
      o.parentGroup ?? 0n,
      bits([o.root ?? 0, 32], [o.ordinal ?? 0, 32]),
      bits([o.nChannels ?? 2, 8], [16, 8], [o.flags ?? 0, 16]),
      0x1000n,
      0x2000n,
      o.userTag ?? 0n,
    );
  }

  startP2p(tick: number, o: StartP2p = {}): bigint {
    return this.record(
      Kind.StartP2p,
      tick,
      parentOf(o),
      commText(o, this.rankOf(o)),
      0x1000n,
      BigInt(o.count ?? 1024),
      bits([this.id(o.func ?? 'Send'), 16], [this.id(o.datatype ?? 'ncclInt8'), 16], [o.nChannels ?? 1, 8]),
      o.parentGroup ?? 0n,
      bits([o.peer ?? 0, 32], [o.ordinal ?? 0, 32]),
      0n,
    );
  }

  startProxyOp(tick: number, o: StartProxyOp = {}): bigint {
    const foreign = o.foreignContext === undefined ? [] : [o.foreignContext, 0n, 0n];
    const comm = o.foreignContext === undefined ? (o.comm ?? 0) : format.COMM_FOREIGN;
    return this.record(
      Kind.StartProxyOp,
      tick,
      parentOf(o),
      bits([comm, 32], [o.peer ?? 0, 32]),
      bits([o.ordinal ?? 0, 32], [o.nSteps ?? 1, 32]),
      bits([0x80000, 32], [o.pid ?? this.file.pid, 32]),
      bits([o.channel ?? 0, 8], [o.isSend === true ? 1 : 0, 8], [0, 16], [this.rankOf(o), 32]),
      ...foreign,
    );
  }

  startProxyStep(tick: number, options: StartOptions & { readonly step?: number } = {}): bigint {
    return this.record(Kind.StartProxyStep, tick, parentOf(options), commText(options, options.step ?? 0));
  }

  startProxyCtrl(tick: number, options: StartOptions = {}): bigint {
    return this.record(Kind.StartProxyCtrl, tick, parentOf(options), commText(options, 0));
  }

  startKernelCh(
    tick: number,
    options: StartOptions & { readonly channel?: number; readonly pTimer?: bigint } = {},
  ): bigint {
    const words = [commText(options, options.channel ?? 0), options.pTimer ?? 0n, 0n, 0n];
    return this.record(Kind.StartKernelCh, tick, parentOf(options), ...words);
  }

  startGroupApi(
    tick: number,
    options: StartOptions & { readonly graphCaptured?: boolean; readonly groupDepth?: number } = {},
  ): bigint {
    const depth = bits([options.graphCaptured === true ? 1 : 0, 1], [options.groupDepth ?? 1, 31]);
    return this.record(Kind.StartGroupApi, tick, parentOf(options), commText(options, 0) | (depth << 32n));
  }

  startCollApi(tick: number, options: StartApi = {}): bigint {
    return this.startApi(Kind.StartCollApi, tick, { func: 'AllReduce', ...options });
  }

  startP2pApi(tick: number, options: StartApi = {}): bigint {
    return this.startApi(Kind.StartP2pApi, tick, { func: 'Send', root: -1, ...options });
  }

  private startApi(kind: number, tick: number, o: StartApi): bigint {
    return this.record(
      kind,
      tick,
      parentOf(o),
      bits([o.comm ?? 0, 32], [this.id(o.func ?? ''), 16], [this.id(o.datatype ?? 'ncclFloat32'), 16]),
      BigInt(o.count ?? 1024),
      0x7000n,
      bits([o.root ?? 0, 32], [o.graphCaptured === true ? 1 : 0, 1]),
      ...(o.userTag === undefined ? [] : [o.userTag, 0n, 0n]),
    );
  }

  startKernelLaunch(tick: number, options: StartOptions = {}): bigint {
    const words = [commText(options, 0), 0x7000n, 0n, 0n];
    return this.record(Kind.StartKernelLaunch, tick, parentOf(options), ...words);
  }

  startNetPlugin(tick: number, o: StartNetPlugin = {}): bigint {
    return this.record(
      Kind.StartNetPlugin,
      tick,
      parentOf(o),
      commText(o, 0),
      o.id ?? 0x10001n,
      o.length ?? 4096n,
      0n,
      0n,
      bits([0, 32], [o.type ?? 1, 8]),
      bits([0, 32], [o.op ?? 0, 32]),
    );
  }

  startCeColl(tick: number, o: StartCeColl = {}): bigint {
    const { func = 'AllGather', datatype = 'ncclInt8' } = o;
    return this.record(
      Kind.StartCeColl,
      tick,
      parentOf(o),
      commText(o, this.rankOf(o)),
      BigInt(o.seqNumber ?? 0),
      1024n,
      bits([this.id(func), 16], [this.id(datatype), 16], [this.id('MC'), 16]),
      bits([0, 32], [o.seqNumber ?? 0, 32]),
      0n,
      0x7000n,
      0x1000n,
      0x2000n,
      0n,
    );
  }

  startCeSync(tick: number, options: StartOptions = {}): bigint {
    const words = [commText(options, 4), 0n, 0n, 0n];
    return this.record(Kind.StartCeSync, tick, parentOf(options), ...words);
  }

  startCeBatch(
    tick: number,
    options: StartOptions & { readonly numOps?: number; readonly totalBytes?: bigint } = {},
  ): bigint {
    const words = [commText(options, options.numOps ?? 1), options.totalBytes ?? 0n, 0n, 0n];
    return this.record(Kind.StartCeBatch, tick, parentOf(options), ...words);
  }

  startKernelPhase(
    tick: number,
    o: StartOptions & { channel?: number; phase?: number; name?: string; pTimer?: bigint } = {},
  ): bigint {
    const where = bits([o.comm ?? 0, 32], [o.channel ?? 0, 8], [o.phase ?? 0, 8]);
    const name = o.name === undefined ? 0n : BigInt(this.id(o.name));
    return this.record(Kind.StartKernelPhase, tick, parentOf(o), where, o.pTimer ?? 0n, name, 0n);
  }

  startUnknown(tick: number, type: number, options: StartOptions = {}): bigint {
    const words = [commText(options, this.rankOf(options)), BigInt(type), 0n, 0n];
    return this.record(Kind.StartUnknown, tick, parentOf(options), ...words);
  }

  /** No value: NCCL passed none. */
  state(tick: number, handle: bigint, state: number, value?: number | bigint): this {
    const word = value === undefined ? BigInt(format.NO_VALUE) : BigInt(value);
    if (state < 0x10000 && word < 1n << 48n)
      this.record(Kind.State, tick, handle, BigInt(state) | (word << 16n));
    else this.record(Kind.State, tick, handle, BigInt(state), word, 0n, 0n);
    return this;
  }

  stop(tick: number, handle: bigint): this {
    this.record(Kind.Stop, tick, handle, 0n);
    return this;
  }

  /** Repeats that have ended. `repeats` of them were not recorded one by one; the last was at `lastTick`. */
  fold(tick: number, handle: bigint, state: number | 'start', lastTick: number, repeats: number): this {
    const repeated = BigInt(state === 'start' ? format.FOLD_OF_START : state);
    this.record(Kind.Fold, tick, handle, repeated, this.file.rawTick(lastTick), BigInt(repeats), 0n);
    this.area.counters.folded += repeats;
    return this;
  }

  /** Repeats that are still going on. */
  openFold(handle: bigint, state: number | 'start', count: number, lastTick: number): this {
    const key = ((handle * 0x9e3779b97f4a7c15n) & MASK_64) >> 48n;
    const repeated = BigInt(state === 'start' ? format.FOLD_STATE_START : state);
    this.folds.push([handle, this.file.rawTick(lastTick), BigInt(count) | (repeated << 32n) | (key << 48n)]);
    this.area.counters.folded += count;
    return this;
  }

  count(counters: Partial<Record<'muted' | 'nullCalls' | 'ordinalsLost', number>>): this {
    Object.assign(this.area.counters, counters);
    return this;
  }

  tear(position: number, word?: number, value?: bigint): this {
    this.area.tear(position, word, value);
    return this;
  }

  staleHead(by: number): this {
    this.area.stale = by;
    return this;
  }

  drain(options: DrainOptions = {}): this {
    const { from = this.drainedTo, to = this.head } = options;
    this.file.chunk(this.number, from, this.area.bytesAt(from, to), options.codec ?? 'raw');
    this.drainedTo = to;
    return this;
  }

  copyFoldsTo(file: Uint8Array, foldsOffset: number): void {
    const view = new DataView(file.buffer, foldsOffset);
    this.folds.slice(0, this.foldCapacity).forEach((words, i) => {
      words.forEach((word, j) => {
        view.setBigUint64(i * format.FOLD_BYTES + j * 8, word, true);
      });
    });
  }

  private id(text: string): number {
    return this.file.string(text);
  }

  private rankOf(options: StartOptions): number {
    return options.rank ?? this.file.options.rank ?? 0;
  }
}

const parentOf = (options: StartOptions): bigint => options.parent ?? 0n;

function commText(options: StartOptions, high: number): bigint {
  return bits([options.comm ?? 0, 32], [high, 32]);
}

/** Bit fields from bit 0 upwards; negative values in two's complement. */
function bits(...fields: readonly (readonly [value: number, bits: number])[]): bigint {
  let word = 0n;
  let shift = 0n;
  for (const [value, width] of fields) {
    word |= BigInt.asUintN(width, BigInt(value)) << shift;
    shift += BigInt(width);
  }
  return word;
}
