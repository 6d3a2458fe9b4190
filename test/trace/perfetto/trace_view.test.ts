/**
 * The reader that other tests rely on. Expected results were seen with trace_processor v58, or follow from its source.
 * Above all, the reader must misread a wrong trace in the same way as the importer does.
 */

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { viewTrace, type TraceView, type ViewOptions } from '../../support/traces/trace_view.js';
import { T0 } from './blocks.js';
import {
  BOOTTIME,
  ChildTracksOrdering,
  ProcessOrdering,
  REALTIME,
  SiblingMergeBehavior,
  Type,
  Unit,
  begin,
  described,
  encode,
  end,
  event,
  first,
  long,
  type Packet,
} from './raw_packets.js';

const view = (packets: readonly Packet[], options?: ViewOptions): TraceView =>
  viewTrace(encode(first(), described(1), ...packets), options);
const slicesOf = ({ slices }: TraceView): string[] =>
  slices.map(({ name, ts, dur }) => `${name} ${ts - T0}..${dur === -1n ? '' : ts - T0 + dur}`);
const problemsOf = ({ problems }: TraceView): string[] => problems.map(({ what }) => what);

describe('overlaps, silently bent', () => {
  it('A 0..5 and B 3..7 with plain ends become A 0..7 and B 3..5', () => {
    const bent = view([begin(0, 'A'), begin(3, 'B'), end(5), end(7)]);
    expect(slicesOf(bent)).toEqual(['A 0..7', 'B 3..5']);
    expect(problemsOf(bent)).toEqual([]);
  });

  it("B's begin before A's end at one time: A 0..7 and B empty; this one is reported", () => {
    const packets = [begin(0, 'A'), begin(5, 'B'), end(5), end(7)];
    expect(slicesOf(view(packets))).toEqual(['A 0..7', 'B 5..5']);
    expect(problemsOf(view(packets))).toEqual(['equal-ts order']);
    expect(problemsOf(view(packets, { emptySlices: 'fine' }))).toEqual([]);
  });

  it('the right order at one time is read right', () => {
    const right = view([begin(0, 'A'), end(5), begin(5, 'B'), end(7)]);
    expect(slicesOf(right)).toEqual(['A 0..5', 'B 5..7']);
    expect(problemsOf(right)).toEqual([]);
  });

  it('an empty slice at the very end of the one around it cannot be a swap', () => {
    expect(problemsOf(view([begin(0, 'A'), begin(5, 'B'), end(5), end(5)]))).toEqual([]);
  });

  it('with named ends A is right, B is cut, and the importer says so', () => {
    const cut = view([begin(0, 'A'), begin(3, 'B'), end(5, { name: 'A' }), end(7, { name: 'B' })]);
    expect(slicesOf(cut)).toEqual(['A 0..5', 'B 3..5']);
    expect(problemsOf(cut)).toEqual(['misplaced_end_event', 'END on empty stack']);
  });

  it('an end without a begin is ignored, a begin without an end stays open', () => {
    const open = view([end(1), begin(2, 'A')]);
    expect(slicesOf(open)).toEqual(['A 2..']);
    expect(problemsOf(open)).toEqual(['END on empty stack']);
  });

  it('513 slices deep, the innermost is dropped', () => {
    const deep = view(Array.from({ length: 513 }, (_, at) => begin(at, 'A')));
    expect(deep.slices.length).toBe(512);
    expect(problemsOf(deep)).toEqual(['slice_max_depth_exceeded']);
  });
});

describe('the stack', () => {
  it('instants of one time lie on one another, instants of different times do not', () => {
    const instant = (at: number): Packet => event(Type.TYPE_INSTANT, at, { name: 'i' });
    const { slices } = view([begin(0, 'A'), instant(1), instant(1), instant(2), begin(2, 'B')]);
    expect(slices.map(({ depth }) => depth)).toEqual([0, 1, 2, 1, 1]);
  });

  it('events are read in the order of time, wherever they are in the file', () => {
    const shuffled = view([end(5), begin(3, 'B'), end(4), begin(0, 'A')]);
    expect(slicesOf(shuffled)).toEqual(['A 0..5', 'B 3..4']);
  });

  it('arguments of the end join those of the begin, and win', () => {
    const { slices } = view([
      begin(0, 'A', {
        debugAnnotations: [
          { name: 'a.b[c]', boolValue: true },
          { name: 'n', intValue: long(-1) },
        ],
      }),
      end(1, {
        debugAnnotations: [
          { name: 'n', doubleValue: 0.5 },
          { name: 'u', uintValue: long((1n << 64n) - 1n) },
        ],
      }),
    ]);
    expect(slices[0]?.args).toEqual({ a_b_c_: true, n: 0.5, u: (1n << 64n) - 1n });
  });
});

describe('arrows', () => {
  const flow = { flowIds: [long(7)] };
  const ending = { terminatingFlowIds: [long(7)] };
  const on2 = { trackUuid: long(2) };
  const arrows = (packets: Packet[]): string[] =>
    view([described(2), ...packets]).flows.map(({ from, to }) => `${from.name} -> ${to.name}`);

  it('a receive posted before the send: no arrow if it terminates the id', () => {
    expect(arrows([begin(0, 'receive', { ...on2, ...ending }), begin(5, 'send', flow)])).toEqual([]);
  });

  it('a receive posted before the send: backwards if it only names the id', () => {
    expect(arrows([begin(0, 'receive', { ...on2, ...flow }), begin(5, 'send', flow)])).toEqual([
      'receive -> send',
    ]);
  });

  it('bound to the phase that begins when the data has arrived: right', () => {
    const packets = [
      begin(0, 'receive', on2),
      begin(5, 'send', flow),
      begin(8, 'arrived', { ...on2, ...flow }),
    ];
    expect(arrows(packets)).toEqual(['send -> arrived']);
  });

  it('bound to an end: the start of the slice counts', () => {
    const packets = [begin(0, 'receive', on2), begin(5, 'send', flow), end(9, { ...on2, ...flow })];
    expect(arrows(packets)).toEqual(['receive -> send']);
  });

  it('one id on three slices makes a chain', () => {
    const packets = [1, 2, 3].flatMap((at) => [begin(at, `s${at}`, flow), end(at)]);
    expect(arrows(packets)).toEqual(['s1 -> s2', 's2 -> s3']);
  });
});

describe('clocks', () => {
  const delta = (distance: number | bigint, more: Packet = {}): Packet =>
    event(Type.TYPE_INSTANT, 0, { name: 'i' }, { timestamp: long(distance), timestampClockId: 64, ...more });
  const times = ({ slices }: TraceView): number[] => slices.map(({ ts }) => Number(ts - T0));

  it('distances add up; absolute times lie beside them', () => {
    expect(times(view([delta(5), delta(0), begin(3, 'A'), delta(7)]))).toEqual([3, 5, 5, 12]);
  });

  it('each sequence has its own', () => {
    const second: Packet = {
      ...first(2),
      clockSnapshot: { clocks: first().clockSnapshot?.clocks?.slice(0, 2) ?? [] },
    };
    const mixed = view([delta(5), second, delta(2, { trustedPacketSequenceId: 2 }), delta(5)]);
    expect(times(mixed)).toEqual([2, 5, 10]);
    expect(problemsOf(mixed)).toEqual([]);
  });

  it('a clock that no snapshot ties to the others loses its events', () => {
    const lost = view([delta(5, { timestampClockId: 65 })]);
    expect(lost.slices).toEqual([]);
    expect(problemsOf(lost)).toEqual(['clock_sync_failure_unknown_source_clock']);
  });

  it('a first snapshot without BOOTTIME is an error in every file', () => {
    const bare = {
      ...first(),
      clockSnapshot: { clocks: [{ clockId: REALTIME, timestamp: long(T0) }], primaryTraceClock: REALTIME },
    };
    expect(problemsOf(viewTrace(encode(bare)))).toEqual(['clock_sync_unrelatable_clock_domains']);
  });

  it('a negative distance is reported', () => {
    expect(problemsOf(view([delta(5), delta(-2n & ((1n << 64n) - 1n))]))).toEqual([
      'incremental clock goes back',
    ]);
  });
});

describe('counters and states', () => {
  const counter = (uuid: number, isIncremental = false): Packet =>
    described(uuid, { counter: { unit: Unit.UNIT_SIZE_BYTES, isIncremental } });
  const sample = (value: number, uuid = 2, packet: Packet = {}): Packet =>
    event(Type.TYPE_COUNTER, 1, { trackUuid: long(uuid), counterValue: long(value) }, packet);
  const enter = (at: number, name?: string): Packet =>
    event(Type.TYPE_STATE, at, { trackUuid: long(3), ...(name !== undefined && { name }) });

  it('a sample before its descriptor is lost', () => {
    const early = view([sample(1), counter(2), sample(2)]);
    expect(early.counters.map(({ value }) => value)).toEqual([2]);
    expect(problemsOf(early)).toEqual(['track_event_counter_invalid_track_uuid']);
  });

  it('incremental samples add up and start anew when their sequence is cleared', () => {
    const cleared = { ...first(), firstPacketOnSequence: false };
    const { counters } = view([counter(2, true), sample(1), sample(2), cleared, sample(5)]);
    expect(counters.map(({ value }) => value)).toEqual([1, 3, 5]);
  });

  it('a state lasts until the next one; a repeated state is no new one; an event without a name ends the state', () => {
    const { states } = view([
      described(3, { state: {} }),
      enter(0, 'a'),
      enter(2, 'a'),
      enter(3, 'b'),
      enter(5),
      enter(6, 'b'),
    ]);
    expect(states.map(({ name, ts, dur }) => `${name} ${ts - T0} ${dur}`)).toEqual([
      'a 0 3',
      'b 3 2',
      'b 6 -1',
    ]);
  });
});

describe('the counts of the importer', () => {
  const cases: Record<string, readonly Packet[]> = {
    track_hierarchy_missing_uuid: [begin(0, 'A', { trackUuid: long(99) })],
    interned_data_tokenizer_errors: [event(Type.TYPE_SLICE_BEGIN, 0, { nameIid: long(5) })],
    track_event_missing_sequence_id: [
      event(Type.TYPE_INSTANT, 0, {}, { trustedPacketSequenceId: null, sequenceFlags: 0 }),
    ],
    track_event_missing_timestamp: [event(Type.TYPE_INSTANT, 0, {}, { timestamp: null })],
    packet_skipped_seq_needs_incremental_state_invalid: [
      event(Type.TYPE_INSTANT, 0, {}, { trustedPacketSequenceId: 9 }),
    ],
    interned_data_skipped_incremental_state_invalid: [
      { trustedPacketSequenceId: 9, internedData: { eventNames: [{ iid: long(1), name: 'A' }] } },
    ],
    track_descriptor_missing_uuid: [{ trackDescriptor: { name: 'x' } }],
    track_descriptor_conflicting_reservation: [described(1, { counter: {} })],
    track_event_track_hierarchy_loop: [
      described(5, { parentUuid: long(6) }),
      described(6, { parentUuid: long(5), childOrdering: ChildTracksOrdering.EXPLICIT }),
    ],
    'pid 0': [
      { trackDescriptor: { uuid: long(0), processOrdering: ProcessOrdering.PROCESS_ORDERING_EXPLICIT } },
      described(4, { process: { pid: 0 } }),
    ],
    'pid used twice': [
      { trackDescriptor: { uuid: long(0), processOrdering: ProcessOrdering.PROCESS_ORDERING_EXPLICIT } },
      described(4, { process: { pid: 8 } }),
      described(5, { process: { pid: 8 } }),
    ],
    'processes are not ordered': [described(4, { process: { pid: 8 } })],
    'siblings merge': [4, 5].map((uuid) =>
      described(uuid, {
        name: 'same',
        siblingMergeBehavior: SiblingMergeBehavior.SIBLING_MERGE_BEHAVIOR_BY_TRACK_NAME,
      }),
    ),
    'children are not ordered': [described(4, { parentUuid: long(1) })],
    'event on a track of another kind': [
      described(4, { counter: {} }),
      begin(0, 'A', { trackUuid: long(4) }),
    ],
    'not the first packet of its sequence': [first()],
    'primary clock set too late': [
      begin(0, 'A'),
      {
        clockSnapshot: { clocks: [{ clockId: REALTIME, timestamp: long(T0) }], primaryTraceClock: BOOTTIME },
      },
    ],
    'interned id defined twice': ['A', 'B'].map((name) => ({
      ...{ trustedPacketSequenceId: 1, sequenceFlags: 2 },
      internedData: { eventNames: [{ iid: long(1), name }] },
    })),
  };

  it.each(Object.entries(cases))('%s', (what, packets) => {
    expect(problemsOf(view(packets))).toContain(what);
  });

  it('are 0 for a correct trace', () => {
    expect(problemsOf(view([begin(0, 'A'), end(1)]))).toEqual([]);
  });
});

describe('files', () => {
  const bytes = encode(first(), described(1), begin(0, 'A'), end(4));

  it('are read compressed too, also in several members', () => {
    const compressed = [bytes.subarray(0, 40), bytes.subarray(40)].map((part) => gzipSync(part));
    expect(slicesOf(viewTrace(Buffer.concat(compressed)))).toEqual(['A 0..4']);
  });

  it('have to begin with a packet', () => {
    expect(problemsOf(viewTrace(Buffer.concat([Buffer.from([0x10, 0x01]), bytes])))).toEqual([
      'not recognised as a trace',
      'unknown field beside the packets',
    ]);
  });
});
