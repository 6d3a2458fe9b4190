/**
 * Writes rank files for tests, from schemas/rank-file.md and not from the reader: the slot check is computed with
 * BigInt here, so that two mistakes cannot cancel out. Ticks are numbers relative to the file's start.
 *
 *   const file = new RankFileBuilder({ rank: 3 });
 *   const comm = file.communicator({ name: 'dp', nRanks: 8 });
 *   const host = file.ring('host', 64);
 *   const coll = host.startColl(100, { comm, func: 'AllReduce', seqNumber: 7 });
 *   host.stop(120, coll);
 *   const bytes = file.build();
 *
 * `build` may be called many times. It returns the file as it is at that moment.
 */

import { writeFileSync } from 'node:fs';

import * as format from '../../../src/rankfile/format/constants.js';
import { align, chunkBytes, type ChunkCodec } from './chunk_bytes.js';
import { writeHeader, type FileOptions } from './header_bytes.js';
import { RingBuilder, type RingOptions } from './ring_builder.js';
import { SlotArea } from './slot_area.js';

export type { FileOptions } from './header_bytes.js';
export { RingBuilder } from './ring_builder.js';
export type { ChunkCodec } from './chunk_bytes.js';

const { Kind, AreaClass } = format;

export interface CommunicatorOptions {
  readonly commId?: bigint;
  readonly name?: string;
  readonly rank?: number;
  readonly nRanks?: number;
  readonly nNodes?: number;
  readonly abi?: number;
  readonly initTick?: number;
  readonly finalizeTick?: number;
  /** Default: the next one. */
  readonly number?: number;
}

export interface SampleOptions {
  readonly realtime?: bigint;
  readonly monotonic?: bigint;
  readonly boottime?: bigint;
  readonly width?: number;
}

interface ExtraArea {
  readonly areaClass: number;
  readonly area: SlotArea;
  readonly foldCapacity: number;
}

export class RankFileBuilder {
  readonly options: FileOptions;
  readonly tag: bigint;
  readonly startTick: bigint;
  readonly pid: number;
  private readonly rings: RingBuilder[] = [];
  private readonly more: ExtraArea[] = [];
  /** Header and payload of each chunk. A dropped chunk leaves a hole of its size. */
  private readonly chunks: (Uint8Array | { readonly hole: number })[] = [];
  private newerLap = 0;
  private readonly communicators = new SlotArea(format.COMMUNICATOR_SLOTS * 2, 'grows');
  private readonly strings = new SlotArea(format.STRING_SLOTS * 4, 'grows');
  private readonly leases = new SlotArea(format.LEASE_SLOTS * 2, 'grows');
  private readonly heartbeats = new SlotArea(format.CLOCK_SAMPLE_SLOTS * 2, 'wraps');
  private readonly clock = new SlotArea(format.CLOCK_SAMPLE_SLOTS * 2, 'grows');
  private readonly stringIds = new Map<string, number>();
  private communicatorCount = 0;
  private leaseCount = 0;

  constructor(options: FileOptions = {}) {
    this.options = options;
    this.tag = options.tag ?? format.HANDLE_TAG_FIXED_BITS | (0x123n << 48n);
    this.pid = options.pid ?? 1000 + (options.rank ?? 0);
    this.startTick = options.startTick ?? 5_000_000_000_000n;
  }

  rawTick(tick: number): bigint {
    return this.startTick + BigInt(Math.round(tick));
  }

  /** The handle NCCL would carry as this communicator's context. */
  context(communicator: number): bigint {
    return this.tag | (BigInt(format.CONTEXT_RING) << 41n) | (BigInt(communicator) << 1n);
  }

  communicator(options: CommunicatorOptions = {}): number {
    const number = options.number ?? this.communicatorCount;
    this.communicatorCount = Math.max(this.communicatorCount, number + 1);
    const name = Buffer.from(options.name ?? '', 'utf8');
    const shown = Buffer.alloc(format.MAX_COMM_NAME_BYTES);
    name.copy(shown);
    const words = [
      options.commId ?? 0xc0ffee00n + BigInt(number),
      join(options.rank ?? this.options.rank ?? 0, options.nRanks ?? this.options.worldSize ?? 1),
      join(options.nNodes ?? 1, options.abi ?? 5),
      BigInt(name.length),
      0n,
      ...wordsOf(shown),
    ];
    const position = number * format.COMMUNICATOR_SLOTS;
    this.communicators.write(position, Kind.Communicator, [this.rawTick(options.initTick ?? 0), ...words]);
    if (options.finalizeTick !== undefined) this.finalize(number, options.finalizeTick);
    return number;
  }

  finalize(communicator: number, tick: number): this {
    const position = communicator * format.COMMUNICATOR_SLOTS + 7;
    this.communicators.write(position, Kind.CommunicatorEnd, [this.rawTick(tick), 0n, 0n]);
    return this;
  }

  /** The id of `text`, written once. */
  string(text: string): number {
    const known = this.stringIds.get(text);
    if (known !== undefined) return known;
    const id = this.stringIds.size + 1;
    this.stringIds.set(text, id);
    const bytes = Buffer.alloc(format.MAX_STRING_BYTES);
    const length = bytes.write(text);
    const words = [this.rawTick(0), BigInt(length), ...wordsOf(bytes)];
    this.strings.write((id - 1) * format.STRING_SLOTS, Kind.String, words);
    return id;
  }

  /** Ring n of the file is number n in its handles. With `tid` or `threadName` it is leased from position 0. */
  ring(
    ringClass: 'steps' | 'ops' | 'host' | 'overflow',
    capacity: number,
    options: RingOptions = {},
  ): RingBuilder {
    const ring = new RingBuilder(this, this.rings.length, ringClass, capacity, options);
    this.rings.push(ring);
    if (options.tid !== undefined || options.threadName !== undefined)
      this.lease({ ring: ring.number, tid: options.tid ?? 1, threadName: options.threadName ?? '' });
    return ring;
  }

  lease(lease: {
    ring: number;
    tid: number;
    threadName?: string;
    fromTick?: number;
    fromPosition?: number;
    endTick?: number;
    endPosition?: number;
  }): this {
    const position = this.leaseCount++ * format.LEASE_SLOTS;
    const name = Buffer.alloc(16);
    name.write(lease.threadName ?? '');
    const words = [BigInt(lease.fromPosition ?? 0), join(lease.ring, lease.tid), ...wordsOf(name), 0n];
    this.leases.write(position, Kind.Lease, [this.rawTick(lease.fromTick ?? 0), ...words]);
    if (lease.endPosition !== undefined)
      this.leases.write(position + 2, Kind.LeaseEnd, [
        this.rawTick(lease.endTick ?? 0),
        BigInt(lease.endPosition),
        0n,
      ]);
    return this;
  }

  heartbeat(tick: number, sample: SampleOptions = {}): this {
    this.heartbeats.append(Kind.ClockSample, this.sampleWords(tick, sample));
    return this;
  }

  clockSample(tick: number, sample: SampleOptions = {}): this {
    this.clock.append(Kind.ClockSample, this.sampleWords(tick, sample));
    return this;
  }

  /** The table of changes by control. `from`: the number of the first change, if earlier ones were overwritten. */
  changes(
    changes: readonly {
      readonly tick: number;
      readonly done: number;
      readonly events: number;
      readonly sampleEvery: number;
    }[],
    from = 0,
  ): this {
    const area = new SlotArea(64, 'wraps');
    changes.forEach(({ tick, done, events, sampleEvery }, i) => {
      const asked = BigInt(events) | (BigInt(sampleEvery) << 32n);
      area.write(from + i, Kind.ControlChange, [this.rawTick(tick), this.rawTick(done), asked]);
    });
    return this.area(AreaClass.TableControl, area);
  }

  /** Adds the next chunk. Its slots are as they were in the ring; RingBuilder.drain makes them. */
  chunk(ring: number, firstPosition: number, slots: Uint8Array, codec: ChunkCodec = 'raw'): this {
    this.chunks.push(chunkBytes({ ring, firstPosition, slots, codec, sequence: this.chunks.length }));
    return this;
  }

  /** Deletes the oldest chunks until `keep` are left. */
  dropChunks(keep: number): this {
    for (let i = 0; i < this.chunks.length - keep; i++) {
      const chunk = this.chunks[i]!;
      if (chunk instanceof Uint8Array) this.chunks[i] = { hole: chunk.length };
    }
    return this;
  }

  /** The `newest` chunks come before all others, with a hole between. */
  wrapChunks(newest: number): this {
    this.newerLap = newest;
    return this;
  }

  /** Offset of each chunk's header in the file, including dropped chunks. */
  chunkOffsets(): number[] {
    const older = this.chunks.length - this.newerLap;
    const offsets: number[] = [];
    let at = this.placeAreas().end;
    for (let i = 0; i < this.chunks.length; i++) {
      const place = (older + i) % this.chunks.length;
      const chunk = this.chunks[place]!;
      if (this.newerLap > 0 && place === 0) at += 3 * format.CHUNK_ALIGNMENT;
      offsets[place] = at;
      at += align('hole' in chunk ? chunk.hole : chunk.length, format.CHUNK_ALIGNMENT);
    }
    return offsets;
  }

  private sampleWords(tick: number, sample: SampleOptions): bigint[] {
    const elapsed = BigInt(Math.round((tick * 1e9) / this.tickHz()));
    const monotonic = sample.monotonic ?? this.startMonotonic() + elapsed;
    const realtime = sample.realtime ?? this.startRealtime() + elapsed;
    return [
      this.rawTick(tick),
      realtime,
      monotonic,
      BigInt(sample.width ?? 50),
      sample.boottime ?? monotonic,
      0n,
    ];
  }

  /** An area of any class, after the rings: for classes that readers do not know. */
  area(areaClass: number, area: SlotArea): this {
    this.more.push({ areaClass, area, foldCapacity: 0 });
    return this;
  }

  private tickHz = (): number => this.options.tickHz ?? 1e9;
  private startRealtime = (): bigint => this.options.startRealtime ?? 1_760_000_000_000_000_000n;
  private startMonotonic = (): bigint => this.options.startMonotonic ?? 77_000_000_000n;

  write(path: string): this {
    writeFileSync(path, this.build(), { mode: 0o600 });
    return this;
  }

  build(): Uint8Array {
    const { areas, end } = this.placeAreas();
    const offsets = this.chunkOffsets();
    const kept = this.chunks.flatMap((chunk, i) =>
      chunk instanceof Uint8Array ? [{ at: offsets[i]!, chunk }] : [],
    );
    const newest = kept.at(-1);
    const bytes = new Uint8Array(Math.max(end, ...kept.map(({ at, chunk }) => at + chunk.length)));
    const view = new DataView(bytes.buffer);
    areas.forEach((area, index) => {
      writeEntry(view, format.HEADER_BYTES + index * format.AREA_ENTRY_BYTES, area);
      area.area.copyTo(bytes, area.liveOffset, area.slotsOffset);
    });
    for (const ring of this.rings) ring.copyFoldsTo(bytes, areas[ring.number]!.foldsOffset);
    for (const { at, chunk } of kept) bytes.set(chunk, at);
    writeHeader(bytes, this.options, {
      tag: this.tag,
      pid: this.pid,
      startTick: this.startTick,
      tickHz: this.tickHz(),
      startRealtime: this.startRealtime(),
      startMonotonic: this.startMonotonic(),
      areaCount: areas.length,
      ringBytes: this.rings.reduce((sum, ring) => sum + ring.area.capacity * format.SLOT_BYTES, 0),
      chunksOffset: end,
      chunksBegin: kept.length === 0 ? 0 : Math.min(...kept.map(({ at }) => at)),
      chunksEnd: newest === undefined ? 0 : newest.at + newest.chunk.length,
    });
    return bytes;
  }

  private placeAreas(): { areas: PlacedArea[]; end: number } {
    const areas = [
      ...this.rings.map((ring) => ({
        areaClass: ring.areaClass,
        area: ring.area,
        foldCapacity: ring.foldCapacity,
      })),
      { areaClass: AreaClass.TableCommunicators, area: this.communicators, foldCapacity: 0 },
      { areaClass: AreaClass.TableStrings, area: this.strings, foldCapacity: 0 },
      { areaClass: AreaClass.TableLeases, area: this.leases, foldCapacity: 0 },
      { areaClass: AreaClass.TableHeartbeat, area: this.heartbeats, foldCapacity: 0 },
      { areaClass: AreaClass.TableClock, area: this.clock, foldCapacity: 0 },
      ...this.more,
    ];
    let end = align(format.HEADER_BYTES + areas.length * format.AREA_ENTRY_BYTES, format.AREA_ALIGNMENT);
    const placed = areas.map((area) => {
      const liveOffset = end;
      const foldsOffset = liveOffset + format.AREA_LIVE_BYTES;
      const slotsOffset = foldsOffset + align(area.foldCapacity * format.FOLD_BYTES, format.AREA_ALIGNMENT);
      end = align(slotsOffset + area.area.capacity * format.SLOT_BYTES, format.AREA_ALIGNMENT);
      return { ...area, liveOffset, foldsOffset, slotsOffset };
    });
    return { areas: placed, end: align(end, format.CHUNK_ALIGNMENT) };
  }
}

interface PlacedArea extends ExtraArea {
  readonly liveOffset: number;
  readonly foldsOffset: number;
  readonly slotsOffset: number;
}

function writeEntry(view: DataView, at: number, placed: PlacedArea): void {
  const E = format.AREA_ENTRY;
  view.setUint32(at + E.areaClass, placed.areaClass, true);
  view.setUint32(at + E.capacity, placed.area.capacity, true);
  view.setBigUint64(at + E.liveOffset, BigInt(placed.liveOffset), true);
  view.setBigUint64(at + E.foldsOffset, BigInt(placed.foldsOffset), true);
  view.setBigUint64(at + E.slotsOffset, BigInt(placed.slotsOffset), true);
  view.setUint32(at + E.foldCapacity, placed.foldCapacity, true);
}

/** Two 32-bit fields in one word, the first in the low half; negative ones in two's complement. */
function join(low: number, high: number): bigint {
  return BigInt(low >>> 0) | (BigInt(high >>> 0) << 32n);
}

function wordsOf(bytes: Buffer): bigint[] {
  return Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readBigUInt64LE(i * 8));
}
