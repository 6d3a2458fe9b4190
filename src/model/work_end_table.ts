/** The ends of one file's works in columns, one row each, because a long run has millions. A time that is not known is NaN. */

import { type Column } from '../base/columns.js';
import type { Ticks } from '../base/time.js';
import { EndRow } from '../kernel/result_rows.js';
import { WORK_OUTCOMES, type Elsewhere, type WorkOutcome } from './work_end.js';

/** The columns, as the kernel describes them. */
export const END_TIMES = Object.keys(new EndRow()) as readonly (keyof EndRow)[];

export type EndTimes = Readonly<Record<keyof EndRow, Column>>;

export interface WorkEndTable extends EndTimes {
  /** Index into WORK_OUTCOMES. */
  readonly outcome: Column;
  /** By row, of aborted works. */
  readonly finalized: ReadonlyMap<number, Ticks>;
  /** By row: the end of the file, for work that is cut off. Empty until the run is judged. */
  readonly cutOff: ReadonlyMap<number, Ticks>;
  /** By row. Empty until all files are scanned. */
  readonly elsewhere: ReadonlyMap<number, Elsewhere>;
}

/**
 * The outcome, with the reports of other processes. Work is done when all its sends are done, including those that other processes
 * executed.
 */
export function outcomeAt({ outcome, cutOff, elsewhere }: WorkEndTable, row: number): WorkOutcome {
  if (cutOff.size > 0 && cutOff.has(row)) return 'cut-off';
  const own = WORK_OUTCOMES[outcome[row]!]!;
  const executed = elsewhere.size === 0 ? undefined : elsewhere.get(row);
  if (executed === undefined) return own;
  if (executed.isOpen && own !== 'aborted') return 'open';
  return own === 'no-children' ? 'complete' : own;
}

/** By row. */
export const outcomesOf = (table: WorkEndTable): WorkOutcome[] =>
  Array.from({ length: table.outcome.length }, (_, row) => outcomeAt(table, row));
