/** How much of each kind a file's trace contains. */

import type { Numbers } from '../kernel/host/numbers.js';
import type { Detail } from '../model/detail.js';
import { commKey } from '../model/identity.js';
import type { Communicator } from '../rankfile/file_types.js';
import { readTimes, type TimeCounts } from './time_counts.js';

/** The kinds of things that are drawn, with the depth of detail of each. As src/kernel/sizes.ts numbers them. */
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
const KINDS = Object.keys(DRAWN_KINDS) as DrawnKind[];

/** Belongs to no communicator: groups of calls, proxy threads. */
export const NO_COMM = '';
/** An unknown communicator: left out when communicators are selected. */
export const UNKNOWN_COMM = '?';

export interface CommSize {
  /** `commKey`, NO_COMM or UNKNOWN_COMM. */
  readonly comm: string;
  readonly counts: Readonly<Record<DrawnKind, TimeCounts>>;
}

export interface FileSize {
  readonly comms: readonly CommSize[];
  /** Rings with calls and collectives: the only ones that the detail 'coll' reads. */
  readonly callRings: ReadonlySet<number>;
}

export function readSize(numbers: Numbers, communicators: ReadonlyMap<number, Communicator>): FileSize {
  const callRings = new Set(numbers.bits());
  const free = { comm: NO_COMM, counts: readCounts(numbers) };
  const comms = numbers.list((): CommSize => {
    const known = communicators.get(numbers.next());
    return { comm: known ? commKey(known) : UNKNOWN_COMM, counts: readCounts(numbers) };
  });
  return { comms: [free, ...comms], callRings };
}

const readCounts = (numbers: Numbers): CommSize['counts'] =>
  Object.fromEntries(KINDS.map((kind) => [kind, readTimes(numbers)])) as CommSize['counts'];
