/**
 * The fast path: a batch of slices of steps as packets, in one loop that allocates nothing. Such a packet has one name, at most one number
 * and at most one arrow, so it is below 128 bytes. Anything else (a new string, more arguments at the end, a number below 0) takes the path
 * of all events, with the same bytes (test/trace/perfetto/step_writer.test.ts).
 */

import { BugError } from '../../base/assert.js';
import type { TraceNs } from '../../base/time.js';
import type { TrackRef } from '../tracks/sink.js';
import { NO_VALUE, STEP_NAMES, StepRow, type StepSlices } from '../tracks/step_slices.js';
import type { BlockSequences } from './block_sequences.js';
import type { Tally } from './counts.js';
import { INSTANT, SLICE_BEGIN, SLICE_END, type EventPackets } from './event_packets.js';
import type { Nesting, Track } from './nesting.js';

/** The parts of a block that steps share with other events. */
export interface BlockParts {
  readonly nesting: Nesting;
  readonly tally: Tally;
  readonly packets: EventPackets;
  readonly sequences: BlockSequences;
  readonly track: (ref: TrackRef) => Track;
}

export class StepWriter {
  constructor(private readonly block: BlockParts) {}

  write(slices: StepSlices, rows: number): void {
    const { block } = this;
    for (let row = 0; row < rows; row++) {
      const track = block.track(slices.track[row] as TrackRef);
      const what = slices.what[row]!;
      const at = slices.at[row] as TraceNs;
      block.nesting.advance(track, at, 'slices');
      if (what === StepRow.Begin && track.stepDepth > 0) throw broken(track, at, 'a step within a step');
      if (what !== StepRow.Begin && track.stepDepth === 0)
        throw broken(track, at, 'a phase or an end outside a step');
      if (track.stepDepth === 2) this.endPhase(track, slices, row);
      if (what === StepRow.End) this.endStep(track, slices, row);
      else this.begin(track, slices, row, what === StepRow.Brief);
    }
  }

  private begin(track: Track, slices: StepSlices, row: number, isBrief: boolean): void {
    const { nesting, tally } = this.block;
    tally.slice(track);
    if (!isBrief) {
      nesting.openSlices++;
      track.stepDepth++;
    }
    const type = isBrief ? INSTANT : SLICE_BEGIN;
    const { packets, sequences } = this.block;
    const at = slices.at[row] as TraceNs;
    const sequence = sequences.of(at);
    const what = slices.what[row]!;
    const value = slices.value[row]!;
    const nameIid = sequence.stepNames.idOf(slices.name[row]!);
    const hasValue = what === StepRow.Begin || value !== NO_VALUE;
    const argIid = hasValue ? sequence.stepValues.idOf(what) : 0;
    if (nameIid === 0 || (hasValue && (argIid === 0 || value < 0))) {
      const extra = { args: slices.argsOf(row), flow: slices.flowOf(row) ?? undefined };
      packets.event(sequence, type, track.uuid, at, STEP_NAMES[slices.name[row]!]!, extra);
    } else {
      packets.step(sequence, type, track.uuid, slices, row, nameIid, argIid);
    }
  }

  private endPhase(track: Track, slices: StepSlices, row: number): void {
    this.ended(track);
    const at = slices.at[row] as TraceNs;
    const { packets, sequences } = this.block;
    packets.step(sequences.of(at), SLICE_END, track.uuid, slices, row, 0, 0);
  }

  private endStep(track: Track, slices: StepSlices, row: number): void {
    this.ended(track);
    const at = slices.at[row] as TraceNs;
    const { packets, sequences } = this.block;
    const sequence = sequences.of(at);
    const value = slices.value[row]!;
    const argIid = value === NO_VALUE ? 0 : sequence.stepValues.idOf(StepRow.End);
    const isPlain = slices.args[row]!.length === 0 && (argIid !== 0 || value === NO_VALUE);
    if (isPlain) packets.step(sequence, SLICE_END, track.uuid, slices, row, 0, argIid);
    else packets.event(sequence, SLICE_END, track.uuid, at, null, { args: slices.argsOf(row) });
  }

  private ended(track: Track): void {
    const { nesting, tally } = this.block;
    tally.event(track);
    nesting.openSlices--;
    track.stepDepth--;
  }
}

const broken = (track: Track, at: TraceNs, what: string): BugError =>
  new BugError(`track "${track.name}" at ${at} ns: ${what}`);
