/**
 * Whether the numbers of a scan fit each other. Their types have been checked (shape.ts), but a file from elsewhere may have any number: a
 * column that is too short, a row that is not there, a world of 2^31 ranks. What a rank file may say is in rankfile/format/ranges.ts.
 */

import { WORK_OUTCOMES } from '../model/work_end.js';
import { MAX_RANKS } from '../rankfile/format/ranges.js';
import type { RankScan } from '../scan/scan.js';
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
  const { funcs, datatypes, func, datatype, keys: _keys, ...columns } = works;
  const lengths = [func, datatype, _keys, ...Object.values(columns)].map(({ length }) => length);
  return {
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
      datatype.every((name) => name < datatypes.length),
    'the ends of work':
      times.every(({ length }) => length === rows) &&
      outcomes.every((outcome) => outcome < WORK_OUTCOMES.length),
    'the stopped work': [...pending.works.map(({ row }) => row), ...pending.unended.keys()].every((row) =>
      isCount(row, rows - 1),
    ),
    'the calls': [...calls.comms.values()].every(
      ({ shape, at, keys, begins }) =>
        shape.every((one) => one < calls.shapes.length) &&
        [at.low, keys.low, begins].every(({ length }) => length === shape.length) &&
        [at, keys].every(({ from, high }) => from.length === high.length),
    ),
    'the rings': scan.rings.every(({ head }) => isCount(head, 2 ** 48)),
  };
}

const isCount = (value: number, most: number): boolean =>
  Number.isInteger(value) && value >= 0 && value <= most;
