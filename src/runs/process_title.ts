import { foldRanks } from '../base/ranks.js';
import type { RunMember } from './run.js';

/** "rank 0003": the name of a process in the tracks of others. */
export function processTitle({ scan: { header }, ranks, isReplaced }: RunMember): string {
  if (ranks.length > 1) return `ranks ${foldRanks(ranks)}`;
  const [rank] = ranks;
  return rank === undefined
    ? `rank unknown, pid ${header.process.pid}`
    : `rank ${String(rank).padStart(4, '0')}${isReplaced ? ' (replaced)' : ''}`;
}
