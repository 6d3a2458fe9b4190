/**
 * Turns a request into files, communicators and a window of time. Pure functions. draw_plan.ts decides what a browser can open. The scan
 * reads all files, whatever is selected. Of a stream file it may have read only the selected time (study/read_windows.ts).
 */

import { commKey } from '../model/identity.js';
import { durationText } from '../base/duration.js';
import { UsageError } from '../base/errors.js';
import { hex64 } from '../base/hex.js';
import { closest } from '../base/nearest.js';
import type { TraceNs } from '../base/time.js';
import type { Detail } from '../model/detail.js';
import type { Communicator } from '../rankfile/file_types.js';
import { ALWAYS, type Window } from './tracks/selection.js';
import { isInRanges, rangesOf, rangesText, type RankRange, type AskedTime, utcText } from './asked_times.js';

/** If all fields are absent: everything that the budget allows. */
export interface SelectionRequest {
  readonly ranks?: readonly RankRange[] | undefined;
  /** Names, or ids as 0x…. */
  readonly comms?: readonly string[] | undefined;
  readonly from?: AskedTime | undefined;
  readonly to?: AskedTime | undefined;
  readonly around?: { readonly at: AskedTime; readonly halfNs: number } | undefined;
  /** ns before the end of the run. */
  readonly last?: number | undefined;
  readonly detail?: Detail | undefined;
}

/** All that can be selected. */
export interface Selectable {
  /** By file: several if one process has several GPUs; none: unknown. */
  readonly ranks: readonly (readonly number[])[];
  /** By file: its communicators, and those for which it executes others' sends (PXN). */
  readonly communicators: readonly (readonly SelectableComm[])[];
  /** ns since the Unix epoch. */
  readonly traceStart: bigint;
  readonly durationNs: number;
}

export type SelectableComm = Pick<Communicator, 'commId' | 'name'> & { readonly kind?: string | undefined };

/** The selection, whatever its size. */
export interface Scope {
  /** Files that are drawn, ascending. */
  readonly files: readonly number[];
  /** Ranks requested by number that have no file. */
  readonly absentRanks: readonly RankRange[];
  /** No ranks were requested by number. */
  readonly isAllRanks: boolean;
  /** By `commKey`; null: all. */
  readonly comms: ReadonlySet<string> | null;
  readonly window: Window;
}

/** Contradictions that show without reading a file. Throws UsageError. */
export function checkRequest({ from, to, around, last }: SelectionRequest): void {
  const edges = [from && '--from', to && '--to'].filter((option) => option !== undefined);
  const ways = [...edges.slice(0, 1), around && '--around', last !== undefined && '--last'].filter(Boolean);
  if (ways.length > 1)
    throw new UsageError(
      `${ways.join(' and ')} exclude each other: each of them says which part of the run; use one (--from and --to go together)`,
    );
  if (last === 0) throw new UsageError('--last 0 selects nothing; give a duration, as in --last 60s');
  if (from?.kind === 'since-start' && to?.kind === 'since-start' && from.ns >= to.ns)
    throw new UsageError('--from is not before --to: nothing lies between them');
}

/** Throws UsageError for a missing one. */
export function selectScope(run: Selectable, request: SelectionRequest): Scope {
  checkRequest(request);
  const comms = request.comms === undefined ? null : commsNamed(run, request.comms);
  const { files, absentRanks } = filesOf(run, request.ranks, comms);
  return {
    files,
    absentRanks,
    isAllRanks: request.ranks === undefined,
    comms,
    window: windowOf(run, request),
  };
}

function filesOf(
  { ranks, communicators }: Selectable,
  ranges: readonly RankRange[] | undefined,
  comms: ReadonlySet<string> | null,
): Pick<Scope, 'files' | 'absentRanks'> {
  const all = ranks.map((_, file) => file);
  const asked = ranges ? all.filter((file) => ranks[file]!.some((rank) => isInRanges(ranges, rank))) : all;
  const absentRanks = (ranges ?? []).flatMap((range) => absentOf(range, ranks.flat()));
  if (asked.length === 0) {
    const there = ranks.flat();
    throw new UsageError(
      `--ranks: none of these has a file here; there are ${there.length === 0 ? 'no files that say their rank' : `ranks ${rangesText(rangesOf(there))}`}`,
    );
  }
  const files = comms
    ? asked.filter((file) => communicators[file]!.some((comm) => comms.has(commKey(comm))))
    : asked;
  if (files.length === 0)
    throw new UsageError('--ranks and --comm together select nothing: none of these ranks is in it');
  return { files, absentRanks };
}

/** As ranges, because the request may be "0-100000". */
function absentOf([first, last]: RankRange, ranks: readonly number[]): RankRange[] {
  const present = ranks.filter((rank) => rank >= first && rank <= last);
  const absent: RankRange[] = [];
  let next = first;
  for (const rank of [...present.sort((a, b) => a - b), last + 1]) {
    if (rank > next) absent.push([next, rank - 1]);
    next = rank + 1;
  }
  return absent;
}

function commsNamed({ communicators }: Selectable, wanted: readonly string[]): Set<string> {
  // By key and name: a damaged file may name a communicator differently.
  const there = new Map<string, SelectableComm>();
  for (const comm of communicators.flat()) there.set(`${commKey(comm)} ${comm.name}`, comm);
  const selected = new Set<string>();
  for (const asked of wanted) {
    const found = [...there.values()].filter((comm) => isCalled(comm, asked));
    if (found.length === 0) throw new UsageError(unknownComm(asked, [...there.values()]));
    for (const comm of found) selected.add(commKey(comm));
  }
  return selected;
}

/** By its own name, or by that of its kind; or an id, with or without its leading zeros. */
function isCalled({ commId, name, kind }: SelectableComm, asked: string): boolean {
  if (asked !== '' && (name === asked || kind === asked)) return true;
  return commId !== 0n && AN_ID.test(asked) && BigInt(asked) === commId;
}

const AN_ID = /^0x[0-9a-f]{1,16}$/i;
const MOST_NAMED = 8;

function unknownComm(asked: string, there: readonly SelectableComm[]): string {
  const known = new Set(
    there.flatMap(({ commId, name, kind = '' }) => [name, kind, commId === 0n ? '' : hex64(commId)]),
  );
  known.delete('');
  if (known.size === 0) return `--comm ${asked}: no communicator of this run has a name or an id`;
  const meant = AN_ID.test(asked) ? hex64(BigInt(asked)) : asked;
  const names = closest(meant, [...known]).slice(0, MOST_NAMED);
  const rest = known.size > names.length ? ` and ${known.size - names.length} more` : '';
  return `--comm ${asked}: there is no such communicator; there are ${names.join(', ')}${rest}`;
}

function windowOf(run: Selectable, request: SelectionRequest): Window {
  const window = askedWindow(run, request);
  if (window.from >= window.to) throw new UsageError('--from is not before --to: nothing lies between them');
  if (window.from > run.durationNs || window.to < 0) throw new UsageError(`${OUTSIDE} ${runText(run)}`);
  return window;
}

type Lasting = Pick<Selectable, 'traceStart' | 'durationNs'>;

/** It may lie outside the run. */
export function askedWindow(run: Lasting, { from, to, around, last }: SelectionRequest): Window {
  let window = ALWAYS;
  if (last !== undefined) window = between(run.durationNs - last, Infinity);
  if (around) {
    const at = traceTime(run, around.at);
    window = between(at - around.halfNs, at + around.halfNs);
  }
  if (from || to)
    window = between(from ? traceTime(run, from) : -Infinity, to ? traceTime(run, to) : Infinity);
  return { from: (window.from <= 0 ? -Infinity : window.from) as TraceNs, to: window.to };
}

const OUTSIDE = 'the selected time lies outside the run:';

const between = (from: number, to: number): Window => ({
  from: Math.round(from) as TraceNs,
  to: Math.round(to) as TraceNs,
});

function traceTime(run: Lasting, asked: AskedTime): number {
  switch (asked.kind) {
    case 'since-start':
      return asked.ns;
    case 'utc':
      return Number(asked.ns - run.traceStart);
    case 'time-of-day':
      return dayTime(run, asked.ns);
  }
}

const DAY_NS = 86_400_000_000_000;

/** The moment in the run with this time of day, else the nearest one. */
function dayTime(run: Lasting, ns: number): number {
  const midnight = -Number(run.traceStart % BigInt(DAY_NS));
  const days = Math.ceil((run.durationNs - midnight) / DAY_NS) + 1;
  const times = Array.from({ length: days + 1 }, (_, day) => midnight + (day - 1) * DAY_NS + ns);
  const inside = times.filter((time) => time >= 0 && time <= run.durationNs);
  if (inside.length > 1)
    throw new UsageError(
      `that time of day comes ${inside.length} times in the run, give the date as well: ${runText(run)}`,
    );
  const distance = (time: number): number => (time < 0 ? -time : Math.max(0, time - run.durationNs));
  return times.reduce((best, time) => (distance(time) < distance(best) ? time : best));
}

function runText({ traceStart, durationNs }: Lasting): string {
  const end = traceStart + BigInt(Math.round(durationNs));
  return `it lasts ${durationText(durationNs)}, from ${utcText(traceStart)} to ${utcText(end)}`;
}
