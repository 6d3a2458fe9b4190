/** The phases of a transfer, and what it waits for in each. The verdict and the tracks (src/kernel/draw/steps.ts) share these names. */

/**
 * The phase of a step. Each phase ends where the next begins. The numbers rise in NCCL's order (a step is either sent or received), so a
 * comparison finds a state that is late or repeated.
 */
export const StepPhase = {
  Posted: 0,
  SendGpuWait: 1,
  PeerWait: 2,
  SendWait: 3,
  RecvWait: 4,
  FlushWait: 5,
  RecvGpuWait: 6,
} as const;
export type StepPhase = (typeof StepPhase)[keyof typeof StepPhase];

export const Wait = {
  Posted: 'posted',
  /** Its own GPU: no data to send, or data not consumed. */
  Gpu: 'GPU wait',
  /** The receiver has no room. */
  Peer: 'peer wait',
  /** The network. */
  Send: 'send wait',
  /** The peer's data. */
  Recv: 'recv wait',
  Flush: 'flush wait',
} as const;
export type Wait = (typeof Wait)[keyof typeof Wait];

export const WAIT_OF: Readonly<Record<StepPhase, Wait>> = {
  [StepPhase.Posted]: Wait.Posted,
  [StepPhase.SendGpuWait]: Wait.Gpu,
  [StepPhase.PeerWait]: Wait.Peer,
  [StepPhase.SendWait]: Wait.Send,
  [StepPhase.RecvWait]: Wait.Recv,
  [StepPhase.FlushWait]: Wait.Flush,
  [StepPhase.RecvGpuWait]: Wait.Gpu,
};
