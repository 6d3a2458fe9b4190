/**
 * The steps in flight, by handle. Four of five records are of steps, so a record finds its step without a map: NCCL has some hundred steps
 * in flight, and their handles lie close together. A step moves to a map if it is still open after many later handles.
 */

import { Op, Phase, Step } from './event';
import { NCCL_STEPS } from './numbers';

const PLACES: i32 = 1 << 12;

/** A repeated start may mean one of this many newest steps of an operation. */
const RECENT_STEPS: i32 = 2 * NCCL_STEPS;

@unmanaged
class Place {
  /** 0: none. A file's tag is never 0. */
  handle: u64;
  step: usize;
  /** Which use of the row it names. */
  use: u32;
}

/** What a handle names. */
export const enum Found {
  NoStep,
  /** A step that ended with its operation. */
  EndedStep,
  Step,
}

export class StepHandles {
  /** The step of the newest `find`. */
  found: Step | null = null;

  private readonly places: usize = heap.alloc(PLACES * offsetof<Place>());
  /** Rows of handles whose place was taken by another handle. */
  private readonly displaced: Map<u64, Step> = new Map<u64, Step>();
  /** All rows, also those that are free. */
  readonly rows: Step[] = [];
  private readonly free: Step[] = [];

  constructor() {
    memory.fill(this.places, 0, PLACES * offsetof<Place>());
  }

  /** A row for the step of that handle. */
  add(handle: u64, op: Op, number: i32, at: f64): Step {
    const free = this.free;
    const step = free.length > 0 ? free.pop() : this.newRow(op);
    step.op = op;
    step.isInFlight = true;
    step.number = number;
    step.start = at;
    step.phase = Phase.Posted;
    step.phaseSince = at;
    step.filled = NaN;
    step.bytes = NaN;
    step.lastPoll = NaN;
    step.polls = 0;
    step.arrived = NaN;
    step.sendEnd = null;
    step.startRepeats = 0;
    step.lastStartRepeat = NaN;
    step.slot = null;
    this.name(handle, step);
    return step;
  }

  /** Adds a handle to a row. */
  name(handle: u64, step: Step): void {
    const place = this.placeOf(handle);
    if (place.handle != 0) {
      const before = changetype<Step>(place.step);
      if (place.use == before.use) this.displace(place.handle, before);
    }
    place.handle = handle;
    place.step = changetype<usize>(step);
    place.use = step.use;
  }

  find(handle: u64): Found {
    const place = this.placeOf(handle);
    if (place.handle == handle && handle != 0) {
      const step = changetype<Step>(place.step);
      this.found = step;
      return place.use == step.use ? Found.Step : Found.EndedStep;
    }
    if (this.displaced.size == 0 || !this.displaced.has(handle)) return Found.NoStep;
    this.found = this.displaced.get(handle);
    return Found.Step;
  }

  /** Call it when no more records use this handle. */
  forget(handle: u64): void {
    const place = this.placeOf(handle);
    if (place.handle == handle) place.handle = 0;
    else this.displaced.delete(handle);
  }

  /** Takes the row from its operation. Another step may use it from now on. */
  end(step: Step): void {
    remove(step.op.openSteps, step);
    step.use++;
    step.isInFlight = false;
    this.free.push(step);
    const displaced = step.displaced;
    if (displaced === null) return;
    for (let i = 0; i < displaced.length; i++) {
      const handle = displaced[i];
      if (this.displaced.has(handle) && this.displaced.get(handle) === step) this.displaced.delete(handle);
    }
    step.displaced = null;
  }

  /** The newest step in flight of an operation with that number; null. */
  openStepOf(op: Op, number: i32): Step | null {
    const openSteps = op.openSteps;
    const oldest = max(0, openSteps.length - RECENT_STEPS);
    for (let i = openSteps.length - 1; i >= oldest; i--)
      if (unchecked(openSteps[i]).number == number) return unchecked(openSteps[i]);
    return null;
  }

  private newRow(op: Op): Step {
    const step = new Step(op);
    this.rows.push(step);
    return step;
  }

  private displace(handle: u64, step: Step): void {
    this.displaced.set(handle, step);
    const displaced = step.displaced;
    if (displaced === null) step.displaced = [handle];
    else displaced.push(handle);
  }

  /** Handles of one ring count up by 2 or more. Those of different rings differ in the upper word. */
  @inline
  private placeOf(handle: u64): Place {
    const place = (((<u32>handle) >> 1) ^ (<u32>(handle >> 32) * 0x9e5)) & (PLACES - 1);
    return changetype<Place>(this.places + place * offsetof<Place>());
  }
}

/** The step is nearly always the oldest, or the newest where its operation ends all of them. */
function remove(steps: Step[], step: Step): void {
  const newest = steps.length - 1;
  let at = newest >= 0 && steps[newest] === step ? newest : steps.indexOf(step);
  if (at < 0) return;
  for (; at < steps.length - 1; at++) unchecked((steps[at] = unchecked(steps[at + 1])));
  steps.pop();
}
