/**
 * Writes the packets of one process (one rank), or of a group without a process, as a block with its own uuids and sequences. A block may
 * come anywhere after the prologue. The blocks of a trace are written independently, in any order, on any thread, and then concatenated.
 * After a BugError the block cannot be continued: the flushed packets are whole, but no packet may follow them.
 */

import { BugError, assert } from '../../base/assert.js';
import type { TraceNs } from '../../base/time.js';
import type { SliceExtra, SliceRef, TrackRef, TrackSink, TrackSpec } from '../tracks/sink.js';
import { StepSlices } from '../tracks/step_slices.js';
import { BlockIds, type BlockPosition } from './block_ids.js';
import { BlockSequences } from './block_sequences.js';
import { Chunks, type Output } from './chunks.js';
import { REALTIME, TraceStart } from './clocks.js';
import { Tally, type BlockCounts } from './counts.js';
import { isIntegerUnit, processDescriptor, trackDescriptor, type ProcessSpec } from './descriptors.js';
import { EventPackets, INSTANT, SLICE_BEGIN, SLICE_END, STATE } from './event_packets.js';
import { toLong } from './long.js';
import { Nesting, trackOf, type Track } from './nesting.js';
import { encodePackets, type TrackDescriptor } from './protos.js';
import type { Sequence } from './sequence.js';
import { StepWriter } from './step_writer.js';

/** The importer rejects more than 100 ancestors; process and group take two. */
const MAX_TRACK_DEPTH = 90;

const ROOT =
  'What NCCL reported to the recorder on this rank: counters, then each communicator with its collectives, kernel channels and ' +
  'connections, the proxy and host threads, and the recorder itself.';

export interface BlockOptions extends BlockPosition {
  /** null: the block's tracks have no process and are top-level. */
  readonly process: ProcessSpec | null;
  /** Nanoseconds of REALTIME, as in the prologue. */
  readonly traceStart: bigint;
  readonly output: Output;
  /** Number of distinct strings per table. Further strings are written inline. For tests. */
  readonly internLimit?: number | undefined;
}

export class BlockWriter implements TrackSink {
  private readonly ids: BlockIds;
  private readonly out: Chunks;
  private readonly packets: EventPackets;
  private readonly nesting = new Nesting();
  private readonly start: TraceStart;
  private readonly tracks: Track[] = [];
  private readonly root: number | undefined;
  private readonly sequences: BlockSequences;
  private readonly tally = new Tally();
  private readonly stepWriter: StepWriter;
  readonly steps = new StepSlices((slices, rows) => {
    assert(!this.isClosed, 'steps after close()');
    this.stepWriter.write(slices, rows);
  });
  private isClosed = false;

  constructor(options: BlockOptions) {
    this.ids = new BlockIds(options);
    this.out = new Chunks(options.output);
    this.packets = new EventPackets(this.out);
    this.start = new TraceStart(options.traceStart);
    this.root = this.describeRoot(options.process);
    this.sequences = new BlockSequences(this.ids, this.start, this.out, options.internLimit);
    const { nesting, tally, packets, sequences, tracks } = this;
    this.stepWriter = new StepWriter({ nesting, tally, packets, sequences, tracks });
  }

  describe(spec: TrackSpec): TrackRef {
    this.steps.flush();
    assert(!this.isClosed, `track "${spec.name}" is described after close()`);
    assert(spec.name !== '', 'a track without a name');
    assert(spec.rank === (spec.rank | 0), `track "${spec.name}" has rank ${spec.rank}, not an int32`);
    const parent = spec.parent === undefined ? undefined : this.track(spec.parent);
    const depth = parent === undefined ? 0 : parent.depth + 1;
    assert(depth <= MAX_TRACK_DEPTH, `track "${spec.name}" is ${depth} tracks deep`);
    const uuid = this.ids.nextUuid();
    this.append(trackDescriptor(spec, uuid, parent?.uuid ?? this.root));
    this.tracks.push({
      name: spec.name,
      kind: spec.kind,
      depth,
      uuid,
      isInteger: spec.kind === 'counter' && isIntegerUnit(spec.unit),
      open: [],
      stepDepth: 0,
      lastAt: 0,
      pile: 0,
      state: null,
      hasData: false,
    });
    return (this.tracks.length - 1) as TrackRef;
  }

  begin(ref: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): SliceRef {
    this.steps.flush();
    const track = this.track(ref);
    const slice = this.nesting.begin(track, at);
    this.tally.slices++;
    this.tally.event(track);
    this.packets.event(this.sequenceOf(track, at), SLICE_BEGIN, track.uuid, at, name, extra);
    return slice;
  }

  end(ref: TrackRef, at: TraceNs, slice: SliceRef, extra?: SliceExtra): void {
    this.steps.flush();
    const track = this.track(ref);
    this.nesting.end(track, at, slice);
    this.tally.event(track);
    this.packets.event(this.sequenceOf(track, at), SLICE_END, track.uuid, at, null, extra);
  }

  instant(ref: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): void {
    this.steps.flush();
    const track = this.track(ref);
    if (!this.nesting.instant(track, at)) return;
    this.tally.slices++;
    this.tally.instants++;
    this.tally.event(track);
    this.packets.event(this.sequenceOf(track, at), INSTANT, track.uuid, at, name, extra);
  }

  counter(ref: TrackRef, at: TraceNs, value: number): void {
    this.steps.flush();
    const track = this.track(ref);
    this.nesting.counter(track, at, value);
    this.tally.counterSamples++;
    this.tally.event(track);
    this.packets.counter(this.sequenceOf(track, at), track.uuid, at, value, track.isInteger);
  }

  state(ref: TrackRef, at: TraceNs, name: string | null): void {
    this.steps.flush();
    const track = this.track(ref);
    if (!this.nesting.state(track, at, name)) return;
    if (name !== null) this.tally.states++;
    this.tally.event(track);
    this.packets.event(this.sequenceOf(track, at), STATE, track.uuid, at, name, undefined);
  }

  counts(): BlockCounts {
    this.steps.flush();
    return this.tally.counts(this.nesting.openSlices, this.out.total);
  }

  /** Flushes the last bytes. Open slices stay open on purpose: they show work that never ended. */
  close(): void {
    this.steps.flush();
    this.isClosed = true;
    this.out.flush();
  }

  private track(ref: TrackRef): Track {
    return trackOf(this.tracks, ref);
  }

  private sequenceOf(track: Track, at: TraceNs): Sequence {
    if (this.isClosed) throw new BugError(`track "${track.name}" has an event after close()`);
    return this.sequences.of(at);
  }

  /** Describes the root track. Its uuid is reserved even if there is no root track, so that TrackRefs map to uuids in one way. */
  private describeRoot(process: ProcessSpec | null): number | undefined {
    const processUuid = this.ids.nextUuid();
    const groupUuid = this.ids.nextUuid();
    if (process === null) return undefined;
    assert(
      process.pid === (process.pid | 0) && process.pid > 0,
      `process "${process.name}" has pid ${process.pid}`,
    );
    // The absolute time keeps this packet off all delta clocks.
    this.append(processDescriptor(process, processUuid), this.start.realtime);
    this.append(
      trackDescriptor({ kind: 'group', name: 'NCCL', rank: 0, description: ROOT }, groupUuid, processUuid),
    );
    return groupUuid;
  }

  private append(descriptor: TrackDescriptor, at?: bigint): void {
    const clock = at === undefined ? {} : { timestamp: toLong(at), timestampClockId: REALTIME };
    this.out.append(encodePackets({ ...clock, trackDescriptor: descriptor }));
  }
}
