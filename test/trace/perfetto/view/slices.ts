/**
 * The importer's slice stack, one per track, rule for rule (its SliceTracker): an END closes the innermost open slice
 * that its name and category do not exclude, finished slices stay on the stack until time has passed them, and
 * overlaps are bent into nesting, mostly in silence.
 */

import type { Event } from './events.js';
import type { Problems, ViewSlice, ViewTrack } from './types.js';

const MAX_DEPTH = 512;
const PENDING = -1n;

interface Suspect {
  readonly slice: ViewSlice;
  readonly around: ViewSlice;
  readonly packet: number;
}

export class Slices {
  readonly list: ViewSlice[] = [];
  private readonly stacks = new Map<ViewTrack, ViewSlice[]>();
  private readonly suspects: Suspect[] = [];

  constructor(private readonly problems: Problems) {}

  begin = (track: ViewTrack, event: Event): ViewSlice | undefined => this.start(track, event, PENDING);

  instant = (track: ViewTrack, event: Event): ViewSlice | undefined => this.start(track, event, 0n);

  end(track: ViewTrack, event: Event): ViewSlice | undefined {
    const stack = this.stack(track);
    this.dropFinished(stack, event, PENDING);
    const index = stack.findLastIndex(
      (slice) =>
        slice.dur === PENDING && (event.name === null || slice.name === null || event.name === slice.name),
    );
    const slice = stack[index];
    if (slice === undefined) {
      const what = stack.length === 0 ? 'END on empty stack' : 'END matches no open slice';
      this.problems.add(what, event.packet, track.path.join(' > '));
      return undefined;
    }
    slice.dur = event.ts - slice.ts;
    Object.assign(slice.args, event.args);
    slice.flows.push(...event.flows, ...event.endingFlows);
    slice.correlation = event.correlation ?? slice.correlation;
    const around = stack[index - 1];
    if (slice.dur === 0n && around && event.name === null) {
      this.suspects.push({ slice, around, packet: event.packet });
    }
    if (index === stack.length - 1) stack.pop();
    return slice;
  }

  /**
   * An END at the very time of a BEGIN before it closes that slice, with duration 0. If it was meant for the slice
   * around it, the two have silently swapped durations; only the writer can know.
   */
  reportSuspects(): void {
    for (const { slice, around, packet } of this.suspects) {
      const endsTogether = around.dur !== PENDING && around.ts + around.dur === slice.ts;
      if (!endsTogether) this.problems.add('equal-ts order', packet, `${around.name} around ${slice.name}`);
    }
  }

  private start(track: ViewTrack, event: Event, dur: bigint): ViewSlice | undefined {
    const stack = this.stack(track);
    this.dropFinished(stack, event, dur);
    if (stack.length >= MAX_DEPTH) {
      this.problems.add('slice_max_depth_exceeded', event.packet, track.path.join(' > '));
      return undefined;
    }
    const slice: ViewSlice = {
      track,
      name: event.name,
      ts: event.ts,
      dur,
      depth: stack.length,
      // A peer wait that ended as it began is written as an instant, and read as a slice without a duration.
      isInstant: dur === 0n && event.name !== 'peer wait',
      args: { ...event.args },
      flows: [...event.flows, ...event.endingFlows],
      correlation: event.correlation,
    };
    stack.push(slice);
    this.list.push(slice);
    return slice;
  }

  private dropFinished(stack: ViewSlice[], event: Event, newDur: bigint): void {
    let hasPendingAbove = false;
    for (let i = stack.length - 1; i >= 0; i--) {
      const slice = stack[i];
      if (slice === undefined || slice.dur === PENDING) {
        hasPendingAbove = true;
        continue;
      }
      const end = slice.ts + slice.dur;
      if (hasPendingAbove) {
        if (event.ts <= end) continue;
        this.problems.add('misplaced_end_event', event.packet, `${slice.name}`);
        for (const child of stack.splice(i).slice(1)) child.dur = end - child.ts;
        hasPendingAbove = false;
      } else if (end < event.ts || (end === event.ts && !(slice.dur === 0n && newDur === 0n))) {
        stack.pop();
      }
    }
  }

  private stack(track: ViewTrack): ViewSlice[] {
    const known = this.stacks.get(track);
    if (known) return known;
    const stack: ViewSlice[] = [];
    this.stacks.set(track, stack);
    return stack;
  }
}
