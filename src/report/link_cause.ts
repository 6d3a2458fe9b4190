/** What makes a slow link slow, in one line of a verdict that names the link. */

import type { RankLabel } from '../analysis/rank_labels.js';
import type { RunNumbers } from '../analysis/run_numbers.js';
import type { SlowLinks } from '../analysis/slow_link_causes.js';
import type { LinkCause } from './diagnosed.js';
import { name } from './verdict_phrases.js';

/** The cause that accuses the sender of a slow link, or both its ends; null if the numbers show none. */
export function linkCause(
  { causes, ranks }: Pick<RunNumbers, 'causes' | 'ranks'>,
  { file, peerFile }: { readonly file: number; readonly peerFile: number },
): LinkCause | null {
  const ends: readonly RankLabel[] = [ranks[file] ?? null, ranks[peerFile] ?? null];
  // A thread without CPU time makes the links of its rank slow.
  for (const cause of causes)
    if (cause.cause === 'starved proxy thread' && ends.includes(cause.rank))
      return { says: `the proxy thread of rank ${cause.rank} gets too little CPU time`, isSure: true };
  for (const cause of causes)
    if ('ends' in cause && (ends.includes(cause.rank) || cause.ends.every((end) => ends.includes(end))))
      return { says: shortLinksText(cause), isSure: cause.cannotTell === null };
  return null;
}

function shortLinksText({ cause, rank, host, pairs, ends, channel, cannotTell }: SlowLinks): string {
  if (cause === 'slow node') return `host ${name(host ?? '')}: all ${pairs} links are slow`;
  if (cause === 'slow NIC') return `the NIC of rank ${rank}: all its ${pairs} links are slow`;
  if (cause === 'thin channel') return `channel ${channel} alone: the other channels there are not slow`;
  if (cannotTell === null) return `the link to rank ${ends[1]}: rank ${rank}'s other links are not slow`;
  if (cannotTell === 'link or NIC') return `the link or the NIC: rank ${rank} sends over no other link`;
  if (cannotTell === 'NIC or proxy thread') return `the NIC or a proxy thread: rank ${rank} receives nothing`;
  return `the link, NIC or proxy thread: rank ${rank} has no other link`;
}
