/** What a collective or send/receive is called, in any rank's words. */

import type { Communicator } from '../rankfile/types.js';

/** What all ranks of a communicator know of one piece of work, or both ends of a send/receive. */
export interface WorkIdentity {
  readonly kind: 'Coll' | 'P2p';
  readonly comm: Communicator | null;
  readonly func: string;
  /** Coll only, else null. */
  readonly seq: number | null;
  /** P2p only, else null. */
  readonly peer: number | null;
  readonly ordinal: number;
  readonly ordinalAbsolute: boolean;
}
