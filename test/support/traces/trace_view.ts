/**
 * Reads a .pftrace (plain or .gz) as trace_processor does. Returns the content of its tables, every problem that its stats
 * count, and problems that it does not report. It shares nothing with the writer but the generated protobuf code. Its
 * rules were observed with trace_processor v58 and read in its source. The parts are in test/trace/perfetto/view. We never
 * write threads' own tables, legacy events and merged siblings, so they are not covered.
 */

import { Clocks } from '../../trace/perfetto/view/clocks.js';
import { resolveEvent, type Event } from '../../trace/perfetto/view/events.js';
import { Flows } from '../../trace/perfetto/view/flows.js';
import { given, readPackets, signed, unsigned, type Packet } from '../../trace/perfetto/view/messages.js';
import { NEEDS_STATE, SequenceState } from '../../trace/perfetto/view/sequences.js';
import { Slices } from '../../trace/perfetto/view/slices.js';
import { States } from '../../trace/perfetto/view/states.js';
import { Tracks } from '../../trace/perfetto/view/tracks.js';
import { Problems } from '../../trace/perfetto/view/types.js';
import type {
  Problem,
  ViewCounter,
  ViewFlow,
  ViewProcess,
  ViewSlice,
  ViewState,
  ViewTrack,
} from '../../trace/perfetto/view/types.js';

export type * from '../../trace/perfetto/view/types.js';

export interface TraceView {
  readonly packets: number;
  /** The primary clock at the start of the trace: subtract it from a `ts`. */
  readonly start: bigint;
  readonly uuid: string | undefined;
  readonly attributes: Readonly<Record<string, string | bigint>>;
  readonly processes: readonly ViewProcess[];
  readonly tracks: readonly ViewTrack[];
  readonly slices: readonly ViewSlice[];
  readonly counters: readonly ViewCounter[];
  readonly states: readonly ViewState[];
  readonly flows: readonly ViewFlow[];
  readonly problems: readonly Problem[];
}

export interface ViewOptions {
  /**
   * A slice of duration 0 inside another one looks exactly like two slices whose END and BEGIN were written in the
   * wrong order ("equal-ts order"). 'fine': the writer means it.
   */
  readonly emptySlices?: 'suspect' | 'fine';
}

export function viewTrace(bytes: Uint8Array, { emptySlices = 'suspect' }: ViewOptions = {}): TraceView {
  const problems = new Problems();
  const packets = readPackets(bytes, problems);
  const file = new TraceFile(problems);
  packets.forEach((packet, index) => {
    file.read(packet, index);
  });
  return { packets: packets.length, ...file.replay(emptySlices === 'suspect') };
}

/** Counts what is in the trace, in the terms of the summary. */
/** Work whose end is not known has more in its name: "AllReduce enqueued", "AllReduce 38". */
export const functionOf = ({ name }: Pick<ViewSlice, 'name'>): string | undefined =>
  name?.replace(/ (enqueued|\d+)$/, '');

export const countsOf = ({ slices, counters, states, flows, processes }: TraceView) => ({
  slices: slices.length,
  openSlices: slices.filter(({ dur }) => dur === -1n).length,
  instants: slices.filter(({ isInstant }) => isInstant).length,
  counterSamples: counters.length,
  states: states.length,
  flows: flows.length,
  tracks: new Set([...slices, ...counters, ...states].map(({ track }) => track)).size,
  processes: processes.length,
});

class TraceFile {
  private readonly sequences = new Map<number, SequenceState>();
  private readonly clocks: Clocks;
  private readonly tracks: Tracks;
  private readonly events: Event[] = [];
  private readonly attributes: Record<string, string | bigint> = {};
  private uuid: string | undefined;

  constructor(private readonly problems: Problems) {
    this.clocks = new Clocks(problems);
    this.tracks = new Tracks(problems);
  }

  /** One packet, in file order. */
  read(packet: Packet, index: number): void {
    const sequence = this.sequenceOf(packet, index);
    if (packet.clockSnapshot) {
      this.clocks.snapshot(packet.clockSnapshot, sequence?.id ?? 0, index);
      return;
    }
    if (((packet.sequenceFlags ?? 0) & NEEDS_STATE) !== 0 && !sequence?.isValid) {
      this.problems.add('packet_skipped_seq_needs_incremental_state_invalid', index);
      return;
    }
    const ts = this.timeOf(packet, sequence, index);
    if (packet.trackDescriptor) this.tracks.describe(packet.trackDescriptor, index, ts);
    if (packet.trackEvent) this.readEvent(packet, sequence, ts, index);
    const { traceUuid, traceAttributes } = packet;
    if (traceUuid) this.uuid = `${hex(traceUuid.msb)}${hex(traceUuid.lsb)}`;
    for (const attribute of traceAttributes?.attribute ?? []) {
      const long = given(attribute, 'longValue');
      this.attributes[attribute.key ?? ''] = long ? signed(long) : (attribute.stringValue ?? '');
    }
  }

  /** All events in the order of time, equal times in file order. */
  replay(suspectEmptySlices: boolean): Omit<TraceView, 'packets'> {
    const { problems, events, uuid, attributes } = this;
    const tracks = this.tracks.build(new Set(events.map((event) => event.uuid)));
    const slices = new Slices(problems);
    const states = new States();
    const flows = new Flows();
    const counters: ViewCounter[] = [];
    events.sort((a, b) => (a.ts < b.ts ? -1 : a.ts > b.ts ? 1 : a.packet - b.packet));
    for (const event of events) {
      const isSlice = event.type !== 'counter' && event.type !== 'state';
      const kind = isSlice ? 'slices' : event.type === 'counter' ? 'counter' : 'state';
      const track = this.tracks.ofEvent(event.uuid, event.packet, [kind]);
      if (track === undefined) continue;
      if (event.type === 'counter') counters.push({ track, ts: event.ts, value: event.value ?? NaN });
      else if (event.type === 'state') states.enter(track, event);
      else {
        const slice = slices[event.type](track, event);
        if (slice) flows.add(event, slice);
      }
    }
    if (suspectEmptySlices) slices.reportSuspects();
    return {
      ...{ start: this.clocks.start ?? 0n, uuid, attributes, processes: this.tracks.processes, tracks },
      ...{ slices: slices.list, counters, states: states.list, flows: flows.list, problems: problems.list },
    };
  }

  private readEvent(
    packet: Packet,
    sequence: SequenceState | undefined,
    ts: bigint | undefined,
    index: number,
  ): void {
    if (sequence === undefined || given(packet, 'timestamp') === undefined) {
      this.problems.add(`track_event_missing_${sequence ? 'timestamp' : 'sequence_id'}`, index);
      return;
    }
    if (ts === undefined || !packet.trackEvent) return;
    const event = resolveEvent(packet.trackEvent, ts, index, sequence, this.problems);
    if (event === undefined) return;
    const fault = this.faultOf(event);
    if (fault !== undefined) this.problems.add(fault, index, `uuid ${event.uuid}`);
    else this.events.push(this.tracks.isIncremental(event.uuid) ? sequence.addedUp(event) : event);
  }

  /** What the importer checks when it reads the packet, before it has read the rest. */
  private faultOf(event: Event): string | undefined {
    if (event.uuid === 0n) return `track_event_${event.type}_missing_track_uuid`;
    if (event.type !== 'counter') return undefined;
    if (!this.tracks.isCounter(event.uuid)) return 'track_event_counter_invalid_track_uuid';
    return event.value === undefined ? 'track_event_counter_missing_value' : undefined;
  }

  private sequenceOf(packet: Packet, index: number): SequenceState | undefined {
    const id = packet.trustedPacketSequenceId ?? 0;
    if (id === 0) {
      if ((packet.sequenceFlags ?? 0) !== 0) this.problems.add('sequence_flags without a sequence', index);
      if (packet.tracePacketDefaults) this.problems.add('trace_packet_defaults_missing_sequence_id', index);
      if (packet.internedData) this.problems.add('interned_data_missing_sequence_id', index);
      return undefined;
    }
    const sequence = this.sequences.get(id) ?? new SequenceState(id, this.problems);
    this.sequences.set(id, sequence);
    sequence.apply(packet, index);
    return sequence;
  }

  private timeOf(packet: Packet, sequence: SequenceState | undefined, index: number): bigint | undefined {
    const timestamp = given(packet, 'timestamp');
    if (timestamp === undefined) return undefined;
    const clock = given(packet, 'timestampClockId') ?? sequence?.defaultClock ?? this.clocks.primary;
    if (clock === undefined) {
      this.problems.add('time before any clock', index);
      return undefined;
    }
    return this.clocks.toPrimary(clock, sequence?.id ?? 0, unsigned(timestamp), index);
  }
}

const hex = (half: { low: number; high: number } | null | undefined): string =>
  unsigned(half ?? { low: 0, high: 0 })
    .toString(16)
    .padStart(16, '0');
