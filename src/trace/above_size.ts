/** Size of everything above the ranks: the verdict, the hosts' clocks, and the ranks without a file. These are always drawn. */

import type { Size } from './budget.js';
import { runDuration } from './duration.js';
import { missingGroups } from './missing_ranks.js';
import { boundsOf, momentsOf } from './moments.js';
import type { Scope } from './selection.js';
import type { Study } from '../study/study.js';
import { hostClocks } from './host_clocks.js';
import { shownClocks } from './tracks/clock_tracks.js';

/**
 * Bytes in the trace: for a verdict with report and link, each slice on its track, a process with one track, a clock, a piece of a
 * clock.
 */
const VERDICT_BYTES = 2500;
const MOMENT_BYTES = 70;
const MISSING_BYTES = 700;
const CLOCK_BYTES = 500;
const PIECE_BYTES = 100;

export function sizeAbove({ run, clocks, verdict }: Study, scope: Scope): Size {
  const duration = runDuration(run, clocks.solution);
  const bounds = boundsOf(scope, duration);
  const moments = 1 + momentsOf(verdict, '', { run, bounds }).waits.length;
  const missing = missingGroups(run, scope).length;
  const shown = shownClocks(hostClocks(run, clocks.solution, clocks.traffic, duration));
  const pieces = shown.reduce((sum, clock) => sum + clock.pieces.length, 0);
  return {
    slices: moments + missing + pieces,
    tracks: 1 + missing + shown.length,
    bytes:
      VERDICT_BYTES +
      moments * MOMENT_BYTES +
      missing * MISSING_BYTES +
      shown.length * CLOCK_BYTES +
      pieces * PIECE_BYTES,
  };
}
