/** Numbers of a job's work over many looks, while its rings lap: each collective is counted once or as unseen, and never again. */

import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import type { CollectiveRow } from '../../src/analysis/collectives.js';
import { projectFile } from '../../src/base/project.js';
import { countCollectives, WorkTotals, type Counted } from '../../src/live/work.js';
import { diagnose } from '../../src/report/diagnosis.js';
import { withWorkFolder } from '../../src/output/work_folder.js';

async function recordedRows(name: string): Promise<{ rows: readonly CollectiveRow[]; start: number }> {
  let found: { rows: readonly CollectiveRow[]; start: number } | null = null;
  await withWorkFolder(tmpdir(), undefined, () =>
    diagnose([projectFile(`samples/${name}`)], {
      jobs: 1,
      onStudied: ({ clocks }, { collectives }) =>
        (found = { rows: collectives, start: Number(clocks.solution.traceStart) / 1e9 }),
    }),
  );
  return found!;
}

const EMPTY = { ranks: [], pairs: [], channels: [], p2p: [] };

/** Looks at the rows [from, to), as rings would hold them. `change`: what a look sees of a row. */
function looks(
  rows: readonly CollectiveRow[],
  start: number,
  windows: readonly (readonly [from: number, to: number])[],
  change: (row: CollectiveRow, look: number, isLast: boolean) => CollectiveRow = (row) => row,
): WorkTotals {
  const totals = new WorkTotals();
  windows.forEach(([from, to], look) => {
    const seen = rows.slice(from, to).map((row, i) => change(row, look, from + i === to - 1));
    // The clocks of each look are solved anew.
    const counted = countCollectives(seen, start + look * 1e-6, totals.counted);
    totals.take({ ...counted, seen: EMPTY });
  });
  return totals;
}

const numberOf = (totals: WorkTotals): number =>
  totals.groups.reduce(
    (sum, { outcomes }) => sum + Object.values(outcomes).reduce((all, count) => all + count, 0),
    0,
  );
const unseenOf = (totals: WorkTotals): number => totals.functions.reduce((sum, one) => sum + one.unseen, 0);
const pendingOf = (counted: readonly Counted[]): number =>
  counted.reduce((sum, { pending }) => sum + pending.length, 0);

it('overlapping looks count each collective once; what was overwritten between them is unseen', async () => {
  const { rows, start } = await recordedRows('straggler');
  expect(rows).toHaveLength(14);
  const once = looks(rows, start, [[0, 14]]);
  expect([numberOf(once), unseenOf(once)]).toEqual([14, 0]);
  const overlapping = looks(rows, start, [[0, 6], [2, 9], [2, 9], [5, 14]]); // prettier-ignore
  const sums = (totals: WorkTotals): unknown =>
    totals.groups
      .map(({ sizeClass, tallies, bytes }) => ({ sizeClass, bytes, tallies: tallies.busbw.counts }))
      .sort((a, b) => a.sizeClass! - b.sizeClass!);
  expect(sums(overlapping)).toEqual(sums(once));
  expect([numberOf(overlapping), unseenOf(overlapping)]).toEqual([14, 0]);
  const lapped = looks(rows, start, [[2, 5], [7, 9], [8, 14]]); // prettier-ignore
  expect([numberOf(lapped), unseenOf(lapped)]).toEqual([10, 4]);
});

it('what has not ended, or is in the file of one rank only, is counted later', async () => {
  const { rows, start } = await recordedRows('straggler');
  const windows = [[0, 4], [1, 8], [3, 14]] as const; // prettier-ignore
  const open = looks(rows, start, windows, (row, look, isLast) =>
    isLast && look < 2 ? { ...row, outcome: 'open', durationNs: null } : row,
  );
  expect([numberOf(open), unseenOf(open), pendingOf(open.counted)]).toEqual([14, 0, 0]);
  const partial = looks(rows, start, windows, (row, look, isLast) =>
    isLast && look < 2 ? { ...row, ranks: 3, durationNs: 1 } : row,
  );
  expect(partial.groups.map(({ tallies }) => tallies.duration.sum)).toEqual(
    open.groups.map(({ tallies }) => tallies.duration.sum),
  );
  const overwritten = looks(
    rows,
    start,
    [
      [0, 4],
      [4, 14],
    ],
    (row, look, isLast) =>
      // prettier-ignore
      isLast && look === 0 ? { ...row, outcome: 'open', durationNs: null } : row,
  );
  expect([numberOf(overwritten), unseenOf(overwritten)]).toEqual([13, 1]);
});

it('replays of a captured graph have one number, and are counted each', async () => {
  const { rows, start } = await recordedRows('graph');
  expect(rows.filter(({ replay }) => replay > 0).length).toBeGreaterThan(5);
  const half = rows.length >> 1;
  const totals = looks(rows, start, [[0, rows.length - half], [half >> 1, rows.length], [half >> 1, rows.length]]); // prettier-ignore
  const over = rows.filter(({ outcome }) => outcome !== 'open');
  expect(numberOf(totals)).toBe(over.length);
});
