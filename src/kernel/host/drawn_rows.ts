/** Rows that a drawing and the host hand each other. */

import { type Column, narrowed } from '../../base/columns.js';
import { type BlockCountsRow, FlowEndRow, TallyRow, WorkEndRow } from '../result_rows.js';
import type { KernelExports } from './load.js';
import { rowAt, tableAt } from './numbers.js';

/** Rows that `writeWorkEnds` writes, at most. */
export const WORK_ENDS = 1024;

export function writeWorkEnds(
  kernel: KernelExports,
  ends: readonly Readonly<Record<keyof WorkEndRow, number>>[],
): void {
  const names = Object.keys(new WorkEndRow()) as (keyof WorkEndRow)[];
  const numbers = new Float64Array(kernel.memory.buffer, kernel.workEndRows(), ends.length * names.length);
  ends.forEach((end, i) => {
    numbers.set(
      names.map((name) => end[name]),
      i * names.length,
    );
  });
}

/** In the terms of trace_processor's tables, to check a finished trace. */
export type BlockCounts = Readonly<BlockCountsRow>;

export function tallyOf(kernel: KernelExports) {
  const { coll, op, step, ...counts } = rowAt(TallyRow, kernel.memory.buffer, kernel.countsOfBlock());
  return { counts: counts as BlockCounts, slices: { coll, op, step } };
}

/** Copies, after the drawing. */
export const flowEnds = (kernel: KernelExports): Record<keyof FlowEndRow, Column> =>
  narrowed(tableAt(FlowEndRow, kernel.memory.buffer, kernel.flowEnds(), kernel.flowEndCount()), [
    'operation',
    'sends',
    'from',
    'end',
  ]);
