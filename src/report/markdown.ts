/**
 * The report for tickets and chats: at most 60 lines of Markdown, with the result in the first. Names from files are only data here, too.
 */

import { mostSuspectFirst } from '../base/suspect_labels.js';
import { binarySize } from '../base/units.js';
import type { RankLabel } from '../runs/rank_labels.js';
import { sumOfTimes } from '../cluster/rank_waits.js';
import { durationText } from '../base/duration.js';
import { nameOrId } from '../runs/communicators.js';
import { EXPOSED, worstSteps } from './exposed_steps.js';
import type { RunReport } from './run_report.js';
import { printable, timesText } from './text.js';

const MOST_RANKS = 8;
const MOST_GROUPS = 8;
const MOST_WAITS = 5;
const MOST_LINKS = 4;
const MOST_STEPS = 4;

export function markdownOf(report: RunReport): string {
  const { run, ranks, made } = report;
  const lines = [
    `### ${escaped(report.headline)}`,
    '',
    '```',
    // A line that begins with backquotes would end the block of code. None of our lines does.
    ...report.lines.map((line) => printable(line)),
    '```',
    '',
    ...causeLines(report),
    ...groupLines(report),
    ...rankLines(report),
    ...waitLines(report),
    ...linkLines(report),
    ...stepLines(report),
    [
      `${ranks.length} ${ranks.length === 1 ? 'file' : 'files'} of ${run.worldSize || 'an unknown number of'} ranks`,
      `${run.hosts} ${run.hosts === 1 ? 'host' : 'hosts'}, ${run.records} records, ${durationText(run.durationNs)}`,
      made.by,
    ].join('; '),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

const MOST_CAUSES = 4;

const causeLines = ({ causes }: RunReport): string[] =>
  causes.length === 0 ? [] : [...causes.slice(0, MOST_CAUSES).map(({ says }) => `- ${escaped(says)}`), ''];

function groupLines(report: RunReport): string[] {
  const { groups } = report;
  if (groups.length === 0) return [];
  const rows = groups
    .slice(0, MOST_GROUPS)
    .map((group) => [
      `${escaped(nameOrId(group))} (${group.commSize})`,
      escaped(group.func),
      group.bytes === null ? '?' : binarySize(group.bytes),
      String(group.count),
      time(group.durationP50Ns),
      time(group.durationP99Ns),
      time(group.skewMaxNs),
      group.busbwGBs === null ? '' : String(group.busbwGBs),
      group.lateRank === null ? '' : `${group.lateRank} (${group.lateIn} of ${group.named})`,
    ]);
  const head = [
    'communicator',
    'function',
    'size',
    'count',
    'p50',
    'p99',
    'worst skew',
    'busbw GB/s',
    'last',
  ];
  return table(head, rows, groups.length);
}

/** The ranks that others waited for most. */
function rankLines({ ranks }: RunReport): string[] {
  const rows = [...ranks]
    .filter(({ aloneNs, label }) => aloneNs > 0 || label !== null)
    .sort(mostSuspectFirst)
    .map((row) => [
      rank(row.rank),
      escaped(row.host),
      row.label ?? '',
      time(row.aloneNs),
      time(row.meanLateNs),
      `${row.lastIn} of ${row.collectives}`,
      time(sumOfTimes(row.waits)),
    ]);
  if (rows.length === 0) return [];
  const head = [
    'rank',
    'host',
    'verdict',
    'others waited for it',
    'late, mean',
    'waited for in',
    'its steps waited',
  ];
  return table(head, rows.slice(0, MOST_RANKS), rows.length);
}

function waitLines(report: RunReport): string[] {
  const { waits } = report;
  if (waits.length === 0) return [];
  const rows = waits
    .slice(0, MOST_WAITS)
    .map((row) => [
      rank(row.rank),
      `${rank(row.forRank)} (${row.waitsFor})`,
      escaped(nameOrId(row)),
      time(row.totalNs),
      row.openSinceNs === null ? '' : `since ${durationText(row.openSinceNs)} after the start`,
    ]);
  const sum = 'sum over transfers, up to 8 at once per channel';
  return table(['rank', 'waited for', 'communicator', sum, 'still waits'], rows, waits.length);
}

function linkLines({ links, pairs, slowLinks }: RunReport): string[] {
  const [most] = pairs;
  if (!most) return [];
  const name = ({ source, destination, channel }: (typeof links)[number]): string =>
    `${rank(source)} → ${rank(destination)}${channel === null ? '' : ` channel ${channel}`}`;
  const slow = slowLinks
    .slice(0, MOST_LINKS)
    .map(
      ({ link, ratio, by, transfers, like }) =>
        `- slow link ${name(links[link]!)}: ${by === 'send' ? 'sends' : 'transfers'} take ${timesText(ratio)} the time of ${like} similar links (${transfers} transfers)`,
    );
  return [
    `- most bytes: ${name(most)}, ${most.bytes === null ? 'of unknown size,' : binarySize(most.bytes)} in ${most.transfers} transfers`,
    ...slow,
    '',
  ];
}

/** Training steps in the files of `--with`. */
function stepLines({ trainingSteps }: RunReport): string[] {
  const { worst, of } = worstSteps(trainingSteps, MOST_STEPS);
  if (of === 0) return [];
  const rows = worst.map((row) => [
    String(row.rank),
    escaped(row.step ?? '(whole file)'),
    time(row.duration),
    time(row.nccl),
    time(row.overlapped),
    `${time(row.exposed)} (${Math.round((100 * row.exposed) / row.duration)} %)`,
  ]);
  const head = ['rank', 'training step', 'took', 'NCCL', 'overlapped', 'exposed'];
  return [`Exposed: ${EXPOSED}.`, '', ...table(head, rows, of)];
}

function table(head: readonly string[], rows: readonly (readonly string[])[], all: number): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const more = all > rows.length ? [`and ${all - rows.length} more`] : [];
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ...more, ''];
}

const time = (ns: number | null): string => (ns === null ? '' : durationText(ns));
const rank = (label: RankLabel): string => (label === null ? '?' : String(label));

/** Escapes what Markdown, or HTML in it, treats as markup. */
const escaped = (text: string): string => printable(text).replace(/[\\`*_[\]<>|~&@]/g, '\\$&');
