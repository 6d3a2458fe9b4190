/** What was drawn beside the ranks (`--with`): a line per file, and one for what could not be drawn. */

import type { DrawnReport, ForeignReport } from '../foreign/beside/beside.js';
import { printable } from './text.js';
import { durationText } from '../base/duration.js';

/** Refused files are among the problems. */
export const foreignLines = (reports: readonly ForeignReport[]): string[] =>
  reports.flatMap((report) => ('refused' in report ? [] : [drawnLine(report), ...leftOutLine(report)]));

function drawnLine(report: DrawnReport): string {
  const { path, rank, slices } = report;
  return `rank ${rank}: ${slices} slices of ${printable(path)}, ${fitText(report)}`;
}

function fitText({
  kernels: { found, compared, matched, residual, spread, numbered, contradicted, corrected },
}: DrawnReport): string {
  if (found === 0) return 'by the wall clock alone: it has no NCCL kernels';
  if (residual === null || spread === null)
    return `by the wall clock alone: ${found} NCCL kernels, none in the recorded time`;
  const apart = `${durationText(Math.abs(residual))} ${residual < 0 ? 'before' : 'after'} them, ± ${durationText(spread)}`;
  const moved = corrected === 0 ? '' : '; the file was moved by this';
  const number = numbered === 0 ? '' : `, ${numbered - contradicted} of ${numbered} also by number,`;
  return `${matched} of ${compared} NCCL kernels are our collectives${number} and end ${apart}${moved}`;
}

function leftOutLine({ path, leftOut }: DrawnReport): string[] {
  const parts = Object.entries(leftOut).map(([what, times]) => `${times} ${what}`);
  return parts.length === 0 ? [] : [`not drawn of ${printable(path)}: ${parts.join(', ')}`];
}
