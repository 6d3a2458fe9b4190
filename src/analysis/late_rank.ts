/** The rank that the verdict calls slow, with the verdict's own numbers. The report does not judge it again. */

import { around, type CauseEvidence, type LateRank } from './cause_types.js';

export function lateRank({ slow, rankOf }: CauseEvidence): LateRank | null {
  if (slow === null || slow.on === 'link') return null;
  const { file, on, course, from, to, late, of, cost, worst } = slow;
  const shown = course === 'always' ? worst.at - worst.by : from;
  return {
    cause: 'late rank',
    rank: rankOf(file),
    on,
    when: course,
    ...{ fromNs: from, toNs: to, late, of },
    costNs: Math.round(cost),
    view: around(shown, 3 * worst.by),
  };
}
