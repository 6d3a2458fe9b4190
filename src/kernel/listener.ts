/**
 * What happens to events, in the order in which they are paired (order.ts). The scan collects it (collector.ts), the drawing draws it
 * (draw/picture.ts). `at`: the record's own tick.
 */

import { Block, Host, Op, Phase, Step, Work } from './event';
import { Records } from './record';

export abstract class Listener {
  /** `step`: the transfer of a network plugin's event. */
  abstract hostStarted(host: Host, step: Step | null, records: Records, row: i32, at: f64): void;
  /** The outermost ncclGroupEnd of a GroupApi has begun. */
  abstract groupEndStarted(host: Host, at: f64): void;
  abstract hostStopped(host: Host, at: f64): void;

  /** `call`: null if it is not known. */
  abstract workStarted(work: Work, call: Host | null, records: Records, row: i32, at: f64): void;
  abstract workEnqueued(work: Work, at: f64): void;

  /** The operation is made. Only now it may be given what other files know of it. */
  abstract opMade(op: Op): void;
  abstract opStarted(op: Op, at: f64): void;
  /** Its first state or step, or its stop. */
  abstract opAlive(op: Op): void;
  /** `bytes` more were transferred, for interfaces without step sizes (before v4). */
  abstract opBytes(op: Op, bytes: f64, at: f64): void;
  abstract opStopped(op: Op, at: f64): void;

  abstract stepStarted(step: Step, at: f64): void;
  /** It left the phase `before`. */
  abstract stepEntered(step: Step, before: Phase, at: f64): void;
  /** `byItself`: NCCL stopped it. Else its operation stopped without it. */
  abstract stepStopped(step: Step, byItself: bool, at: f64): void;

  abstract blockStarted(block: Block, records: Records, row: i32, at: f64): void;
  abstract blockStopped(block: Block, at: f64): void;

  /** A state of a proxy thread. */
  abstract ctrl(ring: i32, state: i32, at: f64): void;
}
