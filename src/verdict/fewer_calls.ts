/** Ranks that called fewer collectives than others: they never made the next call. */

import { maxOf } from '../base/extremes.js';
import { addTo } from '../base/grouped.js';
import { hex64 } from '../base/hex.js';
import type { TraceNs } from '../base/time.js';
import { SHORTEST_HANG } from './absence.js';
import { laterBy, type Case } from './case.js';
import { byFile, callersByComm, evidenceAt, shapeAt, type Placed } from './placed_calls.js';
import type { Behind } from './types.js';

/** Ranks that certainly had not made a call one second after another rank made it. The rank with the fewest calls comes first. */
export function behindOthers(evidence: Case): Behind[] {
  const { ranks } = evidence;
  const all = [...callersByComm(ranks)].flatMap(([commId, sections]) =>
    sections.map((callers) => [commId, callers] as const),
  );
  return all.flatMap(([commId, callers]) => {
    const most = furthest(callers);
    if (!most) return [];
    const byEnd = new Map<number, Placed[]>();
    for (const caller of callers) {
      const { file, end, calls } = caller;
      if (end >= most.end || end < most.from) continue;
      const knownUntil = Math.min(ranks[file]!.reach.knownUntil, calls.until);
      const call = most.calls.at(end - most.from);
      if (laterBy([file, knownUntil], [most.file, call], evidence) < SHORTEST_HANG) continue;
      addTo(byEnd, end, caller);
    }
    const fewestFirst = [...byEnd].sort(([a], [b]) => a - b);
    return fewestFirst.map(([end, fewer]) => {
      const made = callers.filter((one) => one.end > end);
      return {
        commId: hex64(commId),
        comm: most.name,
        nRanks: most.nRanks,
        by: most.end - end,
        ahead: [...new Set(made.map(({ file }) => file))],
        newest: maxOf(made.map((one) => evidenceAt(one, one.end - 1).at)) as TraceNs,
        files: [...new Set(fewer.map(({ file }) => file))],
        callers: byFile(fewer).map(([{ file }, some]) => ({ file, ...some })),
        ...shapeAt(most, end),
        ...evidenceAt(most, end),
      };
    });
  });
}

function furthest(callers: readonly Placed[]): Placed | null {
  return callers.reduce<Placed | null>((a, b) => (a === null || b.end > a.end ? b : a), null);
}
