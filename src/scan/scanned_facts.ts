/** Smaller facts of a file from the kernel's rows: odd records, pauses, work done for other processes. */

import { knownTick, long, type Numbers } from '../kernel/host/numbers.js';
import { ForeignRow, OddRow, type QuietRow, UnknownRow } from '../kernel/result_rows.js';
import type { Span } from '../model/control.js';
import type { ForeignOps } from '../model/pxn.js';
import type { OddCounts } from '../model/odd_records.js';
import type { Communicator, Gap } from '../rankfile/file_types.js';

/** As src/kernel/odd.ts numbers them. */
const EVENTS = [
  'Group',
  'GroupApi',
  'CollApi',
  'P2pApi',
  'KernelLaunch',
  'NetPlugin',
  'CeColl',
  'CeSync',
  'CeBatch',
  'unknown',
  'Coll',
  'P2p',
  'ProxyOp',
  'ProxyStep',
  'KernelCh',
  'KernelPhase',
  'ProxyCtrl',
];
/** What an unknown number is: an event's state, a record's kind, an event's type, a network plugin's id. */
const UNKNOWN: readonly ((event: string, number: bigint) => string)[] = [
  (event, number) => `${event} state ${BigInt.asIntN(32, number)}`,
  (_, number) => `record kind ${number}`,
  (_, number) => `event type 0x${number.toString(16)}`,
  (_, number) => `net plugin 0x${number.toString(16)}`,
];

/** The newest version of the profiler interface that this release knows. */
const NEWEST_ABI = 7;

export function readOdd(numbers: Numbers, communicators: Iterable<Communicator>): OddCounts {
  const counts = numbers.row(OddRow);
  const unknown = new Map<string, number>();
  for (const { abi } of communicators) {
    const name = `profiler interface v${abi}`;
    if (abi < 1 || abi > NEWEST_ABI) unknown.set(name, (unknown.get(name) ?? 0) + 1);
  }
  for (const { what, event, high, low, count } of numbers.rows(UnknownRow)) {
    const name = UNKNOWN[what]!(EVENTS[event]!, long(high, low));
    unknown.set(name, (unknown.get(name) ?? 0) + count);
  }
  return { ...counts, unknown };
}

/** When a process last did anything with NCCL, and its longest pauses before, longest first. */
interface QuietTimes extends Readonly<QuietRow> {
  readonly quiet: readonly Span[];
}

/** As many pauses as src/kernel/quiet_times.ts keeps. */
const MOST_PAUSES = 16;

/** Ticks: length of the time in which pauses are known, without the job's start. */
export function watchedTime({ quiet, watchedFor }: QuietTimes, gaps: readonly Gap[]): number {
  return quiet.reduce((rest, one) => (isIn(one, gaps) ? rest - lengthOf(one) : rest), watchedFor);
}

/** Ticks, without the job's start. A pause in which records are lost (`gaps`) does not count. */
export function longestQuiet({ quiet }: QuietTimes, gaps: readonly Gap[]): number {
  const known = quiet.find((one) => !isIn(one, gaps));
  // If records are lost in all kept pauses, the longest known one is at most as long as the shortest of them.
  const longest = known ?? (quiet.length < MOST_PAUSES ? undefined : quiet.at(-1));
  return longest ? lengthOf(longest) : 0;
}

const lengthOf = ({ from, end }: Span): number => end - from;
const isIn = ({ from, end }: Span, gaps: readonly Gap[]): boolean =>
  gaps.some(({ afterTick, beforeTick }) => from < (beforeTick ?? Infinity) && (afterTick ?? 0) < end);

export const readForeign = (numbers: Numbers): ForeignOps[] =>
  numbers.rows(ForeignRow).map(({ contextHigh, contextLow, parentHigh, parentLow, lastStop, ...ops }) => ({
    ...ops,
    context: long(contextHigh, contextLow),
    parent: long(parentHigh, parentLow),
    lastStop: knownTick(lastStop),
  }));
