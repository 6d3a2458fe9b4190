/**
 * Records that fit no event or are unknown to this version, counted by cause (src/kernel/odd.ts), so that no late, repeated, foreign or new
 * record is dropped without a count.
 */

export interface OddCounts {
  /** States and stops of events that began before the ring's window. They are normal. */
  beganBefore: number;
  /** States and stops after the event's stop, or of events that are not in the file. */
  afterStop: number;
  /** States and stops with handles of other processes. */
  foreign: number;
  /** States that a step had already left, except polls of state 20. */
  repeatedStates: number;
  /** Second stops of queue pairs: one when it is done, one with its request. They are expected. */
  netStopsAgain: number;
  /** Completions of kernels without a reported start. NCCL reports them under the kernel before. */
  kernelsWithoutStart: number;
  /** Impossible parents: events of earlier work. */
  staleParents: number;
  /** Operations and kernels that NCCL started again while they were in flight. */
  startsAgain: number;
  /** Events started after their communicator's finalize, except those of proxy threads. */
  afterFinalize: number;
  /** Steps that ended with their operation, without an own stop. */
  stepsWithoutStop: number;
  /** Unknown states and event types, with their numbers: "ProxyStep state 99", "event type 0x40000". */
  readonly unknown: Map<string, number>;
}
