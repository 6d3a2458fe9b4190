/** What a transfer waits for in each phase. The verdict and the tracks share this enum and its names. */

import { StepPhase } from './types.js';

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
