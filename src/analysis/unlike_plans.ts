/**
 * Finds collectives with an unusual algorithm or protocol that take longer. It differs from that of their peers (same communicator,
 * function and size), or between their own ranks. Times count from the last arrival. A few such collectives show nothing.
 */

import { addTo } from '../base/grouped.js';
import { around, callsOf, causeOf, type CauseEvidence } from './cause_evidence.js';
import { type CollectiveRow, tookAlone as took } from './collectives.js';
import { slowerThan } from './slower_than.js';

const FEWEST = 4;
const FEWEST_PEERS = 12;

export function unlikePlans({ collectives, durationNs }: CauseEvidence) {
  const timed = collectives.filter((row) => row.plan !== '' && took(row) > 0);
  const kinds = groups(timed, ({ commId, func, bytes }) => `${commId} ${func} ${bytes}`);
  return kinds.flatMap(([, ...rows]) => {
    const [peers = [], ...others] = groups(rows, ({ plan }) => plan).sort((a, b) => b.length - a.length);
    if (peers.length < FEWEST_PEERS) return [];
    return others.flatMap((some) => {
      const [first] = some as [CollectiveRow];
      const { bytes, plan, startNs } = first;
      const usual = peers[0]!.plan;
      const compared = rows.flatMap((row) =>
        row.plan === plan || row.plan === usual ? [{ ns: took(row), mayBeLonger: row.plan === plan }] : [],
      );
      const slower = some.length < FEWEST ? null : slowerThan(compared, durationNs);
      if (slower === null) return [];
      const counts = { count: some.length, peers: peers.length, factor: slower.factor };
      const about = { bytes, plan, usual, ...counts, view: around(startNs, 2 * took(first)) };
      return [causeOf('unlike algorithm', about, { where: callsOf(first), cost: slower.costNs })];
    });
  });
}

function groups(rows: readonly CollectiveRow[], by: (row: CollectiveRow) => string): CollectiveRow[][] {
  const found = new Map<string, CollectiveRow[]>();
  for (const row of rows) addTo(found, by(row), row);
  return [...found.values()];
}
