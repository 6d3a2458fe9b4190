/**
 * A filter between the pairing and a rank's drawing. It passes events of the selected communicators. Steps are the most frequent events, so
 * it passes only steps within the detail and the window. A group of calls belongs to no single communicator and always passes. Events of
 * proxy threads always pass, too.
 */

import { STARTED, StepEvents, type StepListener } from '../../model/step_events.js';
import type { StepTable } from '../../model/step_table.js';
import { belongsToNoComm, callComm } from '../../model/host_span.js';
import { commKey } from '../../model/identity.js';
import type { Ticks, TraceNs } from '../../base/time.js';
import type { Communicator } from '../../model/recording.js';
import type { CtrlState, HostSpan, Kernel, OddRecord, Op, Work, WorkListener } from '../../model/types.js';
import { type DrawPlan } from './selection.js';

type Picture = WorkListener & StepListener;

export class SelectedEvents implements Picture {
  private readonly known = new Map<Communicator, boolean>();
  private readonly chosen = new StepEvents();

  constructor(
    private readonly picture: Picture,
    private readonly plan: DrawPlan,
    private readonly time: (at: Ticks) => TraceNs,
  ) {}

  hostStart(span: HostSpan, at: Ticks): void {
    if (this.hasCall(span)) this.picture.hostStart(span, at);
  }

  hostStop(span: HostSpan, at: Ticks): void {
    if (this.hasCall(span)) this.picture.hostStop(span, at);
  }

  workStart(work: Work, at: Ticks): void {
    if (this.has(work.comm)) this.picture.workStart(work, at);
  }

  workEnqueued(work: Work, at: Ticks): void {
    if (this.has(work.comm)) this.picture.workEnqueued(work, at);
  }

  opStart(op: Op, at: Ticks): void {
    if (this.has(op.comm)) this.picture.opStart(op, at);
  }

  opAlive(op: Op): void {
    if (this.has(op.comm)) this.picture.opAlive(op);
  }

  opBytes(op: Op, bytes: number, at: Ticks): void {
    if (this.has(op.comm)) this.picture.opBytes(op, bytes, at);
  }

  opStop(op: Op, at: Ticks): void {
    if (this.has(op.comm)) this.picture.opStop(op, at);
  }

  /** A step whose start was not passed on only counts its bytes. */
  steps(steps: StepTable, events: StepEvents): void {
    const { what, row, at, from, length } = events;
    const { chosen } = this;
    const window = this.plan.windows.step;
    for (let i = 0; i < length; i++) {
      if (!this.has(steps.op[row[i]!]!.comm)) continue;
      const isStart = what[i] === STARTED;
      if (isStart && (window === null || this.time(at[i] as Ticks) > window.to)) continue;
      chosen.add(what[i]!, row[i]!, at[i]!, from[i]!);
    }
    this.picture.steps(steps, chosen);
    chosen.length = 0;
  }

  kernelStart(kernel: Kernel, at: Ticks): void {
    if (this.has(kernel.comm)) this.picture.kernelStart(kernel, at);
  }

  kernelStop(kernel: Kernel, at: Ticks): void {
    if (this.has(kernel.comm)) this.picture.kernelStop(kernel, at);
  }

  ctrl(ring: number, state: CtrlState, at: Ticks, value: number | null): void {
    this.picture.ctrl(ring, state, at, value);
  }

  oddRecord(odd: OddRecord, at: Ticks): void {
    this.picture.oddRecord(odd, at);
  }

  private hasCall(span: HostSpan): boolean {
    return belongsToNoComm(span) || this.has(callComm(span));
  }

  private has(comm: Communicator | null): boolean {
    const { comms } = this.plan;
    if (comms === null) return true;
    if (comm === null) return false;
    let selected = this.known.get(comm);
    if (selected === undefined) {
      selected = comms.has(commKey(comm));
      this.known.set(comm, selected);
    }
    return selected;
  }
}
