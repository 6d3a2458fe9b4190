/**
 * Finds communicators that slow each other down. Collectives of a kind take longer if a collective of another communicator begins at the
 * same time, each within the other kind's least time. Only beginnings count, because a loaded machine makes both long, and long collectives
 * overlap more often. A collective that overlaps an older one counts on neither side. Times count from the last arrival, so a late rank is
 * no contention. It is not known whether the communicators share a wire or a GPU.
 */

import { minOf } from '../base/extremes.js';
import { around, callsOf, causeOf, type CauseEvidence } from './cause_evidence.js';
import { byKind, type CollectiveRow } from './collectives.js';
import { slowerThan } from './slower_than.js';

const FEWEST = 12;

interface Busy {
  readonly row: CollectiveRow;
  readonly from: number;
  readonly to: number;
}

export function contention(evidence: CauseEvidence) {
  const { collectives } = evidence;
  const busy = collectives.flatMap((row): Busy[] => {
    const { startNs, durationNs: took, skewNs } = row;
    if (took === null || skewNs === null || took <= skewNs) return [];
    return [{ row, from: startNs + skewNs, to: startNs + took }];
  });
  if (new Set(busy.map(({ row }) => row.commId)).size < 2) return [];
  const times = new Map(busy.map((one) => [one.row, one]));
  const kinds = [...byKind(busy.map(({ row }) => row)).values()];
  const others = begunTogether(busy, kinds, times);
  return kinds.flatMap(([, ...rows]) => contentionOf(rows, times, others, evidence));
}

/** By collective: the collectives of other communicators that began with it. A collective that overlaps only older ones is left out. */
function begunTogether(
  busy: readonly Busy[],
  kinds: readonly (readonly CollectiveRow[])[],
  times: ReadonlyMap<CollectiveRow, Busy>,
): Map<CollectiveRow, readonly CollectiveRow[]> {
  const least = new Map(
    kinds.flatMap((rows) => {
      const shortest = minOf(rows.map((row) => times.get(row)!.to - times.get(row)!.from));
      return rows.map((row) => [row, shortest] as const);
    }),
  );
  const sorted = [...busy].sort((a, b) => a.from - b.from);
  let open: Busy[] = [];
  return new Map(
    sorted.flatMap((one, i) => {
      open = [...open.filter(({ to }) => to > one.from), one];
      let next = i + 1;
      while (next < sorted.length && sorted[next]!.from < one.from + least.get(one.row)!) next++;
      const met = [...open, ...sorted.slice(i + 1, next)].filter(({ row }) => row.commId !== one.row.commId);
      const together = met.filter(({ from, row }) => from + least.get(row)! > one.from);
      if (met.length > 0 && together.length === 0) return [];
      return [[one.row, together.map(({ row }) => row)] as const];
    }),
  );
}

function contentionOf(
  rows: readonly CollectiveRow[],
  times: ReadonlyMap<CollectiveRow, Busy>,
  others: ReadonlyMap<CollectiveRow, readonly CollectiveRow[]>,
  { durationNs }: CauseEvidence,
) {
  const took = (row: CollectiveRow): number => times.get(row)!.to - times.get(row)!.from;
  const isAlone = (row: CollectiveRow): boolean => others.get(row)?.length === 0;
  const together = rows.filter((row) => others.has(row) && !isAlone(row));
  const alone = rows.filter(isAlone);
  if (together.length < FEWEST || alone.length < FEWEST) return [];
  const compared = rows.filter((row) => others.has(row));
  const slower = slowerThan(
    compared.map((row) => ({ ns: took(row), mayBeLonger: !isAlone(row) })),
    durationNs,
  );
  if (slower === null) return [];
  const most = commonest(together.flatMap((row) => others.get(row)!));
  const worst = together.reduce((a, b) => (took(b) > took(a) ? b : a));
  const about = {
    ...{ with: most.comm, withId: most.commId, factor: slower.factor },
    ...{ together: together.length, alone: alone.length, view: around(worst.startNs, 2 * took(worst)) },
  };
  return [causeOf('contention', about, { where: callsOf(rows[0]!), cost: slower.costNs })];
}

/** The row that comes most often, by communicator. */
function commonest(rows: readonly CollectiveRow[]): CollectiveRow {
  const counts = new Map<string, number>();
  for (const { commId } of rows) counts.set(commId, (counts.get(commId) ?? 0) + 1);
  return rows.reduce((a, b) => (counts.get(b.commId)! > counts.get(a.commId)! ? b : a));
}
