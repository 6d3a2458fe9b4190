/**
 * What a trace shows of a recording besides its events: threads, lost records, the last sign. These are the reader's types, exported by the
 * model, so that the layers above need not know the reader.
 */

import { EventType } from '../rankfile/format/nccl.js';
import type { Communicator, FileFacts, Gap, Lease, Ring as WholeRing } from '../rankfile/file_types.js';
import type { TickColumns } from './on_axis.js';

export { eventTypeNames } from '../rankfile/format/nccl.js';
export type { Communicator, Gap, Lease };

export const COMM_TICKS: TickColumns<Communicator> = { init: true, finalized: true };

/** `gaps`: complete when all records have been read. */
export type Ring = Pick<WholeRing, 'ring' | 'class' | 'gaps'>;

export interface Recording extends Pick<
  FileFacts,
  'leases' | 'heartbeat' | 'header' | 'communicators' | 'changes'
> {
  readonly rings: readonly Ring[];
}

export const recordsKernels = ({ header }: Pick<Recording, 'header'>): boolean =>
  (header.eventMask & EventType.KernelCh) !== 0;
