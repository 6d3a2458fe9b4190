/** Makes the table of ends from a list of ends. */

import { narrow } from '../../../src/base/columns.js';
import type { Ticks } from '../../../src/base/time.js';
import { EndRow } from '../../../src/kernel/result_rows.js';
import { WORK_OUTCOMES, type WorkOutcome } from '../../../src/model/work_end.js';
import { END_TIMES, type EndTimes, type WorkEndTable } from '../../../src/model/work_end_table.js';

/** What a row says besides the usual: nothing known. */
export interface MadeUpEnd extends Partial<EndRow> {
  readonly outcome: WorkOutcome;
  readonly finalized?: number | undefined;
}

export function endTable(ends: readonly MadeUpEnd[]): WorkEndTable {
  const empty = new EndRow();
  const times = END_TIMES.map((name) => [name, narrow(ends.map((end) => end[name] ?? empty[name]))] as const);
  return {
    ...(Object.fromEntries(times) as EndTimes),
    outcome: narrow(ends.map(({ outcome }) => WORK_OUTCOMES.indexOf(outcome))),
    finalized: new Map(
      ends.flatMap(({ finalized }, row) =>
        finalized === undefined ? [] : [[row, finalized as Ticks] as const],
      ),
    ),
    cutOff: new Map(),
    elsewhere: new Map(),
  };
}
