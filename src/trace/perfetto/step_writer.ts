/**
 * The fast path: steps and their phases as packets. It allocates nothing and checks nothing twice. Such a packet has one name, at most one
 * number and at most one arrow, so it is below 128 bytes. Anything else (a new string, arguments at the end) takes the slow path of all
 * events, with the same bytes (test/perfetto/step_writer.test.ts).
 */

import { BugError } from '../../base/assert.js';
import type { TraceNs } from '../../base/time.js';
import type { Args, FlowId, StepSink, TrackRef } from '../tracks/sink.js';
import type { Tally } from './counts.js';
import { INSTANT, SLICE_BEGIN, SLICE_END, type EventPackets } from './event_packets.js';
import type { Nesting, Track } from './nesting.js';
import type { Sequence } from './sequence.js';

/** Shared by the tracks of a block. */
export interface BlockParts {
  readonly nesting: Nesting;
  readonly tally: Tally;
  readonly packets: EventPackets;
  readonly sequenceOf: (track: Track, at: TraceNs) => Sequence;
}

const STEP = 'step';
const BYTES = 'bytes';

export class StepWriter implements StepSink {
  private isOpen = false;
  private inPhase = false;

  constructor(
    readonly track: TrackRef,
    private readonly at: Track,
    private readonly block: BlockParts,
  ) {}

  begin(at: TraceNs, step: number): void {
    if (this.isOpen) throw new BugError(`track "${this.at.name}" at ${at} ns: a step within a step`);
    this.isOpen = true;
    this.slice(at, STEP, STEP, step, null);
  }

  phase(at: TraceNs, name: string, bytes: number | null, flow: FlowId | null): void {
    this.endPhase(at);
    this.inPhase = true;
    this.slice(at, name, bytes === null ? null : BYTES, bytes ?? 0, flow);
  }

  /** One packet: an instant is a slice without a duration. */
  brief(at: TraceNs, name: string, flow: FlowId | null): void {
    this.endPhase(at);
    const { nesting, tally, packets } = this.block;
    nesting.advance(this.at, at, 'slices');
    tally.slice(this.at);
    packets.slice(this.block.sequenceOf(this.at, at), INSTANT, this.at.uuid, at, name, null, 0, flow);
  }

  end(at: TraceNs, args: Args): void {
    if (!this.isOpen) throw new BugError(`track "${this.at.name}" at ${at} ns: no step to end`);
    if (this.inPhase) this.close(at, null);
    this.isOpen = false;
    this.inPhase = false;
    this.close(at, args.length > 0 ? args : null);
  }

  private endPhase(at: TraceNs): void {
    if (!this.isOpen) throw new BugError(`track "${this.at.name}" at ${at} ns: a phase outside a step`);
    if (this.inPhase) this.close(at, null);
    this.inPhase = false;
  }

  private slice(at: TraceNs, name: string, argName: string | null, value: number, flow: FlowId | null): void {
    const { nesting, tally, packets } = this.block;
    nesting.advance(this.at, at, 'slices');
    nesting.openSlices++;
    tally.slice(this.at);
    const sequence = this.block.sequenceOf(this.at, at);
    packets.slice(sequence, SLICE_BEGIN, this.at.uuid, at, name, argName, value, flow);
  }

  private close(at: TraceNs, args: Args | null): void {
    const { nesting, tally, packets } = this.block;
    nesting.advance(this.at, at, 'slices');
    nesting.openSlices--;
    tally.event(this.at);
    const sequence = this.block.sequenceOf(this.at, at);
    if (args === null) packets.slice(sequence, SLICE_END, this.at.uuid, at, null, null, 0, null);
    else packets.event(sequence, SLICE_END, this.at.uuid, at, null, { args });
  }
}
