/**
 * The report for tickets and chats: at most 60 lines of Markdown, with the result in the first. Names from files are only data here, too.
 */

import { mostSuspectFirst } from '../base/suspect_labels.js';
import { binarySize, counted, shortDuration } from '../base/units.js';
import type { RankLabel } from '../runs/rank_labels.js';
import { sumOfTimes } from '../cluster/rank_waits.js';
import { durationText } from '../base/duration.js';
import { nameOrId } from '../runs/communicators.js';
import { EXPOSED, worstSteps } from './exposed_steps.js';
import type { RunReport } from './run_report.js';
import { GROUPS, RANKS, TRAINING_STEPS, WAITS, type Cell, type Column, type Table } from './run_tables.js';
import { cellText } from './shown_table.js';
import { printable } from './text.js';

const MOST_RANKS = 8;
const MOST_GROUPS = 8;
const MOST_WAITS = 5;
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
      `${counted(ranks.length, 'file')} of ${run.worldSize || 'an unknown number of'} ranks`,
      `${counted(run.hosts, 'host')}, ${run.records} records, ${durationText(run.durationNs)}`,
      made.by,
    ].join('; '),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

const MOST_CAUSES = 4;

const causeLines = ({ causes }: RunReport): string[] =>
  causes.length === 0 ? [] : [...causes.slice(0, MOST_CAUSES).map(({ says }) => `- ${escaped(says)}`), ''];

const groupLines = ({ groups }: RunReport): string[] =>
  tableLines(groups, MOST_GROUPS, [
    { title: 'Communicator', of: (row) => `${nameOrId(row)} (${row.commSize})` },
    ...columnsOf(GROUPS, 'func bytes count p50_ns p99_ns skew_max_ns busbw_gbs'),
    {
      title: 'Last',
      of: (row) => (row.lateRank === null ? '' : `${row.lateRank} (${row.lateIn} of ${row.named})`),
    },
  ]);

/** The ranks that others waited for most. */
const rankLines = ({ ranks }: RunReport): string[] =>
  tableLines(
    ranks.filter(({ aloneNs, label }) => aloneNs > 0 || label !== null).sort(mostSuspectFirst),
    MOST_RANKS,
    [
      ...columnsOf(RANKS, 'rank host verdict alone_ns mean_late_ns'),
      { title: 'Waited for in', of: (row) => `${row.lastIn} of ${row.collectives}` },
      { title: 'Its steps waited', of: (row) => shortDuration(sumOfTimes(row.waits)) },
    ],
  );

const waitLines = ({ waits }: RunReport): string[] =>
  tableLines(waits, MOST_WAITS, [
    ...columnsOf(WAITS, 'rank for_rank'),
    { title: 'To', of: (row) => (row.waitsFor === 'data' ? 'send data' : 'have room') },
    { title: 'Communicator', of: nameOrId },
    { title: 'Sum over transfers, up to 8 at once per channel', of: (row) => shortDuration(row.totalNs) },
    {
      title: 'Still waits since',
      of: ({ openSinceNs: at }) => (at === null ? '' : `${shortDuration(at)} after the start`),
    },
  ]);

/** Slow links are among the causes. */
function linkLines({ pairs: [most] }: RunReport): string[] {
  if (!most) return [];
  const name = `${rankText(most.source)} → ${rankText(most.destination)}`;
  const size = most.bytes === null ? 'of unknown size,' : binarySize(most.bytes);
  return [`- most bytes: ${name}, ${size} in ${most.transfers} transfers`, ''];
}

/** A column as it is described, or one that only this text has. */
interface TextColumn<Row> {
  readonly title: string;
  readonly of: (row: Row) => string;
}

const columnsOf = <Row>({ columns }: Table<Row>, names: string): TextColumn<Row>[] =>
  names.split(' ').map((name) => {
    const column = columns.find((one) => one.name === name)!;
    return { title: column.title, of: (row) => textOf(column.of(row), column) };
  });

/** The title of a rate has its unit. */
function textOf<Row>(cell: Cell, column: Column<Row>): string {
  if (cell === null) return column.type === 'rank' ? '?' : '';
  return column.unit === 'GB/s' ? String(cell) : cellText(cell, column);
}

function tableLines<Row>(
  rows: readonly Row[],
  most: number,
  columns: readonly TextColumn<Row>[],
  all = rows.length,
): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const more = all > most ? [`and ${all - most} more`] : [];
  return [
    line(columns.map(({ title }) => title)),
    line(columns.map(() => '---')),
    ...rows.slice(0, most).map((row) => line(columns.map(({ of }) => escaped(of(row))))),
    ...more,
    '',
  ];
}

/** Training steps in the files of `--with`. */
function stepLines({ trainingSteps }: RunReport): string[] {
  const { worst, of } = worstSteps(trainingSteps, MOST_STEPS);
  if (of === 0) return [];
  const columns = columnsOf(
    TRAINING_STEPS,
    'rank step duration_ns nccl_ns overlapped_ns exposed_ns exposed_percent',
  );
  return [`Exposed: ${EXPOSED}.`, '', ...tableLines(worst, MOST_STEPS, columns, of)];
}

const rankText = (label: RankLabel): string => (label === null ? '?' : String(label));

/** Escapes what Markdown, or HTML in it, treats as markup. */
const escaped = (text: string): string => printable(text).replace(/[\\`*_[\]<>|~&@]/g, '\\$&');
