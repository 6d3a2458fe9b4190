/** How much of each kind a file's trace contains. */

import type { Detail } from '../model/detail.js';
import type { TimeCounts } from './time_counts.js';

/** The kinds of things that are drawn, with the depth of detail of each. */
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

/** Belongs to no communicator: groups of calls, proxy threads. */
export const NO_COMM = '';
/** An unknown communicator: left out when communicators are selected. */
export const UNKNOWN_COMM = '?';

export interface CommSize {
  /** `commKey`, NO_COMM or UNKNOWN_COMM. */
  readonly comm: string;
  readonly counts: Readonly<Record<DrawnKind, TimeCounts>>;
  /** Operations drawn as instants: NCCL never reports their end (CollNet, memcpy). */
  readonly instants: TimeCounts;
  /** Tracks by depth, without those of threads and counters. */
  readonly tracks: Readonly<Record<Detail, number>>;
  /** Rings of the threads that call ('coll'), or drive a network plugin ('step'). Communicators share them. */
  readonly threads: Readonly<Record<Threads, readonly number[]>>;
  /** It has a track of its own, also without any event. */
  readonly isInFile: boolean;
  /** Its peers with counters of their own, each way. */
  readonly peers: number;
}

export type Threads = 'coll' | 'step';

export interface FileSize {
  readonly comms: readonly CommSize[];
  /** Rings with calls and collectives: the only ones that the detail 'coll' reads. */
  readonly callRings: ReadonlySet<number>;
  /** Number of directions in which bytes went. Each has a counter of bytes and one of the rate. */
  readonly directions: number;
  /** Tracks of the recorder itself, without that of a silent process. */
  readonly recorderTracks: number;
}
