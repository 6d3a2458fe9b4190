/** Work that is unfinished at the end of the records, but not for long. Nothing is wrong with it. */

import { maxOf } from '../base/extremes.js';
import { endOfRun } from './case.js';
import { foundBy, type Found, type Rule } from './finding.js';
import type { Scene } from './scene.js';

export const atWork: Rule = (scene, before) =>
  scene.unfinished.length > 0 &&
  foundBy(before, 'stuck', 'perhaps over', 'broke off', 'job ended').length === 0
    ? [working(scene.unfinished, true, scene)]
    : [];

/** The records of these ranks stop, and do not say whether their last work ended. */
export const perhapsAtWork: Rule = (scene) => {
  const stopped = scene.ranks.flatMap(({ life, pending }, file) =>
    !life.isClosed && !life.isAlive && pending.lastWithoutEnd.length > 0 ? [file] : [],
  );
  return scene.unfinished.length === 0 && stopped.length > 0 ? [working(stopped, false, scene)] : [];
};

function working(files: readonly number[], isUnfinished: boolean, { ranks, silent }: Scene): Found {
  const end = endOfRun(ranks);
  const moved = ranks.flatMap(({ pace }) => [...pace.lastMove.values()]);
  const working = {
    end,
    // If nothing ever moved, the stall began with the trace.
    stalledFor: moved.length === 0 ? end : end - maxOf(moved),
    files,
    isUnfinished,
    silent,
    isLive: ranks.some(({ life }) => life.isAlive),
  };
  return { rule: 'at work', verdict: { kind: 'working', working }, stands: false, isSure: false };
}
