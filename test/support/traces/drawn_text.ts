/** The packets of a block as lines of text, in the order in which they were written. */

import { perfetto } from '../../../src/trace/perfetto/generated/protos.js';
import type { TraceNs } from '../../../src/base/time.js';
import type { Args, SliceRef, TrackRef, TrackSpec } from '../../../src/trace/tracks/sink.js';
import { Clocks } from '../../trace/perfetto/view/clocks.js';
import { resolveEvent, type Event } from '../../trace/perfetto/view/events.js';
import { given, unsigned, type Packet } from '../../trace/perfetto/view/messages.js';
import { SequenceState } from '../../trace/perfetto/view/sequences.js';
import { Problems } from '../../trace/perfetto/view/types.js';
import { TextSink } from './text_sink.js';

/** `bytes`: the prologue and a block. Throws if anything in them is not as it should be. */
export function textOf(bytes: Uint8Array): TextSink {
  const replay = new Replay();
  perfetto.protos.Trace.decode(bytes).packet.forEach((packet, index) => {
    replay.take(packet, index);
  });
  return replay.sink;
}

interface Track {
  readonly ref: TrackRef;
  readonly open: SliceRef[];
  /** The innermost slice was written as one packet: it ends when it begins. */
  isBrief: boolean;
  at: TraceNs;
}

class Replay {
  readonly sink = new TextSink();
  private readonly problems = new Problems();
  private readonly clocks = new Clocks(this.problems);
  private readonly sequences = new Map<number, SequenceState>();
  private readonly tracks = new Map<bigint, Track>();

  take(packet: Packet, index: number): void {
    const sequence = this.sequenceOf(packet);
    sequence?.apply(packet, index);
    if (packet.clockSnapshot) this.clocks.snapshot(packet.clockSnapshot, sequence?.id ?? 0, index);
    if (packet.trackDescriptor) this.describe(packet.trackDescriptor);
    const timestamp = given(packet, 'timestamp');
    if (packet.trackEvent && sequence && timestamp) {
      const clock = given(packet, 'timestampClockId') ?? sequence.defaultClock!;
      const ts = this.clocks.toPrimary(clock, sequence.id, unsigned(timestamp), index)!;
      this.event(resolveEvent(packet.trackEvent, ts - this.clocks.start!, index, sequence, this.problems)!);
    }
    if (this.problems.list.length > 0) throw new Error(JSON.stringify(this.problems.list[0]));
  }

  private sequenceOf(packet: Packet): SequenceState | undefined {
    const id = packet.trustedPacketSequenceId ?? 0;
    if (id !== 0 && !this.sequences.has(id)) this.sequences.set(id, new SequenceState(id, this.problems));
    return this.sequences.get(id);
  }

  private describe(message: NonNullable<Packet['trackDescriptor']>): void {
    const uuid = unsigned(given(message, 'uuid')!);
    if (uuid === 0n) return; // the prologue: the root of all tracks
    const parentUuid = given(message, 'parentUuid');
    const parent = parentUuid && this.tracks.get(unsigned(parentUuid))?.ref;
    const common = {
      name: message.name ?? '',
      rank: message.siblingOrderRank ?? 0,
      ...(message.description ? { description: message.description } : {}),
      ...(parent === undefined ? {} : { parent }),
    };
    const spec: TrackSpec = message.counter
      ? { ...common, kind: 'counter', unit: message.counter.unitName ?? '' }
      : { ...common, kind: message.state ? 'state' : 'slices' };
    this.tracks.set(uuid, { ref: this.sink.describe(spec), open: [], isBrief: false, at: 0 as TraceNs });
  }

  private event({ ts, type, uuid, name, args, flows, correlation, value }: Event): void {
    const { sink } = this;
    const track = this.tracks.get(uuid)!;
    const at = Number(ts) as TraceNs;
    const [flow] = flows;
    const extra = {
      args: Object.entries(args) as unknown as Args,
      flow: flow === undefined ? undefined : { hi: Number(flow >> 32n), lo: Number(flow & 0xffff_ffffn) },
      correlation: correlation === undefined ? undefined : Number(correlation),
    };
    if (track.isBrief) {
      sink.end(track.ref, track.at, track.open.pop()!);
      track.isBrief = false;
    }
    track.at = at;
    // A wait within a step that ends when it begins is one packet, which the importer keeps as a slice.
    const isBrief = type === 'instant' && name === 'peer wait';
    if (type === 'begin' || isBrief) track.open.push(sink.begin(track.ref, at, name!, extra));
    else if (type === 'end') sink.end(track.ref, at, track.open.pop()!, extra);
    else if (type === 'instant') sink.instant(track.ref, at, name!, extra);
    else if (type === 'counter') sink.counter(track.ref, at, value!);
    else sink.state(track.ref, at, name);
    track.isBrief = isBrief;
  }
}
