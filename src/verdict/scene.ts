/** What several rules look at: it is found once, from the evidence, before any rule judges it. */

import { endedInMidst, findBreaks, withoutExits, type Break } from './broken_off.js';
import type { Case, Facts } from './case.js';
import { findStalls } from './find_stalls.js';
import { findGivenUp, leftLongAgo, withoutGivenUp, type GivenUp } from './given_up.js';
import { isWorthReporting } from './is_hang.js';
import { NO_STALL, processStates, silentAmong, silentFiles } from './process_states.js';
import { slowest, type Judged } from './slowness.js';
import type { Stall } from './stall.js';
import type { Silent } from './types.js';
import { mayBeOver } from './unclear.js';

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

export function sceneOf(facts: Facts): Scene {
  const asRecorded: Case = { ...facts, processes: processStates(facts), leftBehind: new Set() };
  const over = findGivenUp(asRecorded);
  const long = leftLongAgo(asRecorded, over);
  const evidence = withoutExits(withoutGivenUp(asRecorded, over, long));
  const seeming = findStalls(evidence).filter((stall) => isWorthReporting(stall, evidence));
  const doubtful = seeming.filter((stall) => mayBeOver(stall, evidence));
  const unfinished = filesAtWork(evidence);
  const silent = silentFiles(evidence, NO_STALL);
  // Work that is unfinished only in the file of a silent rank does not show that the others are stuck.
  const isAtWork = unfinished.some((file) => !silent.some((one) => one.file === file));
  return {
    ...evidence,
    asRecorded,
    over,
    stalls: seeming.filter((stall) => !doubtful.includes(stall)),
    doubtful,
    breaks: findBreaks(evidence),
    left: isAtWork ? endedInMidst(evidence) : [],
    unfinished,
    isAtWork,
    silent,
    leftLongAgo: silentAmong(long, evidence, NO_STALL),
    lateness: slowest(evidence),
  };
}

function filesAtWork({ comms, ranks }: Case): number[] {
  const open = new Set(comms.flatMap(({ collectives }) => collectives.flatMap((one) => one.open)));
  return ranks.flatMap(({ pending: { works, inside } }, file) =>
    works.length + inside.length > 0 || open.has(file) ? [file] : [],
  );
}
