/**
 * Slices of network transfers on their way to a sink. Nine of ten slices are of this kind, so there is no call per slice. They are rows of
 * columns, and the sink takes a batch of them in one loop. A track of steps has only these slices and instants: one step at a time, and in
 * it one phase after the other. The rules of sink.ts hold here, too.
 *
 * A sink takes the waiting rows before any other event, so all events keep the order of the calls.
 */

import { assert } from '../../base/assert.js';
import type { TraceNs } from '../../base/time.js';
import { Wait } from '../../model/waits.js';
import type { Args, FlowId, SliceRef, TrackRef, TrackSink } from './sink.js';

/** What a row says. */
export const StepRow = {
  /** A slice `step` begins; its value is the step's number, the argument `step`. */
  Begin: 0,
  /** The phase before ends, if any, and this one begins; its value: bytes, NO_VALUE without this argument. */
  Phase: 1,
  /** A phase that ended when it began. */
  Brief: 2,
  /** Phase and step end; its value: the argument `peerPolls`, NO_VALUE without it. */
  End: 3,
} as const;

/** Names of slices, by the number in a row. */
export const StepName = { Step: 0, Gpu: 1, Peer: 2, Send: 3, Recv: 4, Flush: 5, NotKnown: 6 } as const;
export type StepName = (typeof StepName)[keyof typeof StepName];
/** `not known`: the record of the step's state is lost. */
export const STEP_NAMES = [
  'step',
  Wait.Gpu,
  Wait.Peer,
  Wait.Send,
  Wait.Recv,
  Wait.Flush,
  'not known',
] as const;

/** Names of the value, by what the row says. */
export const VALUE_NAMES = ['step', 'bytes', '', 'peerPolls'] as const;
export const NO_VALUE = -1;

const ROWS = 1024;
const NO_ARGS: Args = [];

export class StepSlices {
  length = 0;
  readonly track = new Uint32Array(ROWS);
  readonly what = new Uint8Array(ROWS);
  /** ns of the trace. */
  readonly at = new Float64Array(ROWS);
  /** StepName. */
  readonly name = new Uint8Array(ROWS);
  readonly value = new Float64Array(ROWS);
  /** Both 0: no arrow. */
  readonly flowHigh = new Uint32Array(ROWS);
  readonly flowLow = new Uint32Array(ROWS);
  /** Further arguments. Only an end has them. */
  readonly args: Args[] = new Array<Args>(ROWS).fill(NO_ARGS);

  /** `take` gets the number of rows. It must read them at once, because they are overwritten afterwards. */
  constructor(private readonly take: (slices: StepSlices, rows: number) => void) {}

  begin(track: TrackRef, at: TraceNs, step: number): void {
    this.add(track, StepRow.Begin, at, StepName.Step, step, null);
  }

  /** `bytes`: NO_VALUE where they are not known or not this phase's. `flow` is copied; null: no arrow. */
  phase(track: TrackRef, at: TraceNs, name: StepName, bytes: number, flow: FlowId | null): void {
    this.add(track, StepRow.Phase, at, name, bytes, flow);
  }

  brief(track: TrackRef, at: TraceNs, name: StepName, flow: FlowId | null): void {
    this.add(track, StepRow.Brief, at, name, NO_VALUE, flow);
  }

  /** `polls`: NO_VALUE: no such argument. */
  end(track: TrackRef, at: TraceNs, polls: number, args: Args): void {
    this.args[this.length] = args;
    this.add(track, StepRow.End, at, StepName.Step, polls, null);
  }

  /** The rows of another batch. */
  addAll(from: StepSlices, rows: number): void {
    for (let row = 0; row < rows; row++) {
      this.args[this.length] = from.args[row]!;
      const { track, what, at, name, value } = from;
      this.add(track[row]!, what[row]!, at[row]!, name[row]!, value[row]!, from.flowOf(row));
    }
  }

  /** Passes the waiting rows to the sink. */
  flush(): void {
    const rows = this.length;
    if (rows === 0) return;
    this.length = 0;
    this.take(this, rows);
  }

  flowOf(row: number): FlowId | null {
    const [hi, lo] = [this.flowHigh[row]!, this.flowLow[row]!];
    return hi === 0 && lo === 0 ? null : { hi, lo };
  }

  /** All arguments of a row, for sinks that take them one by one. */
  argsOf(row: number): Args {
    const value = this.value[row]!;
    const what = this.what[row]!;
    const hasValue = what === StepRow.Begin || value !== NO_VALUE;
    const own: Args = hasValue ? [[VALUE_NAMES[what]!, value]] : [];
    return what === StepRow.End ? [...own, ...this.args[row]!] : own;
  }

  private add(
    track: number,
    what: number,
    at: number,
    name: number,
    value: number,
    flow: FlowId | null,
  ): void {
    const row = this.length++;
    this.track[row] = track;
    this.what[row] = what;
    this.at[row] = at;
    this.name[row] = name;
    this.value[row] = value;
    this.flowHigh[row] = flow === null ? 0 : flow.hi;
    this.flowLow[row] = flow === null ? 0 : flow.lo;
    if (this.length === ROWS) this.flush();
  }
}

/** Passes the slices of steps one by one, for sinks that do not distinguish them from other slices. */
export class StepsOneByOne {
  /** Per track: the step, then its phase. */
  private readonly open = new Map<TrackRef, SliceRef[]>();

  constructor(private readonly sink: Pick<TrackSink, 'begin' | 'end'>) {}

  take(slices: StepSlices, rows: number): void {
    for (let row = 0; row < rows; row++) this.takeRow(slices, row);
  }

  private takeRow(slices: StepSlices, row: number): void {
    const { sink } = this;
    const track = slices.track[row] as TrackRef;
    const at = slices.at[row] as TraceNs;
    const what = slices.what[row]!;
    const args = slices.argsOf(row);
    const open = this.openOn(track);
    if (what !== StepRow.Begin && open.length === 2) sink.end(track, at, open.pop()!);
    assert((what === StepRow.Begin) === (open.length === 0), 'a step in a step, or a phase without one');
    if (what === StepRow.End) sink.end(track, at, open.pop()!, { args });
    else {
      const flow = slices.flowOf(row) ?? undefined;
      open.push(sink.begin(track, at, STEP_NAMES[slices.name[row]!]!, { args, flow }));
    }
  }

  private openOn(track: TrackRef): SliceRef[] {
    let open = this.open.get(track);
    if (!open) this.open.set(track, (open = []));
    return open;
  }
}
