/** Makes the table of ends from a list of ends. */

import { type Column, narrow } from '../../../src/base/columns.js';
import { WORK_OUTCOMES, type Elsewhere, type WorkEnd } from '../../../src/model/work_end.js';
import { EndRow } from '../../../src/kernel/result_rows.js';
import { END_TIMES, type EndTimes, type WorkEndTable } from '../../../src/model/work_end_table.js';
import type { Ticks } from '../../../src/base/time.js';

export function endTable(ends: readonly WorkEnd[]): WorkEndTable {
  const column = (pick: (end: WorkEnd) => number | null | undefined): Column =>
    narrow(ends.map((end) => pick(end) ?? NaN));
  const empty = new EndRow();
  const others = END_TIMES.map((name) => [name, narrow(ends.map(() => empty[name]))] as const);
  return {
    ...(Object.fromEntries(others) as EndTimes),
    outcome: column(({ outcome }) => WORK_OUTCOMES.indexOf(outcome)),
    lastOp: column(({ lastOp }) => lastOp),
    lastRecv: column(({ lastRecv }) => lastRecv),
    noticed: column(({ lastKernel }) => lastKernel?.noticed),
    firstStamp: column(({ lastKernel }) => lastKernel?.stamps?.first),
    lastStamp: column(({ lastKernel }) => lastKernel?.stamps?.last),
    kernelStamp: column(({ gpu }) => gpu.kernel?.stamp),
    kernelNoticed: column(({ gpu }) => gpu.kernel?.noticed),
    step: column(({ gpu }) => gpu.step),
    data: column(({ gpu }) => gpu.data),
    finalized: byRow(ends, ({ finalized }): Ticks | null => finalized),
    cutOff: new Map(),
    elsewhere: byRow(ends, ({ elsewhere }): Elsewhere | null => elsewhere),
  };
}

const byRow = <T>(ends: readonly WorkEnd[], pick: (end: WorkEnd) => T | null): Map<number, T> =>
  new Map(
    ends.flatMap((end, row): [number, T][] => {
      const value = pick(end);
      return value === null ? [] : [[row, value]];
    }),
  );
