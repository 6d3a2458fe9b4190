/** What `merge` did with one file, and what the trace does not show of it. */

import { hex64 } from '../base/hex.js';
import type { OriginTable } from '../cluster/pxn.js';
import type { WorkOutcome } from '../model/work_end.js';
import { outcomesOf, type WorkEndTable } from '../model/work_end_table.js';
import { workIdentity } from '../model/work_table.js';
import { severalRanks, type RunMember } from '../runs/run.js';
import type { LostSlots, RankScan } from '../scan/scan.js';
import type { ConvertResult } from '../trace/convert.js';

export type RankReport = Readonly<ReturnType<typeof reportRank>>;

/** What a diagnosis says of a file. */
export type DiagnosedRank = Readonly<ReturnType<typeof diagnosedRank>>;

export interface OpenWork {
  /** 16 hexadecimal digits; null: not known. */
  readonly commId: string | null;
  readonly comm: string;
  readonly func: string;
  readonly seq: number | null;
  /** Sends and receives: the other rank of the communicator. */
  readonly peer: number | null;
}

export const diagnosedRank = ({ scan, rank, ranks }: RunMember) => ({
  rank,
  /** `ranks`, if a process has several GPUs: all its ranks. */
  ...severalRanks(ranks),
  file: scan.path,
  host: scan.header.hostName,
  /** Its number on its host; null: the environment has none. */
  localRank: scan.header.localRank,
  /** 'closed': the process closed its file. 'recording': the process still runs, or was killed. */
  life: scan.header.life,
  /** Slots of all rings. */
  lost: lostSlots(scan),
  /** Slots of chunks that were not read, because a time was selected. */
  unread: sumOver(scan)(({ unread }) => unread),
  /** What is wrong with the file, in whole sentences. */
  problems: scan.problems.map(({ what, count }) => (count === 1 ? what : `${what} (${count} times)`)),
});

/** `ends`, `origins`: of this file. `block` null: it is not drawn. */
export function reportRank(
  member: RunMember,
  ends: WorkEndTable,
  origins: OriginTable,
  block: ConvertResult | null,
) {
  const { scan } = member;
  const { odd } = scan;
  const outcomes = outcomesOf(ends);
  const sum = sumOver(scan);
  return {
    ...diagnosedRank(member),
    pid: scan.header.process.pid,
    /** ns since the Unix epoch, decimal; null: no heartbeat was written. */
    lastHeartbeat: scan.heartbeat?.realtime.toString() ?? null,
    ...ringCopyAge(scan),
    records: scan.records,
    /** Repeats counted instead of recorded. */
    folded: scan.folded,
    muted: sum(({ muted }) => muted),
    /** Stops and states of events without a handle, because nothing was recorded. */
    nullCalls: sum(({ nullCalls }) => nullCalls),
    /** Records of events that began before the ring's window. */
    beganBefore: odd.beganBefore,
    /** States and stops of stopped or foreign events, and states a step had already left. */
    strayRecords: odd.afterStop + odd.foreign + odd.repeatedStates,
    /** Impossible parents, of earlier work. */
    staleParents: odd.staleParents,
    /** Operations and kernels begun again while in flight. */
    startsAgain: odd.startsAgain,
    /** Events of finalized communicators. */
    afterFinalize: odd.afterFinalize,
    /** Steps that NCCL never stopped, although it stopped their operation. */
    stepsWithoutStop: odd.stepsWithoutStop,
    /** States and events that this version does not know, with their numbers. */
    unknown: Object.fromEntries(odd.unknown),
    suspectKernels: block?.suspectKernels ?? 0,
    /** Completions of kernels that never started. */
    kernelsWithoutStart: odd.kernelsWithoutStart,
    /** Records that are drawn later than recorded: at the time of the record before them in their ring. */
    reordered: block?.reordered ?? 0,
    work: countWork(outcomes),
    /** Calls without further events, by function: copy engines, Broadcast from 2.29 on, symmetric memory... */
    callsOnly: countCalls(scan),
    /** Operations whose end NCCL never reports (CollNet, memcpy). */
    endlessOps: scan.endlessOps,
    /** Executed for other processes. */
    pxn: origins.executed,
    open: worksThat('open', scan, outcomes),
    aborted: worksThat('aborted', scan, outcomes),
  };
}

/**
 * If the rings are outside of the file: age of the copy in the file when the last sign came, in seconds. null: no copy. Absent if the rings are
 * in the file, or if the file was closed.
 */
function ringCopyAge({ header, heartbeat, lastTick }: RankScan): { readonly ringCopyAge?: number | null } {
  if (header.placement === 'in-file' || header.life === 'closed') return {};
  if (header.copiedTick === null) return { ringCopyAge: null };
  const lastSign = Math.max(heartbeat?.tick ?? 0, lastTick ?? 0);
  return { ringCopyAge: Math.max(0, lastSign - header.copiedTick) / header.tickHz };
}

function lostSlots(scan: RankScan): LostSlots {
  const sum = sumOver(scan);
  return {
    overwritten: sum(({ lost }) => lost.overwritten),
    dropped: sum(({ lost }) => lost.dropped),
    torn: sum(({ lost }) => lost.torn),
    copy: sum(({ lost }) => lost.copy),
  };
}

const sumOver =
  ({ rings }: RankScan) =>
  (pick: (ring: RankScan['rings'][number]) => number): number =>
    rings.reduce((total, ring) => total + pick(ring), 0);

function countWork(outcomes: readonly WorkOutcome[]) {
  const count = (wanted: WorkOutcome): number => outcomes.filter((outcome) => outcome === wanted).length;
  const [complete, open, aborted] = [count('complete'), count('open'), count('aborted')];
  return { complete, open, aborted, notRecorded: outcomes.length - complete - open - aborted };
}

function countCalls({ bareCalls, copyColls }: RankScan): Readonly<Record<string, number>> {
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
