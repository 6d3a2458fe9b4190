/** A collective's or send/receive's names, equal on all ranks. */

import type { Communicator } from '../rankfile/file_types.js';

/** What all ranks of a communicator, or both ends of a send/receive, know of one work. */
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
