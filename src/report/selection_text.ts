/** What was selected and left out, for the closing report; nothing if everything is drawn. */

import { durationText } from '../base/duration.js';
import { COMFORTABLE } from '../trace/budget.js';
import { bytesText, countText, type SizedCommand } from '../trace/drawing.js';
import type { MergeReport } from './report.js';
import {
  DETAIL_NAMES,
  type DrawnAlike,
  type SelectionReport,
  type WindowReport,
} from '../trace/selection_report.js';
import { rangesText } from '../trace/asked_times.js';
import { foldRanks, printable } from './text.js';
import { allRanks } from './verdict_phrases.js';

type Report = Pick<MergeReport, 'selection' | 'ranks' | 'durationNs'>;

/** One line: what is drawn, what is left out, and the command for the rest. A second one names ranks without a file. */
export function selectionLines(report: Report): string[] {
  const { selection } = report;
  const parts = [...asked(selection), ...reduced(report), ...leftOut(report)];
  return [...(parts.length === 0 ? [] : [parts.join('; ')]), ...absent(selection)];
}

function asked({ asked, isWhole }: SelectionReport): string[] {
  return asked === '' ? [] : [`selected: ${printable(asked)}${isWhole ? ' (that is the whole run)' : ''}`];
}

function absent({ absentRanks }: SelectionReport): string[] {
  return absentRanks.length === 0 ? [] : [`no file here: rank ${rangesText(absentRanks)}`];
}

/** What is drawn of most ranks, and which ranks have more. */
function reduced(report: Report): string[] {
  const { isReduced, drawn } = report.selection;
  if (!isReduced) return [];
  const [most, ...others] = [...drawn].sort((a, b) => b.files.length - a.files.length);
  if (!most) return [];
  const more = others.map((group) => `rank ${ranksOf(group, report)}: ${moreText(group, most, report)}`);
  return [`drawn: ${[drawnText(most, report), ...more].join('; ')}`];
}

const ranksOf = ({ files }: DrawnAlike, { ranks }: Report): string =>
  foldRanks(files.flatMap((file) => allRanks(ranks[file]!)));

type Detail = keyof typeof DETAIL_NAMES;
const DETAILS = Object.keys(DETAIL_NAMES) as Detail[];

/** "calls, operations of the last 60 s, steps of the last 12.5 s" */
function drawnText({ windows }: DrawnAlike, report: Report): string {
  const shown = DETAILS.filter((detail) => windows[detail] !== null);
  // Details with the same time are named once.
  const parts = shown.filter((detail, i) => i === 0 || !isSame(windows[detail]!, windows[shown[i - 1]!]));
  return parts
    .map((detail) => {
      const alike = shown.filter((one) => isSame(windows[one]!, windows[detail]));
      return `${alike.map((one) => DETAIL_NAMES[one]).join(' and ')}${since(windows[detail]!, report)}`;
    })
    .join(', ');
}

/** Only the details that go beyond `most`. */
function moreText(group: DrawnAlike, most: DrawnAlike, report: Report): string {
  const { coll, op, step } = group.windows;
  const differs = (detail: Detail): boolean => {
    const window = group.windows[detail];
    return window !== null && !isSame(window, most.windows[detail]);
  };
  const windows = {
    coll: differs('coll') ? coll : null,
    op: differs('op') ? op : null,
    step: differs('step') ? step : null,
  };
  return drawnText({ files: group.files, windows }, report);
}

const isSame = (a: WindowReport, b: WindowReport | null): boolean =>
  b !== null && a[0] === b[0] && a[1] === b[1];

function since([from, to]: WindowReport, { durationNs }: Report): string {
  if (to !== null) return ` from ${durationText(from ?? 0)} to ${durationText(to)} after the start`;
  return from === null ? '' : ` of the last ${durationText(Math.max(0, durationNs - from))}`;
}

function leftOut({ selection, ranks }: Report): string[] {
  const { isReduced, rest, estimateOfAll, leftOut } = selection;
  const { files, slices } = leftOut;
  const { coll, op, step } = slices;
  if (isReduced) {
    const all = estimateOfAll.slices;
    const what = `${countText(coll + op + step)} of ${countText(all)} slices, more than opens in ${SECONDS} s`;
    return rest === null ? [`left out: ${what}`] : [`left out: ${what}; all ${restText(rest)}`];
  }
  const texts = [
    files > 0 ? `${files} ranks` : '',
    coll > 0 ? `${countText(coll)} collectives and calls` : '',
    op > 0 ? `${countText(op)} operations and kernels` : '',
    step > 0 ? `${countText(step)} of steps and their waits` : '',
  ].filter((part) => part !== '');
  // The others were not counted.
  const ofRead = ranks.some(({ unread }) => unread > 0) ? ' of what was read' : '';
  return texts.length === 0 ? [] : [`left out${ofRead}: ${texts.join(', ')}`];
}

const SECONDS = COMFORTABLE.seconds;

const restText = ({ command, size }: SizedCommand): string =>
  `(about ${bytesText(size.bytes)}): ${printable(command)}`;
