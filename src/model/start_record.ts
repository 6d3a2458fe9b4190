/** One start record, as the factories see it. */

import type { Ticks } from '../base/time.js';
import type { Communicator, RecordColumns } from '../rankfile/types.js';
import type { Event, StepName } from './event_table.js';
import type { HandleKey } from './record_fields.js';

/** The file's strings, by number. */
export interface Texts {
  text(id: number): string;
}

export interface Source {
  readonly ring: number;
  readonly records: RecordColumns;
  readonly i: number;
  readonly at: Ticks;
  readonly comm: Communicator | null;
  /** Word 2's upper half: a field of its own in every start. */
  readonly detail: number;
  readonly parentKey: HandleKey;
  readonly parent: Event | StepName | undefined;
}
