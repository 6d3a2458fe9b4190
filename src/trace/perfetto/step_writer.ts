/**
 * The fast path: a batch of slices of steps as packets, in one loop that allocates nothing. Such a packet has one name, at most one number
 * and at most one arrow, so it is below 128 bytes. Anything else (a new string, more arguments at the end, a number below 0) takes the path
 * of all events, with the same bytes (test/trace/perfetto/step_writer.test.ts).
 */

import { BugError } from '../../base/assert.js';
import type { TraceNs } from '../../base/time.js';
import { NO_VALUE, STEP_NAMES, StepRow, type StepSlices } from '../tracks/step_slices.js';
import type { BlockSequences } from './block_sequences.js';
import type { Tally } from './counts.js';
import { INSTANT, SLICE_BEGIN, SLICE_END, type EventPackets } from './event_packets.js';
import { trackOf, type Nesting, type Track } from './nesting.js';
import type { Sequence } from './sequence.js';

/** The parts of a block that steps share with other events. */
export interface BlockParts {
  readonly nesting: Nesting;
  readonly tally: Tally;
  readonly packets: EventPackets;
  readonly sequences: BlockSequences;
  readonly tracks: readonly Track[];
}

/** By StepRow: the type of its packet, and how many slices are open after it. */
const TYPES = [SLICE_BEGIN, SLICE_BEGIN, INSTANT, SLICE_END] as const;
const DEPTHS = [1, 2, 1, 0] as const;

export class StepWriter {
  constructor(private readonly block: BlockParts) {}

  write(slices: StepSlices, rows: number): void {
    const { nesting, tally, packets, sequences, tracks } = this.block;
    for (let row = 0; row < rows; row++) {
      const track = trackOf(tracks, slices.track[row]!);
      const what = slices.what[row]!;
      const at = slices.at[row] as TraceNs;
      nesting.advance(track, at, 'slices');
      const before = track.stepDepth;
      if ((what === StepRow.Begin) !== (before === 0)) throw broken(track, at);
      const after = DEPTHS[what]!;
      track.stepDepth = after;
      nesting.openSlices += after - before;
      tally.event(track);
      const sequence = sequences.of(at);
      if (before === 2) packets.step(sequence, SLICE_END, track.uuid, slices, row, 0, 0);
      if (what !== StepRow.End) tally.slices++;
      this.packet(sequence, track.uuid, slices, row);
    }
  }

  private packet(sequence: Sequence, uuid: number, slices: StepSlices, row: number): void {
    const { packets } = this.block;
    const what = slices.what[row]!;
    const isEnd = what === StepRow.End;
    const type = TYPES[what]!;
    const value = slices.value[row]!;
    const hasValue = value !== NO_VALUE || what === StepRow.Begin;
    const nameIid = isEnd ? 0 : sequence.stepNames.idOf(slices.name[row]!);
    const argIid = hasValue ? sequence.stepValues.idOf(what) : 0;
    const isPlain = isEnd ? slices.args[row]!.length === 0 : nameIid !== 0;
    if (isPlain && (!hasValue || (argIid !== 0 && value >= 0)))
      packets.step(sequence, type, uuid, slices, row, nameIid, argIid);
    else {
      const name = isEnd ? null : STEP_NAMES[slices.name[row]!]!;
      const extra = { args: slices.argsOf(row), flow: slices.flowOf(row) ?? undefined };
      packets.event(sequence, type, uuid, slices.at[row] as TraceNs, name, extra);
    }
  }
}

const broken = ({ name, stepDepth }: Track, at: TraceNs): BugError =>
  new BugError(
    `track "${name}" at ${at} ns: ${stepDepth === 0 ? 'a phase or an end outside a step' : 'a step within a step'}`,
  );
