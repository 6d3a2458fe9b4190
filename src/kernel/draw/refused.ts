/** Why an event is refused: a defect of ours, which stops the drawing. src/kernel/host/refused.ts has the sentences. */

import { refuse } from './host';
import { Track } from './tracks';

export const enum Reason {
  /** More than 90 tracks deep: `number` is how many. */
  TooDeep,
  /** An event of another kind of track: `number` is the event's kind, `other` the track's. */
  WrongKind,
  NoTime,
  /** Earlier than the track's last event, at `number`. */
  GoesBack,
  /** More than `number` slices deep. */
  TooManySlices,
  /** It ends the slice `number`, but the innermost open one is `other`; -1: none. */
  NotInnermost,
  /** A counter cannot have the value `number`. */
  NoCount,
  /** `number` is no safe integer and no finite fraction. */
  LosesDigits,
  /** A step within a step, or a phase or an end outside of one. */
  NotInStep,
}

export function refused(track: Track, at: f64, reason: Reason, number: f64 = 0, other: f64 = 0): void {
  refuse(track.number, at, reason as i32, number, reason == Reason.WrongKind ? <f64>track.kind : other);
}
