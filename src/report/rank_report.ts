/** What `merge` did with one file, and what the trace does not show of it. */

import { hex64 } from '../base/hex.js';
import type { OriginTable } from '../cluster/pxn.js';
import type { WorkOutcome } from '../model/work_end.js';
import { outcomesOf, type WorkEndTable } from '../model/work_end_table.js';
import { workIdentity } from '../model/work_table.js';
import { severalRanks, type RunMember } from '../runs/run.js';
import type { LostSlots, RankScan } from '../scan/scan.js';
import type { ConvertResult } from '../trace/convert.js';

export interface RankReport {
  readonly rank: number | null;
  /** If a process has several GPUs: all its ranks. */
  readonly ranks?: readonly number[];
  readonly file: string;
  readonly host: string;
  /** Its number on its host; null: the environment has none. */
  readonly localRank: number | null;
  readonly pid: number;
  /** 'closed': the process closed its file. 'recording': the process still runs, or was killed. */
  readonly life: string;
  /** ns since the Unix epoch, decimal; null: no heartbeat was written. */
  readonly lastHeartbeat: string | null;
  /**
   * If the rings are outside of the file: age of the copy in the file when the last sign came, in seconds. null: no copy. Absent if the
   * rings are in the file, or if the file was closed.
   */
  readonly ringCopyAge?: number | null;
  readonly records: number;
  /** Repeats counted instead of recorded. */
  readonly folded: number;
  readonly muted: number;
  /** Slots by cause. */
  readonly lost: LostSlots;
  /** Slots of chunks that were not read, because a time was selected. */
  readonly unread: number;
  /** Records of events that began before the ring's window. */
  readonly beganBefore: number;
  /** States and stops of stopped or foreign events, and states a step had already left. */
  readonly strayRecords: number;
  /** Stops and states of events without a handle, because nothing was recorded. */
  readonly nullCalls: number;
  /** Impossible parents, of earlier work. */
  readonly staleParents: number;
  /** Operations and kernels begun again while in flight. */
  readonly startsAgain: number;
  /** Events of finalized communicators. */
  readonly afterFinalize: number;
  /** Steps that NCCL never stopped, although it stopped their operation. */
  readonly stepsWithoutStop: number;
  /** States and events that this version does not know, with their numbers. */
  readonly unknown: Readonly<Record<string, number>>;
  readonly suspectKernels: number;
  /** Completions of kernels that never started. */
  readonly kernelsWithoutStart: number;
  /** Records that are drawn later than recorded: at the time of the record before them in their ring. */
  readonly reordered: number;
  readonly work: {
    readonly complete: number;
    readonly open: number;
    readonly aborted: number;
    readonly notRecorded: number;
  };
  /** Calls without further events, by function: copy engines, Broadcast from 2.29 on, symmetric memory... */
  readonly callsOnly: Readonly<Record<string, number>>;
  /** Operations whose end NCCL never reports (CollNet, memcpy). */
  readonly endlessOps: number;
  /** Executed for other processes. */
  readonly pxn: { readonly ops: number; readonly unexplained: number; readonly pids: readonly number[] };
  readonly open: readonly OpenWork[];
  readonly aborted: readonly OpenWork[];
  /** What is wrong with the file, in whole sentences. */
  readonly problems: readonly string[];
}

export interface OpenWork {
  /** 16 hexadecimal digits; null: not known. */
  readonly commId: string | null;
  readonly comm: string;
  readonly func: string;
  readonly seq: number | null;
  /** Sends and receives: the other rank of the communicator. */
  readonly peer: number | null;
}

/** `ends`, `origins`: of this file. `block` null: it is not drawn. */
export function reportRank(
  { scan, rank, ranks }: RunMember,
  ends: WorkEndTable,
  origins: OriginTable,
  block: ConvertResult | null,
): RankReport {
  const { odd } = scan;
  const outcomes = outcomesOf(ends);
  return {
    rank,
    ...severalRanks(ranks),
    file: scan.path,
    host: scan.header.hostName,
    localRank: scan.header.localRank,
    pid: scan.header.process.pid,
    life: scan.header.life,
    lastHeartbeat: scan.heartbeat?.realtime.toString() ?? null,
    ...ringCopyAge(scan),
    records: scan.records,
    folded: scan.folded,
    ...sumRings(scan),
    beganBefore: odd.beganBefore,
    strayRecords: odd.afterStop + odd.foreign + odd.repeatedStates,
    staleParents: odd.staleParents,
    startsAgain: odd.startsAgain,
    afterFinalize: odd.afterFinalize,
    stepsWithoutStop: odd.stepsWithoutStop,
    unknown: Object.fromEntries(odd.unknown),
    suspectKernels: block?.suspectKernels ?? 0,
    kernelsWithoutStart: odd.kernelsWithoutStart,
    reordered: block?.reordered ?? 0,
    work: countWork(outcomes),
    callsOnly: countCalls(scan),
    endlessOps: scan.endlessOps,
    pxn: origins.executed,
    open: worksThat('open', scan, outcomes),
    aborted: worksThat('aborted', scan, outcomes),
    problems: problemsOf(scan),
  };
}

function ringCopyAge({ header, heartbeat, lastTick }: RankScan): Pick<RankReport, 'ringCopyAge'> {
  if (header.placement === 'in-file' || header.life === 'closed') return {};
  if (header.copiedTick === null) return { ringCopyAge: null };
  const lastSign = Math.max(heartbeat?.tick ?? 0, lastTick ?? 0);
  return { ringCopyAge: Math.max(0, lastSign - header.copiedTick) / header.tickHz };
}

export const problemsOf = ({ problems }: RankScan): string[] =>
  problems.map(({ what, count }) => (count === 1 ? what : `${what} (${count} times)`));

function sumRings(scan: RankScan): Pick<RankReport, 'lost' | 'unread' | 'muted' | 'nullCalls'> {
  const sum = sumOver(scan);
  return {
    lost: lostSlots(scan),
    unread: unreadSlots(scan),
    muted: sum(({ muted }) => muted),
    nullCalls: sum(({ nullCalls }) => nullCalls),
  };
}

/** Lost slots of all rings. */
export function lostSlots(scan: RankScan): LostSlots {
  const sum = sumOver(scan);
  return {
    overwritten: sum(({ lost }) => lost.overwritten),
    dropped: sum(({ lost }) => lost.dropped),
    torn: sum(({ lost }) => lost.torn),
    copy: sum(({ lost }) => lost.copy),
  };
}

export const unreadSlots = (scan: RankScan): number => sumOver(scan)(({ unread }) => unread);

const sumOver =
  ({ rings }: RankScan) =>
  (pick: (ring: RankScan['rings'][number]) => number): number =>
    rings.reduce((total, ring) => total + pick(ring), 0);

function countWork(outcomes: readonly WorkOutcome[]): RankReport['work'] {
  const count = (wanted: WorkOutcome): number => outcomes.filter((outcome) => outcome === wanted).length;
  const [complete, open, aborted] = [count('complete'), count('open'), count('aborted')];
  return { complete, open, aborted, notRecorded: outcomes.length - complete - open - aborted };
}

function countCalls({ bareCalls, copyColls }: RankScan): RankReport['callsOnly'] {
  const counts: Record<string, number> = copyColls > 0 ? { 'copy engine': copyColls } : {};
  for (const func of bareCalls.values()) counts[func] = (counts[func] ?? 0) + 1;
  return counts;
}

function worksThat(
  wanted: WorkOutcome,
  { works, communicators }: RankScan,
  outcomes: readonly WorkOutcome[],
): OpenWork[] {
  return outcomes.flatMap((outcome, row) => {
    if (outcome !== wanted) return [];
    const { comm, func, seq, peer } = workIdentity(works, row, communicators);
    const commId = comm === null || comm.commId === 0n ? null : hex64(comm.commId);
    return [{ commId, comm: comm === null ? 'unknown' : comm.name || hex64(comm.commId), func, seq, peer }];
  });
}
