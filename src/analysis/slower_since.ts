/** Everything takes longer since a moment: all kinds of collectives together, each compared with its own kind. */

import { around, type CauseEvidence, type SlowerSince } from './cause_types.js';
import { changePoint } from './change_point.js';
import { byKind, type CollectiveRow } from './collectives.js';
import { medianOf } from '../base/quantile.js';

interface Timed {
  readonly row: CollectiveRow;
  readonly kind: string;
  /** Logarithm of the time, relative to the median of its kind. */
  readonly log: number;
}

export function slowerSince({ collectives }: CauseEvidence): SlowerSince | null {
  const kinds = byKind(collectives.filter(({ durationNs }) => durationNs !== null && durationNs > 0));
  const all = [...kinds].flatMap(([kind, [, ...rows]]): Timed[] => {
    const usual = medianOf(rows.map(({ durationNs }) => durationNs!));
    return rows.map((row) => ({ row, kind, log: Math.log(row.durationNs! / usual) }));
  });
  all.sort((a, b) => a.row.startNs - b.row.startNs);
  const change = changePoint(all.map(({ log }) => log));
  if (change === null) return null;
  const [before, after] = [all.slice(0, change.index), all.slice(change.index)];
  const seen = [...kinds.keys()].flatMap((kind) => {
    const [a, b] = [before, after].map((side) =>
      side.filter((one) => one.kind === kind).map(({ row }) => row.durationNs!),
    ) as [number[], number[]];
    return a.length > 0 && b.length > 0 ? [{ rows: b.length, rise: medianOf(b) - medianOf(a) }] : [];
  });
  const sinceNs = after[0]!.row.startNs;
  const length = medianOf(after.map(({ row }) => row.durationNs!));
  return {
    cause: 'slower since',
    sinceNs,
    factor: Number(change.factor.toPrecision(3)),
    before: before.length,
    after: after.length,
    slowerKinds: seen.filter(({ rise }) => rise > 0).length,
    kinds: seen.length,
    costNs: Math.round(seen.reduce((sum, { rows, rise }) => sum + rows * Math.max(0, rise), 0)),
    view: around(sinceNs, 3 * length),
  };
}
