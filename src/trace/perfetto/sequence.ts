/**
 * One sequence of packets: a clock, and tables of strings for its own packets. Its first packet clears the reader's state, so a block means
 * the same at any place in the trace.
 */

import { DELTA_CLOCK, TRACE_CLOCK, type TraceStart } from './clocks.js';
import { STEP_NAMES, VALUE_NAMES } from '../tracks/step_slices.js';
import { INTERN_LIMIT, InternTable, KnownIds } from './interning.js';
import { encodePackets } from './protos.js';
import { putVarint } from './wire.js';

/**
 * SEQ_INCREMENTAL_STATE_CLEARED, on a sequence's first packet. The other packets have no flag that they need this state. Such a flag only
 * matters if packets can be lost on the way to the file.
 */
export const CLEARED = 1;

/** The lists of InternedData. */
const EVENT_NAMES = 2;
const DEBUG_ANNOTATION_NAMES = 3;
const DEBUG_ANNOTATION_STRING_VALUES = 29;

/** 'delta': times never go back, each packet has the distance from the last one. 'absolute': the times themselves, in any order. */
export type SequenceClock = 'delta' | 'absolute';

export class Sequence {
  readonly names: InternTable;
  readonly argNames: InternTable;
  readonly argTexts: InternTable;
  /** The numbers of STEP_NAMES and VALUE_NAMES here. */
  readonly stepNames: KnownIds;
  readonly stepValues: KnownIds;
  private readonly isDelta: boolean;
  /** Time of the newest packet. A delta clock cannot go back before it. */
  last = 0;

  constructor(
    readonly id: number,
    clock: SequenceClock,
    private readonly start: TraceStart,
    internLimit: number = INTERN_LIMIT,
  ) {
    this.isDelta = clock === 'delta';
    this.names = new InternTable(EVENT_NAMES, internLimit);
    this.argNames = new InternTable(DEBUG_ANNOTATION_NAMES, internLimit);
    this.argTexts = new InternTable(DEBUG_ANNOTATION_STRING_VALUES, internLimit);
    this.stepNames = new KnownIds(this.names, STEP_NAMES);
    this.stepValues = new KnownIds(this.argNames, VALUE_NAMES);
  }

  opening(): Uint8Array {
    return encodePackets({
      trustedPacketSequenceId: this.id,
      sequenceFlags: CLEARED,
      firstPacketOnSequence: true,
      tracePacketDefaults: { timestampClockId: this.isDelta ? DELTA_CLOCK : TRACE_CLOCK },
      clockSnapshot: { clocks: this.isDelta ? this.start.deltaClock() : this.start.traceClock() },
    });
  }

  /**
   * Writes the time of a row. It is written even if the distance is 0, because the importer drops a packet without a timestamp. Times stay
   * in their columns, because V8 makes an object of each time that a call passes on.
   */
  putTimestamp(out: Uint8Array, position: number, times: Float64Array, row: number): number {
    const at = times[row]!;
    if (!this.isDelta) return putVarint(out, position, at);
    const distance = at - this.last;
    this.last = at;
    return putVarint(out, position, distance);
  }

  get hasFreshStrings(): boolean {
    return this.names.hasFresh || this.argNames.hasFresh || this.argTexts.hasFresh;
  }
}
