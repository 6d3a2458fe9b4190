/** The screen of `top` as lines of text: what is known of a running job, the ranks that need attention first. */

import { maxOf, minOf } from '../base/extremes.js';
import { foldRanks } from '../base/ranks.js';
import { shortDuration } from '../base/units.js';
import { headline } from '../report/headline.js';
import { columns, cut, printable, wrapped } from '../report/text.js';
import { textTable } from '../report/text_table.js';
import { allRanks } from '../report/verdict_phrases.js';
import { suspects } from '../verdict/facts/suspects.js';
import type { Member } from './follow.js';
import type { RankProgress } from './rank_progress.js';
import type { SeenJob } from './seen_job.js';
import type { SeenWork } from './work.js';

export interface TopState extends Pick<SeenJob, 'sight' | 'look' | 'work'> {
  readonly folder: string;
  /** Bytes per second that a rank sent, by look. */
  readonly rates: ReadonlyMap<string, readonly number[]>;
  /** s since the Unix epoch. */
  readonly now: number;
  /** The last thing that was said: a snapshot, a note. */
  readonly note: string;
}

export const SORTS = ['trouble', 'rank', 'wait', 'rate'] as const;

export interface TopView {
  readonly sort: (typeof SORTS)[number];
  /** null: all communicators. */
  readonly comm: string | null;
  /** The rank at the cursor. */
  readonly selected: string | null;
  readonly isDetail: boolean;
  readonly width: number;
  readonly height: number;
}

interface Row {
  readonly rank: string;
  readonly member: Member;
  readonly state: string;
  readonly isSuspect: boolean;
  readonly progress: readonly RankProgress[];
  /** Its oldest open operation. */
  readonly open: RankProgress | null;
  /** The kind of wait with the most time, and transfers that wait so on average. */
  readonly wait: { readonly kind: string; readonly share: number } | null;
  readonly rates: readonly number[];
  readonly lost: number;
}

export function topRows(state: TopState, view: Pick<TopView, 'sort' | 'comm'>): Row[] {
  const { sight, look } = state;
  const accused = new Set(look === null ? [] : suspects(look.found.verdict));
  const rows = sight.members.map((member): Row => {
    const file = look?.found.ranks.findIndex((one) => one.file === member.path) ?? -1;
    const known = file < 0 ? null : look!.found.ranks[file]!;
    const { header } = member;
    const rank =
      known === null
        ? header.rank === null
          ? `pid ${header.process.pid}`
          : String(header.rank)
        : foldRanks(allRanks(known));
    const progress = (look?.progress ?? []).filter(
      (one) => one.rank === rank && (view.comm === null || one.comm === view.comm),
    );
    const open = progress.filter(({ oldestOpen }) => oldestOpen !== null);
    const oldest = minOf(open.map(({ oldestOpen }) => oldestOpen!));
    return {
      ...{ rank, member, progress },
      state: header.life === 'closed' ? 'ended' : member.process,
      isSuspect: accused.has(file),
      open: open.find(({ oldestOpen }) => oldestOpen === oldest) ?? null,
      wait: waitOf(state.work.seen, rank),
      rates: state.rates.get(rank) ?? [],
      lost: known === null ? 0 : known.lost.dropped + known.lost.torn + known.lost.copy,
    };
  });
  const shown =
    view.comm === null || look === null ? rows : rows.filter(({ progress }) => progress.length > 0);
  return shown.sort((a, b) => ORDERS[view.sort](a, b) || byRank(a, b));
}

const byRank = (a: Row, b: Row): number => a.rank.localeCompare(b.rank, 'en', { numeric: true });

const STATES = ['gone', 'stopped', 'unknown', 'runs', 'ended'];

const ORDERS: Readonly<Record<TopView['sort'], (a: Row, b: Row) => number>> = {
  trouble: (a, b) =>
    Number(b.isSuspect) - Number(a.isSuspect) ||
    STATES.indexOf(a.state) - STATES.indexOf(b.state) ||
    (a.open?.oldestOpen ?? Infinity) - (b.open?.oldestOpen ?? Infinity),
  rank: () => 0,
  wait: (a, b) => (b.wait?.share ?? 0) - (a.wait?.share ?? 0),
  rate: (a, b) => (a.rates.at(-1) ?? 0) - (b.rates.at(-1) ?? 0),
};

function waitOf({ ranks }: SeenWork, rank: string): Row['wait'] {
  const one = ranks.find((other) => other.rank === rank);
  if (one === undefined || !(one.window > 0)) return null;
  const sums = new Map<string, number>();
  for (const { kind, seconds } of one.waits) sums.set(kind, seconds + (sums.get(kind) ?? 0));
  const [kind, most] = [...sums].sort((a, b) => b[1] - a[1])[0] ?? ['', 0];
  return most > 0 ? { kind, share: most / one.window } : null;
}

/** At most as many lines as the terminal has, and no line is wider. */
export function topLines(state: TopState, view: TopView): string[] {
  const { width, height } = view;
  const rows = topRows(state, view);
  const head = headLines(state, view, rows.length);
  const selected = rows.find(({ rank }) => rank === view.selected);
  const body =
    view.isDetail && selected !== undefined ? detailLines(selected, state) : tableLines(rows, state, view);
  const foot = cut(state.note === '' ? KEYS : printable(state.note), width);
  const room = height - head.length - 1;
  const first = view.isDetail ? 0 : firstShown(rows, view, room - 1);
  const [title = '', ...rest] = body;
  const shown = [title, ...rest.slice(first, first + room - 1)];
  const filled = [...head, ...shown, ...Array.from({ length: Math.max(0, room - shown.length) }, () => '')];
  return [...filled, foot].slice(0, height).map((line) => cut(line, width));
}

const KEYS = 'q quit  s sort  c communicator  up/down, Enter rank  w snapshot';

/** The cursor's rank is always in sight. */
function firstShown(rows: readonly Row[], { selected }: TopView, room: number): number {
  const at = rows.findIndex(({ rank }) => rank === selected);
  return Math.max(0, at - Math.max(1, room) + 1);
}

function headLines(state: TopState, view: TopView, shown: number): string[] {
  const { sight, look, folder } = state;
  const { found } = look ?? {};
  const verdict = found === undefined ? `no verdict yet, waits for records in ${folder}` : headline(found);
  const live = sight.members.filter(({ process }) => process === 'runs').length;
  const comm = look?.progress.find((one) => one.comm === view.comm);
  const lines = [
    `run ${sight.run ?? 'none'}: ${sight.members.length} ranks, ${live} running` +
      (found === undefined || found.missingRanks.length === 0
        ? ''
        : `, ${found.missingRanks.length} not here`),
    `by ${view.sort}` + (view.comm === null ? '' : `, on ${comm?.commName ?? view.comm} (${shown} ranks)`),
  ];
  return [...wrapped(printable(verdict), view.width).slice(0, 2), printable(lines.join('; ')), ''];
}

const BARS = '▁▂▃▄▅▆▇█';

function sparkline(values: readonly number[]): string {
  const most = maxOf(values, 0);
  return values.map((value) => BARS[most > 0 ? Math.min(7, Math.floor((value / most) * 8)) : 0]).join('');
}

/** Columns that a narrow terminal has no room for, the least telling first. */
const DISPENSABLE = ['GB/s', 'sent', 'waits', 'state'];
const GAP = 2;

function tableLines(rows: readonly Row[], state: TopState, { selected, width }: TopView): string[] {
  const table = [
    {
      title: 'rank',
      cells: rows.map(
        ({ rank, isSuspect }) => `${rank === selected ? '>' : ' '}${isSuspect ? '!' : ' '}${rank}`,
      ),
    },
    { title: 'state', cells: rows.map((row) => row.state) },
    {
      title: 'call',
      cells: rows.map(({ open, progress }) => cut(open?.current?.call ?? lastCall(progress), 18)),
    },
    { title: 'since', isNumber: true, cells: rows.map((row) => openFor(row, state)) },
    { title: 'step', cells: rows.map(({ open }) => cut(open?.current?.step ?? '', 26)) },
    {
      title: 'waits',
      cells: rows.map(({ wait }) => (wait === null ? '' : `${wait.kind} ${wait.share.toPrecision(2)}`)),
    },
    {
      title: 'GB/s',
      isNumber: true,
      cells: rows.map(({ rates }) => (rates.length === 0 ? '' : (rates.at(-1)! / 1e9).toPrecision(2))),
    },
    { title: 'sent', cells: rows.map(({ rates }) => sparkline(width < 100 ? rates.slice(-6) : rates)) },
    { title: 'lost', isNumber: true, cells: rows.map(({ lost }) => (lost === 0 ? '' : String(lost))) },
  ].filter(({ title, cells }) => title === 'rank' || cells.some((cell) => cell !== ''));
  const widthOf = ({ title, cells }: (typeof table)[number]): number =>
    maxOf([title, ...cells].map(columns)) + GAP;
  const isTooWide = (): boolean => table.reduce((sum, one) => sum + widthOf(one), -GAP) > width;
  for (const title of DISPENSABLE) {
    const at = table.findIndex((one) => one.title === title);
    if (at >= 0 && isTooWide()) table.splice(at, 1);
  }
  return textTable(
    table,
    rows.map((_, row) => table.map(({ cells }) => cells[row]!)),
  )
    .trimEnd()
    .split('\n');
}

/** While a rank moves, the last look says nothing of its age now. */
function openFor({ open, member }: Row, { look, now }: TopState): string {
  if (open === null || look === null) return '';
  const until = member.movedAt > look.began ? look.at : now;
  return shortDuration(Math.max(0, until - open.oldestOpen!) * 1e9);
}

/** What was finished last. */
function lastCall(progress: readonly RankProgress[]): string {
  const latest = [...progress].sort((a, b) => (b.lastProgress ?? 0) - (a.lastProgress ?? 0))[0];
  const last = latest?.functions.reduce<{ func: string; entered: number } | null>(
    (most, one) => (most === null || one.entered > most.entered ? one : most),
    null,
  );
  return last === null || last === undefined ? '' : `(${last.func} ${last.entered})`;
}

function detailLines(
  { rank, member, state, progress }: Row,
  { work: { seen }, look, now }: TopState,
): string[] {
  const { header, path, slots } = member;
  const { hostName, process, gpu } = header;
  const known = look?.found.ranks.find(({ file }) => file === path);
  const calls = progress.map(({ commName, comm, open, current, lastProgress, functions }) => {
    const numbers = functions.map(({ func, entered }) => `${func} ${entered}`).join(', ');
    const moved =
      lastProgress === null ? '' : `, moved ${shortDuration(Math.max(0, now - lastProgress) * 1e9)} ago`;
    const at = current === null ? '' : `: ${current.call} ${current.step}`;
    return `  ${commName || comm}: entered ${numbers || 'nothing'}${moved}, ${open} open${at}`;
  });
  const waits = (seen.ranks.find((one) => one.rank === rank)?.waits ?? [])
    .filter(({ seconds }) => seconds > 0)
    .map(({ func, kind, seconds }) => `  ${func || 'unknown'}: ${kind} ${shortDuration(seconds * 1e9)}`);
  const sends = seen.pairs
    .filter(({ source }) => source === rank)
    .map(({ destination, transfers, bytes, meanNs }) => {
      const mean = meanNs === null ? '' : `, ${shortDuration(meanNs)} each`;
      return `  to ${destination}: ${transfers} transfers${bytes === null ? '' : `, ${(bytes / 1e6).toFixed(1)} MB`}${mean}`;
    });
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [title, ...lines];
  return [
    `rank ${rank}: ${state}, pid ${process.pid} on ${hostName}${gpu === '' ? '' : `, GPU ${gpu}`}, ${slots} slots recorded`,
    ...section('communicators', calls),
    ...section('waited, in the records here', waits),
    ...section('sent, in the records here', sends),
    ...section('problems', known?.problems.map((text) => `  ${text}`) ?? []),
  ].map(printable);
}

/** Without a terminal: the first line, when it is another one. */
export const topLine = ({ look, sight }: TopState): string =>
  look === null ? `run ${sight.run ?? 'none'}: no verdict yet` : headline(look.found);
