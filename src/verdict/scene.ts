/** What several rules look at. It is found once, from the evidence, before any rule judges it (make_scene.ts). */

import type { TraceNs } from '../base/time.js';
import type { Case } from './case.js';
import type { Stall } from './stall.js';
import type { Broken, Lateness, Silent, Slowness, Successor } from './types.js';

/** As a `Case`, it has no more what is over. */
export interface Scene extends Case {
  readonly asRecorded: Case;
  readonly over: readonly GivenUp[];
  /** Work that stands still. */
  readonly stalls: readonly Stall[];
  /** The same, but it may have ended in lost records. */
  readonly doubtful: readonly Stall[];
  readonly breaks: readonly Break[];
  /** What was unfinished when the job ended. */
  readonly left: readonly Stall[];
  /** Files with unfinished work, including work of which another process executes the rest (PXN). */
  readonly unfinished: readonly number[];
  /** Some rank that is not silent has unfinished work. */
  readonly isAtWork: boolean;
  readonly silent: readonly Silent[];
  /** Other silent ranks, without which the others went on long ago. No finding tells them. */
  readonly leftLongAgo: readonly Silent[];
  readonly lateness: Judged;
}

/** Work that all its ranks gave up. */
export interface GivenUp {
  readonly stall: Stall & { readonly commId: bigint };
  /** When the last of its ranks left. */
  readonly at: TraceNs;
  /** Where they went on. */
  readonly next: Successor;
}

/** Work that broke off. */
export interface Break extends Omit<Broken, 'stall' | 'wasBusy'> {
  readonly stall: Stall;
  /** False if all others finished the work, and the file may be an older copy of a live rank's file. */
  readonly isSure: boolean;
}

/** Who is late. */
export interface Judged {
  readonly slow: Slowness | null;
  /** The slow rank if the clocks were exact. */
  readonly unresolved: Lateness | null;
  /** The rank that cost most if none is called slow. */
  readonly latest: Lateness | null;
  /** Much of the run was lost to this rank, but in too few waits to distinguish a habit from chance. */
  readonly doubtful: Lateness | null;
  /** Collectives that were compared. */
  readonly compared: number;
}
