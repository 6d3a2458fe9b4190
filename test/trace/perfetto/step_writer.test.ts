/** The fast path for steps writes the same bytes as the slow path of all slices, for all numbers, times and strings. */

import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { traceNsFromClockMap, type TraceNs } from '../../../src/base/time.js';
import { BlockWriter } from '../../../src/trace/perfetto/block_writer.js';
import type {
  Args,
  FlowId,
  SliceRef,
  StepSink,
  TrackRef,
  TrackSink,
} from '../../../src/trace/tracks/sink.js';
import '../../support/fixed_seed.js';

type Make = (sink: TrackSink, track: TrackRef) => StepSink;

const fast: Make = (sink, track) => sink.steps(track);

/** The same through `begin` and `end`. */
const slow: Make = (sink, track) => {
  const open: SliceRef[] = [];
  const endPhase = (at: Parameters<StepSink['end']>[0]): void => {
    if (open.length === 2) sink.end(track, at, open.pop()!);
  };
  return {
    track,
    begin: (at, step) => void open.push(sink.begin(track, at, 'step', { args: [['step', step]] })),
    phase: (at, name, bytes, flow) => {
      endPhase(at);
      const args: Args | undefined = bytes === null ? undefined : [['bytes', bytes]];
      open.push(sink.begin(track, at, name, { args, flow: flow ?? undefined }));
    },
    brief: (at, name, flow) => {
      endPhase(at);
      sink.instant(track, at, name, { flow: flow ?? undefined });
    },
    end: (at, args) => {
      endPhase(at);
      sink.end(track, at, open.pop()!, args.length > 0 ? { args } : undefined);
    },
  };
};

interface Phase {
  readonly wait: number;
  readonly name: string;
  readonly bytes: number | null;
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
  name: fc.constantFrom('GPU wait', 'peer wait', 'send wait'),
  bytes: fc.option(size),
  flow: fc.option(fc.record({ hi: word, lo: word })),
});
const step = fc.record<Step>({
  track: fc.nat(2),
  number: fc.oneof(fc.nat(300), fc.integer()),
  phases: fc.array(phase, { maxLength: 4 }),
  polls: fc.nat(2),
});

/** Steps one after the other. Those of track 2 come late, so they go to another sequence. */
function write(steps: readonly Step[], make: Make, internLimit: number): { bytes: Buffer; counts: unknown } {
  const pieces: Uint8Array[] = [];
  const writer = new BlockWriter({
    ...{ blockIndex: 1, blockCount: 300, process: null, traceStart: 1_700_000_000_000_000_000n, internLimit },
    output: (piece) => void pieces.push(piece.slice()),
  });
  const tracks = [0, 1, 2].map((rank) =>
    make(writer, writer.describe({ kind: 'slices', name: `slot ${rank}`, rank })),
  );
  let now = 0;
  for (const { track, number, phases, polls } of steps) {
    const sink = tracks[track]!;
    const at = (): TraceNs => traceNsFromClockMap(track === 2 ? Math.floor(now / 2) : now);
    sink.begin(at(), number);
    for (const { wait, name, bytes, flow } of phases) {
      now += wait;
      if (bytes === null && wait % 2 === 1) sink.brief(at(), name, flow);
      else sink.phase(at(), name, bytes, flow);
    }
    sink.end(at(), polls > 0 ? [['peerPolls', polls]] : []);
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
  const sink = (): StepSink => {
    const options = { blockIndex: 0, blockCount: 1, process: null, traceStart: 1n, output: () => undefined };
    const writer = new BlockWriter(options);
    return writer.steps(writer.describe({ kind: 'slices', name: 'slot', rank: 0 }));
  };
  const at = traceNsFromClockMap;
  type Call = (steps: StepSink) => void;
  const begin =
    (time: number): Call =>
    (steps) => {
      steps.begin(at(time), 0);
    };
  const phase: Call = (steps) => {
    steps.phase(at(1), 'GPU wait', null, null);
  };
  const end =
    (time: number): Call =>
    (steps) => {
      steps.end(at(time), []);
    };
  const wrong: Record<string, [says: RegExp, calls: Call[]]> = {
    'a step within a step': [/step within a step/, [begin(1), begin(2)]],
    'a phase outside a step': [/outside a step/, [phase]],
    'an end without a step': [/no step to end/, [end(1)]],
    'a time that goes back': [/earlier/, [begin(9), end(8)]],
    'a time of no trace': [/not a time/, [begin(-1)]],
  };
  it.each(Object.entries(wrong))('%s', (_, [says, calls]) => {
    const steps = sink();
    expect(() => {
      for (const call of calls) call(steps);
    }).toThrow(says);
  });
});
