/**
 * Titles of groups on the first screen. The cluster's title has the verdict. The title of a suspect's process ends with its label. The UI
 * shows about 32 characters of a title. The track's description has the rest.
 */

import { foldRanks } from '../base/ranks.js';
import { SUSPECT_LABELS, type SuspectLabel } from '../base/suspect_labels.js';
import type { Verdict } from '../verdict/types.js';
import type { RunMember } from '../runs/run.js';
import { suspectsOf } from '../verdict/facts/suspects.js';

/** Width of a group's title in the UI. */
export const TITLE_CHARACTERS = 32;

export const KIND: Readonly<Record<Verdict['kind'], string>> = {
  hung: 'HUNG',
  waiting: 'WAITING',
  broken: 'BROKEN OFF',
  mismatch: 'MISMATCH',
  slow: 'SLOW',
  unclear: 'UNCLEAR',
  working: 'WORKING',
  healthy: 'HEALTHY',
  nothing: 'NOTHING TO JUDGE',
};

/**
 * The same colour in every trace: red, violet, yellow, blue and green. The UI (v58) takes the hue of a slice from a hash of "tp:#" and its
 * correlation id. No collective has one of these: theirs are hashes of 53 bits.
 */
export const COLOUR: Readonly<Record<Verdict['kind'], number>> = {
  hung: 370,
  waiting: 4482,
  broken: 252,
  mismatch: 1808,
  slow: 3171,
  unclear: 3083,
  working: 1252,
  healthy: 1252,
  nothing: 3083,
};

/** "Cluster: HUNG, rank 7 silent"; `missing`: ranks without a file that the verdict names. */
export function clusterTitle(
  verdict: Verdict,
  members: readonly Pick<RunMember, 'ranks'>[],
  missing: readonly number[],
): string {
  const title = `Cluster: ${KIND[verdict.kind]}`;
  const accused = suspectsOf(verdict);
  const ranksWith = (label: SuspectLabel): (number | null)[] =>
    label === 'NO FILE'
      ? [...missing]
      : accused.filter((one) => one.label === label).flatMap(({ file }) => ranksOf(members[file]!));
  const label = SUSPECT_LABELS.find((one) => ranksWith(one).length > 0);
  if (label === undefined) return title;
  const ranks = ranksWith(label);
  const ways = [
    `${ranksText(ranks)} ${label.toLowerCase()}`,
    // The rank is more important than its label, because its process's title has the label, too.
    ranksText(ranks),
    `${ranks.length} ${label.toLowerCase()}`,
  ];
  const fitting = ways.map((who) => `${title}, ${who}`).find((one) => one.length <= TITLE_CHARACTERS);
  return fitting ?? title;
}

const ranksOf = ({ ranks }: Pick<RunMember, 'ranks'>): readonly (number | null)[] =>
  ranks.length === 0 ? [null] : ranks;

const ranksText = (ranks: readonly (number | null)[]): string =>
  `${ranks.length === 1 ? 'rank' : 'ranks'} ${foldRanks(ranks)}`;

/** "rank 0007 · host · gpu7 · SILENT". Parts that do not fit before the label are left out, the least important first. */
export function processName(
  parts: readonly [title: string, ...more: string[]],
  label: SuspectLabel | null,
): string {
  const whole = [...parts, ...(label === null ? [] : [label])];
  while (label !== null && whole.length > 2 && whole.join(' · ').length > TITLE_CHARACTERS)
    whole.splice(1, 1);
  return whole.join(' · ');
}
