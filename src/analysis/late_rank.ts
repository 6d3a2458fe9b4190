/** When the rank that the verdict calls slow is late: always, at times, or since a moment. */

import { around, type CauseEvidence, type LateRank } from './cause_types.js';

/** A rank holds up a collective if it comes last by a good part of its usual lateness. */
const GOOD_PART = 0.25;
const MOSTLY = 0.75;
const RARELY = 0.15;
const FEWEST_ON_A_SIDE = 4;

export function lateRank({ slow, collectives, rankOf }: CauseEvidence): LateRank | null {
  if (slow === null || slow.on === 'link') return null;
  const rank = rankOf(slow.file);
  const [, ...rows] = collectives.filter(({ commId, skewNs }) => commId === slow.commId && skewNs !== null);
  const own = rows.filter(({ lateRank }) => lateRank === rank).map(({ skewNs }) => skewNs!);
  if (own.length === 0) return null;
  const much = GOOD_PART * [...own].sort((a, b) => b - a)[Math.floor(own.length / 10)]!;
  const isLate = rows.map((row) => row.lateRank === rank && row.skewNs! >= much);
  const late = isLate.filter(Boolean).length;
  const since = sinceWhen(isLate);
  const when = since !== null ? 'since a moment' : late >= MOSTLY * rows.length ? 'always' : 'at times';
  const from = since === null ? slow.worst.at - slow.worst.by : rows[since]!.startNs;
  return {
    cause: 'late rank',
    rank,
    on: slow.on,
    when,
    sinceNs: since === null ? null : rows[since]!.startNs,
    late,
    of: rows.length,
    costNs: Math.round(slow.cost),
    view: around(from, 3 * slow.worst.by),
  };
}

/** The index before which it was rarely late, and after which mostly; null: there is none. */
function sinceWhen(isLate: readonly boolean[]): number | null {
  const late = isLate.filter(Boolean).length;
  let before = 0;
  let best: { readonly index: number; readonly score: number } | null = null;
  isLate.forEach((value, index) => {
    const [early, later] = [before / Math.max(1, index), (late - before) / (isLate.length - index)];
    const score = later - early;
    const isLong = Math.min(index, isLate.length - index) >= FEWEST_ON_A_SIDE;
    if (isLong && early <= RARELY && later >= MOSTLY && score > (best?.score ?? 0)) best = { index, score };
    if (value) before++;
  });
  return (best as { readonly index: number } | null)?.index ?? null;
}
