/** Finds what several rules look at. */

import { endedInMidst, findBreaks, mayHaveEndedUnseen, withoutExits } from './broken_off.js';
import type { Case, Facts } from './case.js';
import { findStalls } from './find_stalls.js';
import { findGivenUp, leftLongAgo, withoutGivenUp } from './given_up.js';
import { isWorthReporting } from './is_hang.js';
import { NO_STALL, processStates, silentAmong, silentFiles } from './process_states.js';
import { slowest } from './slowness.js';
import type { Scene } from './scene.js';
import type { Stall } from './stall.js';
import { mayBeOver } from './unclear.js';

export function sceneOf(facts: Facts): Scene {
  const asRecorded: Case = { ...facts, processes: processStates(facts), leftBehind: new Set() };
  const over = findGivenUp(asRecorded);
  const long = leftLongAgo(asRecorded, over);
  const evidence = withoutExits(withoutGivenUp(asRecorded, over, long));
  const seeming = findStalls(evidence).filter((stall) => isWorthReporting(stall, evidence));
  const mayBeLeft = (stall: Stall): boolean => mayHaveEndedUnseen(stall, evidence);
  const doubtful = seeming.filter((stall) => mayBeOver(stall, evidence) || mayBeLeft(stall));
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
    left: isAtWork ? endedInMidst(evidence).filter((stall) => !mayBeLeft(stall)) : [],
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
