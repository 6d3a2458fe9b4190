/** What was selected and what was left out, for the closing report; nothing where everything is drawn. */

import { durationText } from '../base/duration.js';
import { bytesText, countText, sizeText } from '../trace/drawing.js';
import type { MergeReport } from './report.js';
import type { DrawnAlike, SelectionReport, WindowReport } from '../trace/selection_report.js';
import { rangesText } from '../trace/time_words.js';
import { foldRanks, printable } from './text.js';
import { allRanks } from './verdict_words.js';

type Report = Pick<MergeReport, 'selection' | 'ranks' | 'durationNs'>;

export function selectionLines(report: Report): string[] {
  const { selection } = report;
  const whole = selection.isWhole ? ' (that is the whole run)' : '';
  return [
    ...(selection.asked === '' ? [] : [`selected: ${printable(selection.asked)}${whole}`]),
    ...absent(selection),
    ...reduced(report),
    ...leftOut(selection),
    ...rest(selection),
  ];
}

function absent({ absentRanks }: SelectionReport): string[] {
  return absentRanks.length === 0 ? [] : [`no file here: rank ${rangesText(absentRanks)}`];
}

function reduced(report: Report): string[] {
  const { isReduced, estimateOfAll, drawn } = report.selection;
  if (!isReduced) return [];
  return [
    `too much for a browser: ${sizeText(estimateOfAll)}; drawn instead:`,
    ...drawn.map((group) => `  rank ${ranksOf(group, report)}: ${drawnText(group, report)}`),
  ];
}

const ranksOf = ({ files }: DrawnAlike, { ranks }: Report): string =>
  foldRanks(files.flatMap((file) => allRanks(ranks[file]!)));

/** "collectives, and all from 12.5 s on" */
function drawnText({ windows: { coll, op, step } }: DrawnAlike, report: Report): string {
  if (step && isSame(step, coll)) return `all${since(step, report)}`;
  const words = [`collectives${coll ? since(coll, report) : ''}`];
  if (op && !(step && isSame(step, op))) words.push(`operations${since(op, report)}`);
  if (step) words.push(`all${since(step, report)}`);
  return words.join(', ');
}

const isSame = (a: WindowReport, b: WindowReport | null): boolean =>
  b !== null && a[0] === b[0] && a[1] === b[1];

function since([from, to]: WindowReport, { durationNs }: Report): string {
  if (to !== null) return ` from ${durationText(from ?? 0)} to ${durationText(to)} after the start`;
  return from === null ? '' : ` of the last ${durationText(Math.max(0, durationNs - from))}`;
}

function leftOut({ leftOut: { files, slices } }: SelectionReport): string[] {
  const { coll, op, step } = slices;
  const words = [
    files > 0 ? `${files} ranks` : '',
    coll > 0 ? `${countText(coll)} collectives and calls` : '',
    op > 0 ? `${countText(op)} operations and kernels` : '',
    step > 0 ? `${countText(step)} of steps and their waits` : '',
  ].filter((part) => part !== '');
  return words.length === 0 ? [] : [`left out: ${words.join(', ')}`];
}

function rest({ rest }: SelectionReport): string[] {
  return rest === null
    ? []
    : [`the rest: ${printable(rest.command)}   (about ${bytesText(rest.size.bytes)})`];
}
