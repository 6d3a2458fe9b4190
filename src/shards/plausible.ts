/**
 * Checks whether the numbers of a scan fit each other. Their types have been checked (shape.ts), but a file from elsewhere may have any
 * number: a column that is too short, a row that does not exist, a world of 2^31 ranks. The limits for rank files are in
 * rankfile/format/ranges.ts.
 */

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
  const outcomes = workEnds.outcome;
  const rows = outcomes.length;
  const times = Object.values(workEnds).filter((column) => column instanceof Float64Array);
  const { funcs, datatypes, plans, func, datatype, plan, keys: _keys, ...columns } = works;
  const lengths = [func, datatype, plan, _keys, ...Object.values(columns)].map(({ length }) => length);
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
      lengths.every((length) => length === rows) &&
      func.every((name) => name < funcs.length) &&
      datatype.every((name) => name < datatypes.length) &&
      plan.every((name) => name < plans.length),
    'the ends of work':
      times.every(({ length }) => length === rows) &&
      outcomes.every((outcome) => outcome < WORK_OUTCOMES.length),
    'the stopped work': [...pending.works.map(({ row }) => row), ...pending.unended.keys()].every((row) =>
      isCount(row, rows - 1),
    ),
    'the calls': [...calls.comms.values()].every(
      ({ shape, at, keys, begins, knownFrom }) =>
        isCount(knownFrom, shape.length) &&
        shape.every((one) => one < calls.shapes.length) &&
        [at.low, keys.low, begins].every(({ length }) => length === shape.length) &&
        [at, keys].every(({ from, high }) => from.length === high.length),
    ),
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

const isCount = (value: number, most: number): boolean =>
  Number.isInteger(value) && value >= 0 && value <= most;
