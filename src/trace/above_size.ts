/** Size of everything above the ranks, always drawn: the verdict, and the ranks without a file. */

import type { Size } from './budget.js';
import { runDuration } from './duration.js';
import { missingGroups } from './missing_ranks.js';
import { boundsOf, momentsOf } from './moments.js';
import type { Scope } from './selection.js';
import type { Study } from '../study/study.js';

/** Bytes as written: a verdict with report and link, each further slice of it, a process with one track. */
const VERDICT_BYTES = 2500;
const MOMENT_BYTES = 250;
const MISSING_BYTES = 700;

export function sizeAbove({ run, comms, clocks, verdict }: Study, scope: Scope): Size {
  const bounds = boundsOf(scope, runDuration(run, clocks.solution));
  const moments = momentsOf(verdict, '', { run, comms, bounds }).all.length;
  const missing = missingGroups(run, scope).length;
  return {
    slices: moments + missing,
    tracks: 1 + missing,
    bytes: VERDICT_BYTES + moments * MOMENT_BYTES + missing * MISSING_BYTES,
  };
}
