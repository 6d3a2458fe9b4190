/**
 * What a picture may want to know of a recording besides its events: whose threads, what was lost, when it was last
 * alive. The reader's own types under the model's name, so that the layers above need not know the reader.
 */

import type { Communicator, Gap, Lease, RankFile, Ring } from '../reader/types.js';

export type { Communicator, Gap, Lease, Ring };

export type Recording = Pick<RankFile, 'leases' | 'rings' | 'heartbeat' | 'header'>;
