/** The fast path for steps writes the same bytes as the slow path of all slices, for all numbers, times and strings. */

import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { traceNsFromClockMap, type TraceNs } from '../../../src/base/time.js';
import { BlockWriter } from '../../../src/trace/perfetto/block_writer.js';
import type { Args, FlowId, SliceRef, TrackRef, TrackSink } from '../../../src/trace/tracks/sink.js';
import { NO_VALUE, STEP_NAMES, StepName, type StepSlices } from '../../../src/trace/tracks/step_slices.js';
import '../../support/tiers/fixed_seed.js';

type Steps = Pick<StepSlices, 'begin' | 'phase' | 'brief' | 'end'>;
type Make = (sink: TrackSink) => Steps;

const fast: Make = (sink) => sink.steps;

/** The same through `begin` and `end`. */
const slow: Make = (sink) => {
  const opened = new Map<TrackRef, SliceRef[]>();
  const openOn = (track: TrackRef): SliceRef[] => {
    const open = opened.get(track) ?? [];
    opened.set(track, open);
    return open;
  };
  const endPhase = (track: TrackRef, at: TraceNs): void => {
    if (openOn(track).length === 2) sink.end(track, at, openOn(track).pop()!);
  };
  return {
    begin: (track, at, step) => {
      openOn(track).push(sink.begin(track, at, 'step', { args: [['step', step]] }));
    },
    phase: (track, at, name, bytes, flow) => {
      endPhase(track, at);
      const args: Args | undefined = bytes === NO_VALUE ? undefined : [['bytes', bytes]];
      openOn(track).push(sink.begin(track, at, STEP_NAMES[name], { args, flow: flow ?? undefined }));
    },
    brief: (track, at, name, flow) => {
      endPhase(track, at);
      sink.instant(track, at, STEP_NAMES[name], { flow: flow ?? undefined });
    },
    end: (track, at, polls, more) => {
      endPhase(track, at);
      const args: Args = polls === NO_VALUE ? more : [['peerPolls', polls], ...more];
      sink.end(track, at, openOn(track).pop()!, args.length > 0 ? { args } : undefined);
    },
  };
};

interface Phase {
  readonly wait: number;
  readonly name: StepName;
  readonly bytes: number;
  readonly flow: FlowId | null;
}

interface Step {
  readonly track: number;
  readonly number: number;
  readonly phases: readonly Phase[];
  readonly polls: number;
}

const word = fc.integer({ min: 0, max: 0xffffffff });
const size = fc.oneof(
  fc.nat(300),
  fc.nat(2 ** 31),
  fc.constantFrom(0, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER),
);
const phase = fc.record<Phase>({
  wait: fc.oneof(fc.nat(200), fc.nat(2 ** 31), fc.constant(0)),
  name: fc.constantFrom(StepName.Gpu, StepName.Peer, StepName.Send, StepName.NotKnown),
  bytes: fc.oneof(size, fc.constant(NO_VALUE)),
  flow: fc.option(fc.record({ hi: word, lo: word })),
});
const step = fc.record<Step>({
  track: fc.nat(2),
  number: fc.oneof(fc.nat(300), fc.integer()),
  phases: fc.array(phase, { maxLength: 4 }),
  polls: fc.nat(3),
});

/** Steps one after the other. Those of track 2 come late, so they go to another sequence. */
function write(steps: readonly Step[], make: Make, internLimit: number): { bytes: Buffer; counts: unknown } {
  const pieces: Uint8Array[] = [];
  const writer = new BlockWriter({
    ...{ blockIndex: 1, blockCount: 300, process: null, traceStart: 1_700_000_000_000_000_000n, internLimit },
    output: (piece) => void pieces.push(piece.slice()),
  });
  const sink = make(writer);
  const tracks = [0, 1, 2].map((rank) => writer.describe({ kind: 'slices', name: `slot ${rank}`, rank }));
  let now = 0;
  for (const { track, number, phases, polls } of steps) {
    const on = tracks[track]!;
    const at = (): TraceNs => traceNsFromClockMap(track === 2 ? Math.floor(now / 2) : now);
    sink.begin(on, at(), number);
    for (const { wait, name, bytes, flow } of phases) {
      now += wait;
      if (bytes === NO_VALUE && wait % 2 === 1) sink.brief(on, at(), name, flow);
      else sink.phase(on, at(), name, bytes, flow);
    }
    sink.end(on, at(), polls > 1 ? polls : NO_VALUE, polls > 2 ? [['startRepeats', number]] : []);
  }
  writer.close();
  // A person sees a brief phase as a slice, not as an instant.
  return { bytes: Buffer.concat(pieces), counts: { ...writer.counts(), instants: 0 } };
}

it.each([1 << 16, 2, 0])('byte for byte, with room for %i strings', (internLimit) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      expect(write(steps, fast, internLimit)).toEqual(write(steps, slow, internLimit));
    }),
    { numRuns: 40 },
  );
});

describe('a defect of the caller', () => {
  const at = traceNsFromClockMap;
  type Call = (steps: StepSlices, track: TrackRef) => void;
  const begin =
    (time: number): Call =>
    (steps, track) => {
      steps.begin(track, at(time), 0);
    };
  const phase: Call = (steps, track) => {
    steps.phase(track, at(1), StepName.Gpu, NO_VALUE, null);
  };
  const end =
    (time: number): Call =>
    (steps, track) => {
      steps.end(track, at(time), NO_VALUE, []);
    };
  const wrong: Record<string, [says: RegExp, calls: Call[]]> = {
    'a step within a step': [/step within a step/, [begin(1), begin(2)]],
    'a phase outside a step': [/outside a step/, [phase]],
    'an end without a step': [/outside a step/, [end(1)]],
    'a time that goes back': [/earlier/, [begin(9), end(8)]],
    'a time of no trace': [/not a time/, [begin(-1)]],
  };
  it.each(Object.entries(wrong))('%s', (_, [says, calls]) => {
    const options = { blockIndex: 0, blockCount: 1, process: null, traceStart: 1n, output: () => undefined };
    const writer = new BlockWriter(options);
    const track = writer.describe({ kind: 'slices', name: 'slot', rank: 0 });
    expect(() => {
      for (const call of calls) call(writer.steps, track);
      writer.close();
    }).toThrow(says);
  });
});
