/**
 * Writes the packets of one process (one rank), or of a group without a process, as a block with its own uuids and sequences. A block may
 * come anywhere after the prologue. The blocks of a trace are written independently, in any order, on any thread, and then concatenated.
 * The kernel proves that slices nest, and writes the bytes of events (src/kernel/draw). Descriptions of tracks are written here. After a
 * BugError the block cannot be continued: the flushed packets are whole, but no packet may follow them.
 */

import { BugError, assert } from '../../base/assert.js';
import type { TraceNs } from '../../base/time.js';
import { DETAIL, TRACK_KIND, type DrawingHost } from '../../kernel/host/drawing.js';
import { type BlockCounts, tallyOf } from '../../kernel/host/drawn_rows.js';
import { giveBack, type Kernel, type KernelExports, lendKernel } from '../../kernel/host/load.js';
import type { Detail } from '../../model/detail.js';
import type { Windows } from '../tracks/selection.js';
import type { ArgValue, SliceExtra, SliceRef, TrackRef, TrackSink, TrackSpec } from '../tracks/sink.js';
import { DELTA_CLOCK, REALTIME, TRACE_CLOCK, TraceStart } from './clocks.js';
import { isIntegerUnit, processDescriptor, trackDescriptor, type ProcessSpec } from './descriptors.js';
import { toLong } from './long.js';
import { CLEARED, type Packet, encodePackets } from './protos.js';
import { refusal } from './refusals.js';

/** Distinct strings per table. */
const INTERN_LIMIT = 1 << 16;

const ROOT =
  'What NCCL reported to the recorder on this rank: counters, then each communicator with its collectives, kernel channels and ' +
  'connections, the proxy and host threads, and the recorder itself.';

/** Index and count. */
export interface BlockPosition {
  readonly blockIndex: number;
  readonly blockCount: number;
}

/** Must read or copy a chunk at once, because the writer uses its memory again. */
export type Output = (chunk: Uint8Array) => void;

/** What was drawn of a part. */
export interface SelectedPart {
  /** Slices drawn, without instants, by depth of detail. */
  readonly slices: Readonly<Record<Detail, number>>;
  /** Ends of drawn arrows: a number that both ends share. */
  readonly flowEnds: BigUint64Array;
}

/** The kernel's requests that only the picture of a rank has. */
export type RankAnswers = Pick<DrawingHost, 'readWorkEnds' | 'sharesClock'> & {
  /** What a track of the kernel shows. `numbers`: see src/kernel/draw/tracks.ts. */
  readonly specOf: (what: number, numbers: readonly [number, number, number, number]) => TrackSpec;
};

/** A group of tracks in the process of a rank that has another block. */
export interface GroupInProcess {
  readonly rankBlock: number;
  readonly name: string;
  /** Position among the process's groups; NCCL has 0. */
  readonly order: number;
  readonly description: string;
}

export interface BlockOptions extends BlockPosition {
  /** null: the block's tracks have no process and are top-level. */
  readonly process: ProcessSpec | GroupInProcess | null;
  /** Nanoseconds of REALTIME, as in the prologue. */
  readonly traceStart: bigint;
  readonly output: Output;
  /** null or absent: everything is drawn. */
  readonly windows?: Windows | null | undefined;
  /** Called for each track when it is described; true: the writer should know what stays open there. */
  readonly watch?: ((track: TrackRef, spec: TrackSpec, parent: TrackRef | undefined) => boolean) | undefined;
  /** Correlation id of the call whose slices are looked for on these tracks; null or absent: none. */
  readonly named?: number | null | undefined;
  /** Number of distinct strings per table. Further strings are written inline. For tests. */
  readonly internLimit?: number | undefined;
}

/** A slice that is open at the end, on a watched track. */
export interface OpenSlice {
  readonly at: TraceNs;
  /** Its argument `step`; null: none. */
  readonly step: number | null;
}

export class BlockWriter implements TrackSink {
  readonly kernel: Kernel;
  private readonly exports: KernelExports;
  private readonly start: TraceStart;
  /** Of the host's tracks, until they are described; names of described ones. */
  private readonly specs = new Map<number, TrackSpec>();
  private readonly names = new Map<number, string>();
  private readonly texts = new Map<string, number>();
  private readonly watched = new Set<number>();
  private closed: { readonly counts: BlockCounts } | null = null;

  /** `rank`: the kernel that draws a rank's file into this block. It must have begun the file. */
  constructor(
    private readonly options: BlockOptions,
    private readonly rank: { readonly kernel: Kernel; readonly answers: RankAnswers } | null = null,
  ) {
    const { blockIndex, blockCount, internLimit = INTERN_LIMIT } = options;
    const isFit = Number.isInteger(blockCount) && Number.isInteger(blockIndex) && 0 <= blockIndex;
    assert(
      isFit && blockIndex < blockCount && blockCount < 2 ** 31,
      `no block ${blockIndex} of ${blockCount}`,
    );
    this.start = new TraceStart(options.traceStart);
    this.kernel = rank?.kernel ?? lendKernel();
    this.exports = this.kernel.exports;
    if (rank === null) this.exports.begin(0n, 0n, 0, 1, 0);
    this.exports.newBlock(blockIndex, blockCount, internLimit, options.named ?? NaN);
    this.kernel.drawing = this.answers();
    this.cut(options.windows ?? null);
    this.exports.openBlock(this.describeRoot(options.process));
  }

  describe(spec: TrackSpec): TrackRef {
    this.mustBeOpen(() => `track "${spec.name}" is described`);
    assert(spec.name !== '', 'a track without a name');
    assert(spec.rank === (spec.rank | 0), `track "${spec.name}" has rank ${spec.rank}, not an int32`);
    if (spec.parent !== undefined) this.known(spec.parent);
    const isInteger = spec.kind === 'counter' && isIntegerUnit(spec.unit);
    const detail = DETAIL[spec.detail ?? 'inherited'];
    const track = this.exports.addTrack(spec.parent ?? -1, TRACK_KIND[spec.kind], detail, isInteger);
    this.specs.set(track, spec);
    this.exports.describeNew(track);
    return track as TrackRef;
  }

  begin(ref: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): SliceRef {
    this.prepare(ref, extra);
    return this.exports.beginSlice(ref, at, this.text(name)) as SliceRef;
  }

  end(ref: TrackRef, at: TraceNs, slice: SliceRef, extra?: SliceExtra): void {
    this.prepare(ref, extra);
    this.exports.endSlice(ref, at, slice);
  }

  instant(ref: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): void {
    this.prepare(ref, extra);
    this.exports.addInstant(ref, at, this.text(name), false);
  }

  /** Also outside of its window. */
  instantAnywhere(ref: TrackRef, at: TraceNs, name: string, extra: SliceExtra): void {
    this.prepare(ref, extra);
    this.exports.addInstant(ref, at, this.text(name), true);
  }

  counter(ref: TrackRef, at: TraceNs, value: number): void {
    this.prepare(ref);
    this.exports.addSample(ref, at, value);
  }

  state(ref: TrackRef, at: TraceNs, name: string | null): void {
    this.prepare(ref);
    if (name === '') throw new BugError(`track "${this.nameOf(ref)}" at ${at} ns: a state without a name`);
    this.exports.enterState(ref, at, name === null ? -1 : this.text(name));
  }

  /** The number of a text in the kernel. */
  text(text: string): number {
    const known = this.texts.get(text);
    if (known !== undefined) return known;
    const bytes = Buffer.from(text);
    const at = this.exports.textRoom(bytes.length);
    this.memory(at, bytes.length).set(bytes);
    const number = this.exports.addGivenText(at, bytes.length);
    this.texts.set(text, number);
    return number;
  }

  /** After the last event, if only a part is drawn. Slices that still wait reach into the window. */
  finishPart(): void {
    this.exports.finishPart();
  }

  /** What is open on a watched track, when its last event was, and whether the named call is on it. */
  stateOf(ref: TrackRef): {
    readonly open: readonly OpenSlice[];
    readonly lastAt: TraceNs;
    readonly hasNamed: boolean;
  } {
    const { exports } = this;
    const places = Array.from({ length: exports.openSlices(ref) }, (_, place) => place);
    const open = places
      .filter((place) => exports.isOpenWritten(ref, place))
      .map((place) => {
        const step = exports.openStep(ref, place);
        return { at: exports.openSince(ref, place) as TraceNs, step: Number.isNaN(step) ? null : step };
      });
    return { open, lastAt: exports.lastEventAt(ref) as TraceNs, hasNamed: Boolean(exports.hasNamed(ref)) };
  }

  counts(): BlockCounts {
    if (this.closed) return this.closed.counts;
    return tallyOf(this.exports).counts;
  }

  /** Before `close`. */
  part(): SelectedPart {
    const { buffer } = this.exports.memory;
    const flows = new BigUint64Array(buffer, this.exports.partFlows(), this.exports.partFlowCount());
    return { slices: tallyOf(this.exports).slices, flowEnds: flows.slice() };
  }

  /** Flushes the last bytes. Open slices stay open on purpose: they show work that never ended. It may be called twice. */
  close(): void {
    if (this.closed) return;
    this.exports.closeBlock();
    this.closed = { counts: this.counts() };
    if (this.rank === null) giveBack(this.kernel);
  }

  private prepare(ref: TrackRef, extra?: SliceExtra): void {
    this.known(ref);
    this.mustBeOpen(() => `track "${this.nameOf(ref)}" has an event`);
    const { exports } = this;
    for (const [name, value] of extra?.args ?? []) this.addArg(this.text(name), value);
    if (extra?.flow !== undefined) exports.setArrow((BigInt(extra.flow.hi) << 32n) | BigInt(extra.flow.lo));
    for (const arrow of extra?.arrows ?? []) exports.setArrow(arrow);
    const { correlation } = extra ?? {};
    if (correlation === undefined) return;
    if (!Number.isSafeInteger(correlation) || correlation <= 0)
      throw new BugError(`correlation ${correlation}`);
    exports.setCorrelation(correlation);
  }

  private addArg(name: number, value: ArgValue): void {
    const { exports } = this;
    if (typeof value === 'string') exports.addArgText(name, this.text(value));
    else if (typeof value === 'boolean') exports.addArgFlag(name, value);
    else if (typeof value === 'number') exports.addArgNumber(name, value);
    else {
      if (value >= 1n << 64n || value < -(1n << 63n))
        throw new BugError(`argument of more than 64 bits: ${value}`);
      exports.addArgLong(name, value, value < 0n);
    }
  }

  private answers(): DrawingHost {
    const answers = this.rank?.answers;
    return {
      passOn: (at, length) => {
        this.options.output(this.memory(at, length));
      },
      openSequence: (id, isDelta) => this.put(this.opening(id, Boolean(isDelta))),
      describeTrack: (track, parent, uuid, parentUuid, what, a, b, c, d) => {
        const spec = this.specs.get(track) ?? answers!.specOf(what, [a, b, c, d]);
        const above = parent < 0 ? undefined : (parent as TrackRef);
        this.names.set(track, spec.name);
        if (this.options.watch?.(track as TrackRef, spec, above) === true) this.watched.add(track);
        const descriptor = trackDescriptor(spec, uuid, parentUuid === 0 ? undefined : parentUuid);
        return this.put({ trackDescriptor: descriptor });
      },
      isWatched: (track) => this.watched.has(track),
      refuse: (track, at, reason, number, other) => {
        throw refusal(reason, this.nameOf(track), at, number, other);
      },
      readWorkEnds: (row) => {
        answers!.readWorkEnds(row);
      },
      sharesClock: (...transfer) => answers!.sharesClock(...transfer),
    };
  }

  /** The first packet of a sequence: its clock begins, and the reader's state is cleared. */
  private opening(id: number, isDelta: boolean): Packet {
    return {
      trustedPacketSequenceId: id,
      sequenceFlags: CLEARED,
      firstPacketOnSequence: true,
      tracePacketDefaults: { timestampClockId: isDelta ? DELTA_CLOCK : TRACE_CLOCK },
      clockSnapshot: { clocks: isDelta ? this.start.deltaClock() : this.start.traceClock() },
    };
  }

  private cut(windows: Windows | null): void {
    if (windows === null) return;
    this.exports.cutTo();
    for (const detail of ['coll', 'op', 'step'] as const) {
      const window = windows[detail];
      if (window) this.exports.setWindow(DETAIL[detail], window.from, window.to);
    }
  }

  /** Describes the root track. Returns its uuid, which is reserved even if there is no root track; 0: none. */
  private describeRoot(process: BlockOptions['process']): number {
    const processUuid = this.exports.nextUuid();
    const groupUuid = this.exports.nextUuid();
    if (process === null) return 0;
    if ('rankBlock' in process) {
      const { name, order, description } = process;
      const group = { kind: 'group', name, rank: order, description } as const;
      const above = this.exports.processUuid(process.rankBlock);
      this.append({ trackDescriptor: trackDescriptor(group, groupUuid, above) });
      return groupUuid;
    }
    assert(
      process.pid === (process.pid | 0) && process.pid > 0,
      `process "${process.name}" has pid ${process.pid}`,
    );
    // The absolute time keeps this packet off all delta clocks.
    this.append({
      timestamp: toLong(this.start.realtime),
      timestampClockId: REALTIME,
      trackDescriptor: processDescriptor(process, processUuid),
    });
    const root = { kind: 'group', name: 'NCCL', rank: 0, description: ROOT } as const;
    this.append({ trackDescriptor: trackDescriptor(root, groupUuid, processUuid) });
    return groupUuid;
  }

  private append(packet: Packet): void {
    this.exports.packetWritten(this.put(packet));
  }

  /** Returns how many bytes it has. */
  private put(packet: Packet): number {
    const bytes = encodePackets(packet);
    this.memory(this.exports.packetRoom(bytes.length), bytes.length).set(bytes);
    return bytes.length;
  }

  private memory(at: number, length: number): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer, at, length);
  }

  private known(ref: TrackRef): void {
    if (!(ref >= 0 && ref < this.exports.trackCount()))
      throw new BugError(`track ${ref} was never described`);
  }

  private nameOf(ref: number): string {
    return this.names.get(ref) ?? this.specs.get(ref)?.name ?? `${ref}`;
  }

  private mustBeOpen(what: () => string): void {
    if (this.closed) throw new BugError(`${what()} after close()`);
  }
}
