/**
 * Checks whether the numbers of a scan fit each other. Their types have been checked (shape.ts), but a file from elsewhere may have any
 * number: a column that is too short, a row that does not exist, a world of 2^31 ranks. The limits for rank files are in
 * rankfile/format/ranges.ts.
 */

import { maxOf, minOf } from '../base/extremes.js';
import { isWhole, rowWith, type PackedNumbers } from '../base/packed_numbers.js';
import { WORK_OUTCOMES } from '../model/work_end.js';
import { MAX_RANKS } from '../rankfile/format/ranges.js';
import type { RankScan } from '../scan/scan.js';
import type { TimeCounts } from '../scan/time_counts.js';
import type { SectionFile } from './sections.js';

/** Throws NoUsableInput. */
export function checkScan(scan: RankScan, file: SectionFile): void {
  for (const [what, isPlausible] of Object.entries(rules(scan)))
    if (!isPlausible) file.damaged(`${what} of ${scan.path} cannot be true`);
}

function rules(scan: RankScan): Readonly<Record<string, boolean>> {
  const { header, communicators, works, workEnds, calls, pending, clockSamples } = scan;
  const { outcome } = workEnds;
  const rows = outcome.length;
  const { funcs, datatypes, plans, ...columns } = works;
  const { func, datatype, plan, ordinal, ordinalAbsolute } = columns;
  const areRows = (all: readonly PackedNumbers[]): boolean =>
    all.every((column) => column.length === rows && isWhole(column));
  return {
    ...everywhere(scan),
    'the ranks': [header.rank, header.worldSize, header.localRank].every(
      (rank) => rank === null || isCount(rank, MAX_RANKS),
    ),
    'the communicators': communicators.every(
      ({ number, rank, nRanks }) =>
        isCount(number, 2 ** 32) && isCount(rank + 1, MAX_RANKS) && isCount(nRanks, MAX_RANKS),
    ),
    'the clock': header.tickHz >= 1e5 && header.tickHz <= 1e11 && clockSamples.length > 0,
    'the table of work':
      areRows(Object.values(columns)) &&
      areCounts(func, funcs.length - 1) &&
      areCounts(datatype, datatypes.length - 1) &&
      areCounts(plan, plans.length - 1) &&
      areCounts(ordinal, 2 ** 32) &&
      areCounts(ordinalAbsolute, 1),
    'the ends of work':
      areRows(Object.values(workEnds).filter((column) => 'blocks' in column)) &&
      areCounts(outcome, WORK_OUTCOMES.length - 1),
    'the stopped work': [...pending.works.map(({ row }) => row), ...pending.unended.keys()].every((row) =>
      isCount(row, rows - 1),
    ),
    'the calls': [...calls.comms.values()].every(
      ({ shape, at, keys, begins, knownFrom }) =>
        isCount(knownFrom, shape.length) &&
        shape.every((one) => one < calls.shapes.length) &&
        [at, keys, begins].every(({ length }) => length === shape.length) &&
        [at, keys].every(isWhole),
    ),
    'the GPU clocks': scan.gpus.every(({ stamps, launches, step }) => {
      const shown = [...stamps, ...launches].map(({ gpu }) => gpu);
      return step <= Math.max(0, maxOf(shown) - minOf(shown)) + A_SECOND;
    }),
    'the rings': scan.rings.every(({ head }) => isCount(head, 2 ** 48)),
  };
}

/** Refuses numbers that would keep a loop going: Infinity, or a count over time with bins of no width. */
function everywhere(scan: RankScan): Readonly<Record<string, boolean>> {
  let isWithin = true;
  let areCounts = true;
  const look = (value: unknown, name: string): void => {
    if (typeof value === 'number') isWithin &&= isBounded(value) || (value === Infinity && name === 'until');
    if (typeof value !== 'object' || value === null) return;
    if (value instanceof Float64Array) isWithin &&= value.every((one) => isBounded(one) || Number.isNaN(one));
    if (ArrayBuffer.isView(value)) return;
    if ('counts' in value && value.counts instanceof Float64Array)
      areCounts &&= isOverTime(value as unknown as TimeCounts);
    if (value instanceof Map || value instanceof Set) for (const one of value.values()) look(one, name);
    else for (const [own, one] of Object.entries(value)) look(one, own);
  };
  const { window, ...rest } = scan;
  if (window) isWithin = ![window.from, window.to, window.around].some(Number.isNaN);
  look(rest, '');
  return { 'the numbers': isWithin, 'the counts': areCounts };
}

/** Sums of squares are the largest numbers. */
const isBounded = (value: number): boolean => Math.abs(value) <= 2 ** 106;

const isOverTime = ({ width, counts }: TimeCounts): boolean =>
  width >= 1 && counts.length <= MOST_BINS && counts.every((count) => count >= 0);

const MOST_BINS = 1 << 12;

/** ns. A timer's step is a difference of its stamps, of which the first and the last are kept, but for some that came out of order. */
const A_SECOND = 1e9;

const areCounts = (column: PackedNumbers, most: number): boolean =>
  rowWith(column, (number) => !isCount(number, most)) < 0;

const isCount = (value: number, most: number): boolean =>
  Number.isInteger(value) && value >= 0 && value <= most;
