/** What the picture of a file consists of, and how much of each there is. */

import type { Detail } from '../trace/tracks/selection.js';
import type { TimeCounts } from './time_counts.js';

/** Kinds of what is drawn, and how deep each lies. */
export const DRAWN_KINDS = {
  call: 'coll',
  work: 'coll',
  op: 'op',
  kernel: 'op',
  ctrl: 'op',
  step: 'step',
  phase: 'step',
  net: 'step',
} as const satisfies Record<string, Detail>;
export type DrawnKind = keyof typeof DRAWN_KINDS;
export const KINDS = Object.keys(DRAWN_KINDS) as DrawnKind[];

/** What belongs to no communicator: groups of calls, proxy threads. */
export const NO_COMM = '';
/** Of a communicator that is not known: left out as soon as communicators are selected. */
export const UNKNOWN_COMM = '?';

export interface CommSize {
  /** `commKey`, NO_COMM or UNKNOWN_COMM. */
  readonly comm: string;
  readonly counts: Readonly<Record<DrawnKind, TimeCounts>>;
  /** Of the operations those that are no slices: NCCL never tells their end (CollNet, memcpy). */
  readonly instants: TimeCounts;
  readonly tracks: Readonly<Record<Detail, number>>;
}

export interface FileSize {
  readonly comms: readonly CommSize[];
  /** Rings that hold calls and collectives: all that the detail 'coll' needs to read. */
  readonly callRings: ReadonlySet<number>;
  /** With counters of their own, each way. */
  readonly peers: number;
  /** Of which records are lost: drawn where. */
  readonly lossyRings: number;
}
