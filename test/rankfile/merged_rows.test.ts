/** The merged order: by (tick, ring, position), and the rows of a ring keep their order. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { mergedRows } from '../../src/rankfile/merged_rows.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { read } from './read.js';

/** "0:0-2" is rows 0 and 1 of ring 0. */
function merged(ticksByRing: readonly (readonly number[])[]): string[] {
  const file = new RankFileBuilder();
  for (const ticks of ticksByRing) {
    const ring = file.ring('host', 128);
    for (const tick of ticks) ring.stop(tick, 0n);
  }
  return Array.from(mergedRows(read(file)), ({ ring, from, end }) => `${ring}:${from}-${end}`);
}

describe('merged rows', () => {
  it('are right for no ring, for empty rings and for one ring', () => {
    expect(merged([])).toEqual([]);
    expect(merged([[], []])).toEqual([]);
    expect(merged([[], [1, 2, 3]])).toEqual(['1:0-3']);
  });

  it('are as long as they can be', () => {
    expect(
      merged([
        [1, 2, 7],
        [3, 4, 5],
        [6, 8],
      ]),
    ).toEqual(['0:0-2', '1:0-3', '2:0-1', '0:2-3', '2:1-2']);
  });

  it('at equal ticks: the lower ring first', () => {
    expect(
      merged([
        [5, 5, 6],
        [5, 5, 6],
      ]),
    ).toEqual(['0:0-2', '1:0-2', '0:2-3', '1:2-3']);
    expect(merged([[6], [5, 6]])).toEqual(['1:0-1', '0:0-1', '1:1-2']);
  });

  it('keep the order of a shared ring whose ticks step back', () => {
    expect(
      merged([
        [10, 3, 20],
        [5, 10, 15],
      ]),
    ).toEqual(['1:0-1', '0:0-2', '1:1-3', '0:2-3']);
  });

  it('are the sorted order, for any rings', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(30), { maxLength: 40 }), { maxLength: 6 }), (ticksByRing) => {
        const rows = ticksByRing.flatMap((ticks, ring) =>
          ticks.map((_, row) => ({ tick: Math.max(...ticks.slice(0, row + 1)), ring, row })),
        );
        rows.sort((a, b) => a.tick - b.tick || a.ring - b.ring || a.row - b.row);
        const rowsMerged = merged(ticksByRing).flatMap((range) => {
          const [ring = 0, from = 0, end = 0] = range.split(/[:-]/).map(Number);
          return Array.from({ length: end - from }, (_, i) => ({ ring, row: from + i }));
        });
        expect(rowsMerged).toEqual(rows.map(({ ring, row }) => ({ ring, row })));
      }),
      { seed: 3, numRuns: 200 },
    );
  });
});
