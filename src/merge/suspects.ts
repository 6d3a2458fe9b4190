/** On whom the verdict's eye rests, and what to look at: the part of the run that is worth all details. */

import type { Verdict } from '../verdict/types.js';

/** More than this many at once say nothing about any of them. */
const MOST = 8;

/** Files, the most suspect first. */
export function suspects(verdict: Verdict): number[] {
  const files: (number | null)[] = [];
  if (verdict.kind === 'slow') files.push(verdict.slow.file);
  if (verdict.kind === 'hung') {
    const { neverEntered, different, front, silent } = verdict.hang;
    files.push(...neverEntered.map(({ file }) => file));
    // The ranks that differ may be all but the one that is wrong: few are suspects, many are witnesses.
    if (different.length <= MOST / 2) files.push(...different);
    files.push(front?.file ?? null, front?.peerFile ?? null, ...silent.map(({ file }) => file));
    for (const { standsIn } of neverEntered) files.push(standsIn?.front?.peerFile ?? null);
  }
  return [...new Set(files.filter((file) => file !== null))].slice(0, MOST);
}
