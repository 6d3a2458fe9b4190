/**
 * The hand-written packets against the generated code: random events go into a block and, independently, into
 * messages built here, whose encoding has to be the same bytes. Nothing of the writer is used for the expectation.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { perfetto } from '../../../src/trace/perfetto/generated/protos.js';
import type { BlockWriter } from '../../../src/trace/perfetto/block_writer.js';
import type { SliceExtra, SliceRef, TrackRef, TrackSpec } from '../../../src/trace/tracks/sink.js';
import { block, ns } from './blocks.js';
import { ExpectedSequence, big, type Packet, type TrackEventMessage } from './expected_sequence.js';

fc.configureGlobal({ seed: 7 });

const { Trace, TrackEvent } = perfetto.protos;
const { Type } = TrackEvent;

const TRACKS: readonly TrackSpec[] = [
  { kind: 'slices', name: 'in time', rank: 0 },
  { kind: 'slices', name: 'in time too', rank: 1 },
  { kind: 'slices', name: 'late', rank: 2 },
  { kind: 'counter', name: 'bytes', rank: 3, unit: 'bytes' },
  { kind: 'counter', name: 'things', rank: 4, unit: 'count' },
  { kind: 'counter', name: 'rate', rank: 5, unit: 'GB/s' },
  { kind: 'counter', name: 'late rate', rank: 6, unit: 'GB/s' },
  { kind: 'state', name: 'state', rank: 7 },
  { kind: 'state', name: 'late state', rank: 8 },
];
const FIRST_UUID = 16 + 2;

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('AllReduce', 'Sänd → 🚀', ''),
);
/** A fraction that is not an integer, or an integer that is safe: what the contract allows. */
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer({ min: -300, max: 300 }),
  fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }),
);
const bigint = fc.bigInt({ min: -(1n << 63n), max: (1n << 64n) - 1n });
const args = fc.array(fc.tuple(text, fc.oneof(text, number, bigint, fc.boolean())), { maxLength: 9 });
const u32 = fc.integer({ min: 0, max: 0xffffffff });
const extra = fc.record(
  {
    args,
    flow: fc.record({ hi: u32, lo: u32 }),
    correlation: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  },
  { requiredKeys: [] },
);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 ** 46 }) },
);

/** What is done to one track. `choice` selects among the commands that its kind allows. */
interface Command {
  readonly track: number;
  readonly choice: number;
  readonly step: number;
  readonly name: string;
  readonly extra: SliceExtra | undefined;
  readonly value: number;
}
const command: fc.Arbitrary<Command> = fc.record({
  track: fc.nat(TRACKS.length - 1),
  choice: fc.nat(2),
  step,
  name: text,
  extra: fc.option(extra, { nil: undefined }),
  value: number,
});

/** One track of both sides: does a command to the sink and says which event should come of it. */
class Player {
  private readonly open: SliceRef[] = [];
  private state: string | null = null;
  private readonly ref: TrackRef;
  lastAt = 0;

  constructor(
    private readonly sink: BlockWriter,
    readonly spec: TrackSpec,
    private readonly uuid: number,
  ) {
    this.ref = sink.describe(spec);
  }

  /** undefined: nothing should be written. */
  play(command: Command, at: number, sequence: ExpectedSequence): TrackEventMessage | undefined {
    this.lastAt = at;
    switch (this.spec.kind) {
      case 'slices':
        return this.slice(command, at, sequence);
      case 'counter':
        return this.sample(command.value, at, this.spec.unit === 'GB/s');
      case 'state':
        return this.enter(command.choice === 0 ? null : `${command.name}!`, at, sequence);
      case 'group':
        return undefined;
    }
  }

  private slice({ choice, name, extra }: Command, at: number, sequence: ExpectedSequence): TrackEventMessage {
    const slice = choice === 0 ? this.open.pop() : undefined;
    if (slice !== undefined) {
      this.sink.end(this.ref, ns(at), slice, extra);
      return sequence.event(Type.TYPE_SLICE_END, this.uuid, null, extra);
    }
    if (choice === 1) {
      this.sink.instant(this.ref, ns(at), name, extra);
      return sequence.event(Type.TYPE_INSTANT, this.uuid, name, extra);
    }
    this.open.push(this.sink.begin(this.ref, ns(at), name, extra));
    return sequence.event(Type.TYPE_SLICE_BEGIN, this.uuid, name, extra);
  }

  private sample(value: number, at: number, isDouble: boolean): TrackEventMessage {
    const whole = Math.trunc(value);
    const counted = isDouble ? value : Number.isSafeInteger(whole) ? whole : -1;
    this.sink.counter(this.ref, ns(at), counted);
    const field = isDouble ? { doubleCounterValue: counted } : { counterValue: big(counted) };
    return { type: Type.TYPE_COUNTER, trackUuid: big(this.uuid), ...field };
  }

  private enter(state: string | null, at: number, sequence: ExpectedSequence): TrackEventMessage | undefined {
    this.sink.state(this.ref, ns(at), state);
    if (this.state === state) return undefined;
    this.state = state;
    return sequence.event(Type.TYPE_STATE, this.uuid, state);
  }
}

/** Runs the commands against a block; returns its bytes beside the expected ones. */
function play(commands: readonly Command[], internLimit: number): { ours: string; expected: string } {
  const inTime = Array.from({ length: 8 }, (_, i) => new ExpectedSequence(2 + i, false, internLimit));
  const late = new ExpectedSequence(10, true, internLimit);
  const expected: Packet[] = [inTime[0]!.opening()];
  /** The sequence whose newest event is the nearest before `at`, else a new one, else the one with absolute times. */
  const sequenceAt = (at: number): ExpectedSequence =>
    inTime.filter(({ hasOpened, last }) => hasOpened && last <= at).sort((a, b) => b.last - a.last)[0] ??
    inTime.find(({ hasOpened }) => !hasOpened) ??
    late;
  const { bytes } = block(
    (sink) => {
      const players = TRACKS.map((spec, index) => new Player(sink, spec, FIRST_UUID + index));
      for (const command of commands) {
        const player = players[command.track]!;
        const at = Math.min(player.lastAt + command.step, Number.MAX_SAFE_INTEGER);
        const sequence = sequenceAt(at);
        const event = player.play(command, at, sequence);
        if (event === undefined) continue;
        if (!sequence.hasOpened) expected.push(sequence.opening());
        expected.push(sequence.packet(at, event));
      }
    },
    { internLimit },
  );
  // Descriptors have tests of their own.
  const ours = Trace.decode(bytes).packet.filter((packet) => !packet.trackDescriptor);
  return { ours: hex(ours), expected: hex(expected) };
}
const hex = (packet: Packet[]): string => Buffer.from(Trace.encode({ packet }).finish()).toString('hex');

describe('hot packets', () => {
  it.each([1 << 16, 3, 0])(
    'are byte for byte what the generated code writes; room for %d strings',
    (limit) => {
      fc.assert(
        fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
          const { ours, expected } = play(commands, limit);
          expect(ours).toBe(expected);
        }),
        { numRuns: 200 },
      );
    },
  );

  it('decode and encode again to the same bytes', () => {
    fc.assert(
      fc.property(text, extra, step, (name, more, at) => {
        const { bytes } = block((sink) => {
          const lane = sink.describe({ kind: 'slices', name: 'lane', rank: 0 });
          sink.end(lane, ns(at), sink.begin(lane, ns(at), name, more), more);
        });
        expect(Buffer.compare(Trace.encode(Trace.decode(bytes)).finish(), bytes)).toBe(0);
      }),
    );
  });

  it.each([100, 127, 128, 200, 16_383, 20_000, 300_000])('hold a string of %d characters', (length) => {
    for (const character of ['x', 'ä', '🚀']) {
      const name = character.repeat(length);
      const { bytes } = block((sink) => {
        const lane = sink.describe({ kind: 'slices', name: 'lane', rank: 0 });
        sink.instant(lane, ns(1), name, { args: [[name, name]] });
      });
      const trace = Trace.decode(bytes);
      expect(trace.packet.at(-1)?.internedData?.eventNames?.[0]?.name === name).toBe(true);
      expect(Buffer.compare(Trace.encode(trace).finish(), bytes)).toBe(0);
    }
  });

  it('hold any number of arguments', () => {
    const args = Array.from({ length: 60_000 }, (_, i) => ['n', i] as const);
    const { bytes } = block((sink) => {
      sink.instant(sink.describe({ kind: 'slices', name: 'lane', rank: 0 }), ns(1), 'i', { args });
    });
    const trace = Trace.decode(bytes);
    expect(trace.packet.at(-1)?.trackEvent?.debugAnnotations?.length).toBe(args.length);
    expect(Buffer.compare(Trace.encode(trace).finish(), bytes)).toBe(0);
  });

  it('never hold invalid UTF-8', () => {
    const { bytes } = block((sink) => {
      sink.instant(sink.describe({ kind: 'slices', name: 'lane', rank: 0 }), ns(1), 'half \ud83d here');
    });
    expect(Trace.decode(bytes).packet.at(-1)?.internedData?.eventNames?.[0]?.name).toBe('half \ufffd here');
  });
});
