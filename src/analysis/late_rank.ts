/** The rank that the verdict calls slow, with the verdict's own numbers. The report does not judge it again. */

import { around, type CauseEvidence, type LateRank, type SlowTaker } from './cause_types.js';

export function lateRank({ slow, rankOf }: CauseEvidence): LateRank | SlowTaker | null {
  if (slow === null || slow.on === 'link') return null;
  const { file, on, course, from, to, late, of, cost, worst, taker } = slow;
  const shown = course === 'always' ? worst.at - worst.by : from;
  const about = {
    rank: rankOf(file),
    ...{ late, of, costNs: Math.round(cost) },
    view: around(shown, 3 * worst.by),
  };
  if (taker) {
    const oneOf = (taker.node?.files ?? []).map(rankOf);
    return { ...about, cause: 'slow GPU', side: 'consumes', channel: taker.channel, oneOf };
  }
  return { ...about, cause: 'late rank', on, when: course, fromNs: from, toNs: to };
}
