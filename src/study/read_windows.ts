/**
 * Decides which part of each file is read when a time is selected. It decides before any record is read, by the wall clocks of the hosts.
 * These clocks may be wrong, so more is read on both sides. When the clocks are solved, a check shows whether the selected time was read.
 */

import { traceTimeOf } from '../clocks/domains.js';
import type { FoundClocks } from '../clocks/evidence/run_clocks.js';
import type { ReadWindow } from '../rankfile/file_types.js';
import type { Run } from '../runs/run.js';
import type { FoundRun, RunFile } from '../runs/runs.js';
import { runDuration } from '../trace/duration.js';
import { askedWindow, type SelectionRequest } from '../trace/selection.js';

/** ns. Work that began earlier than this before the selected time is drawn as if its beginning were lost. */
export const AROUND_NS = 10e9;

export interface ReadManner {
  /** May be infinite: all is read. */
  readonly aroundNs?: number | undefined;
  /** Of stream files no more is read than a file of flight mode has, whatever is selected. */
  readonly isLapOnly?: boolean | undefined;
}

/** By file; null: all of it. */
export function readWindows(
  { files, started, lastSeen }: FoundRun,
  select: SelectionRequest | undefined,
  { aroundNs = AROUND_NS, isLapOnly }: ReadManner = {},
): (ReadWindow | null)[] {
  const run = { traceStart: started, durationNs: Number(lastSeen - started) };
  const { from, to } = askedWindow(run, select ?? {});
  if (from === -Infinity && to === Infinity) return files.map(() => null);
  return files.map((file) => {
    const perNs = ticksPerNs(file);
    const before = Number(file.header.startRealtime - started);
    const tick = (ns: number): number => (ns - before) * perNs;
    return { from: tick(from), to: tick(to), around: aroundNs * perNs, isLapOnly };
  });
}

/** The tick rate by the wall clock. It is right if nobody set the wall clock meanwhile. */
function ticksPerNs({ header, heartbeat }: RunFile): number {
  const nominal = header.tickHz / 1e9;
  const measured = heartbeat ? heartbeat.tick / Number(heartbeat.realtime - header.startRealtime) : nominal;
  return Math.abs(measured / nominal - 1) < 0.01 ? measured : nominal;
}

/** Members whose selected time was not read, because the wall clocks of the hosts are too far apart. */
export function unreadMembers(
  { run, clocks: { solution } }: { readonly run: Run; readonly clocks: FoundClocks },
  select: SelectionRequest | undefined,
): number[] {
  const asRead = run.members.map(({ scan }) => scan.rings.every(({ unread }) => unread === 0));
  if (!asRead.includes(false)) return [];
  const { traceStart } = solution;
  const window = askedWindow({ traceStart, durationNs: runDuration(run, solution) }, select ?? {});
  return run.members.flatMap(({ scan: { window: read } }, file) => {
    if (asRead[file]! || read === null || read.isLapOnly === true) return [];
    const time = traceTimeOf(solution, file);
    const isEarly = read.from === -Infinity || time(read.from - read.around / 2) <= window.from;
    const isLate = read.to === Infinity || time(read.to + read.around / 2) >= window.to;
    return isEarly && isLate ? [] : [file];
  });
}
