/** What was drawn beside the ranks (`--with`): a line per file, and one for what could not be drawn. */

import type { DrawnReport, ForeignReport } from '../foreign/beside/beside.js';
import { EXPOSED, worstSteps } from './exposed_steps.js';
import { TRAINING_STEPS } from './run_tables.js';
import { shownTable } from './shown_table.js';
import { filled } from './table_formats.js';
import { printable } from './text.js';
import { durationText } from '../base/duration.js';

/** Refused files are among the problems. */
export const foreignLines = (reports: readonly ForeignReport[]): string[] => {
  const drawn = reports.flatMap((report) => ('refused' in report ? [] : [report]));
  return [...drawn.flatMap((report) => [drawnLine(report), ...leftOutLine(report)]), ...exposedLines(drawn)];
};

/** Steps that a report shows: those with the most exposed time. */
const MOST_STEPS = 12;

function exposedLines(drawn: readonly DrawnReport[]): string[] {
  const steps = drawn.flatMap(({ exposed }) => exposed);
  const { worst, of } = worstSteps(steps, MOST_STEPS);
  if (of === 0) return [];
  const which = of > worst.length ? `, the worst ${worst.length} of ${of} rows` : '';
  const table = shownTable(filled(TRAINING_STEPS, worst), { width: Infinity }).trimEnd().split('\n');
  return [`exposed communication: ${EXPOSED}${which}`, ...table];
}

function drawnLine(report: DrawnReport): string {
  const { path, rank, slices } = report;
  return `rank ${rank}: ${slices} slices of ${printable(path)}, ${fitText(report)}`;
}

function fitText({
  kernels: { by, found, compared, matched, residual, spread, numbered, contradicted, corrected },
}: DrawnReport): string {
  if (found === 0) return 'by the wall clock alone: it has no NCCL kernels';
  if (residual === null || spread === null)
    return `by the wall clock alone: ${found} NCCL kernels, none that can be compared`;
  const apart = `${durationText(Math.abs(residual))} ${residual < 0 ? 'before' : 'after'} them, ± ${durationText(spread)}`;
  const moved = corrected === 0 ? '' : '; the file was moved by this';
  const number = numbered === 0 ? '' : `, ${numbered - contradicted} of ${numbered} also by number,`;
  return `${matched} of ${compared} NCCL kernels are our collectives${number} and ${by === 'end' ? 'end' : 'were called'} ${apart}${moved}`;
}

function leftOutLine({ path, leftOut }: DrawnReport): string[] {
  const parts = Object.entries(leftOut).map(([what, times]) => `${times} ${what}`);
  return parts.length === 0 ? [] : [`not drawn of ${printable(path)}: ${parts.join(', ')}`];
}
