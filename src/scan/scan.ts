/**
 * First pass over one file. It pairs all records, and keeps only the facts that other ranks or the second pass need. Runs on a worker
 * thread. The result is plain data. Except for one row per collective it does not grow with the run.
 */

import { RankFileError } from '../base/errors.js';
import { maxOf } from '../base/extremes.js';
import { lostText } from '../base/lost_text.js';
import type { Ticks } from '../base/time.js';
import { KernelFile } from '../kernel/host/kernel_file.js';
import { knownTick } from '../kernel/host/numbers.js';
import { runKernel, type SeenRing } from '../kernel/host/scan_kernel.js';
import { EndlessConnectionRow, EndlessRow, QuietRow, SpanRow, StandInRow } from '../kernel/result_rows.js';
import type { CallTable } from '../model/call_table.js';
import { everMuted, isEverMuted, spansWithoutCalls } from '../model/control.js';
import type { ForeignOps } from '../model/pxn.js';
import type { InsideCall } from '../model/pending.js';
import type { OddCounts } from '../model/odd_records.js';
import { lostAfter, lostGaps, unreadGaps } from '../model/lost_ends.js';
import type { PendingAtEnd } from '../model/pending.js';
import { outcomeAt, type WorkEndTable } from '../model/work_end_table.js';
import type { WorkTable } from '../model/work_table.js';
import { EventType } from '../rankfile/format/nccl.js';
import { isStopped, type RankFileStream, streamSegments } from '../rankfile/index.js';
import type {
  ClockSample,
  Communicator,
  ControlChange,
  FileDamage,
  Gap,
  LossCause,
  Problem,
  RankFileHeader,
  ReadWindow,
  RingClass,
} from '../rankfile/file_types.js';
import { type FileSize, readSize } from './drawn_size.js';
import { GpuStamps, type StampedGpu } from './gpu_stamps.js';
import { type OpenThings, pendingWorks, readOpenThings } from './pending_works.js';
import { callsUntil } from './read_order.js';
import { bareCalls, callTable, insideCalls, readCalls } from './scanned_calls.js';
import { longestQuiet, readForeign, readOdd, watchedTime } from './scanned_facts.js';
import { readTransfers, writeStepRows } from './scanned_transfers.js';
import { type Kept, readWorks, workEnds, type WorkRows, workTable } from './scanned_works.js';
import type { StepRows } from './step_file.js';
import { mostRows } from './step_sample.js';
import type { TransferTotals } from './transfer_totals.js';

export { forgetSpare } from '../kernel/host/load.js';

type ScannedFile = RankFileStream<true>;

/** Slots that are not in the file, by cause. */
export type LostSlots = Readonly<Record<LossCause, number>>;

export type RingSummary = Readonly<ReturnType<typeof ringSummary>>;

export interface RankScan {
  readonly path: string;
  readonly bytes: number;
  readonly header: RankFileHeader;
  readonly communicators: readonly Communicator[];
  readonly heartbeat: ClockSample | null;
  /** ns since the Unix epoch, by the clock of the machine that reads: when the heartbeat was read. */
  readonly readAt: bigint;
  /** Its process is on this machine, and was stopped then by a signal, a debugger or its control group. */
  readonly isStopped: boolean;
  /** The header's own pair first: never empty. */
  readonly clockSamples: readonly ClockSample[];
  readonly changes: readonly ControlChange[];
  /** The part of the file that was asked for; null: all of it. */
  readonly window: ReadWindow | null;
  readonly rings: readonly RingSummary[];
  readonly problems: readonly Problem[];
  readonly damage: FileDamage;
  readonly odd: OddCounts;
  /** Tick of the newest record; null without any. */
  readonly lastTick: Ticks | null;
  /** Its newest heartbeat, record or poll; null: none. */
  readonly lastSign: Ticks | null;
  readonly records: number;
  /** Repeats that were counted: callbacks that were not recorded one by one. */
  readonly folded: number;
  readonly workEnds: WorkEndTable;
  /** Names and arguments of the works, in the same rows. */
  readonly works: WorkTable;
  /** The last step of operations whose start is lost (kernel/results.ts). */
  readonly standInSteps: Uint32Array;
  /** Work that had not ended when the records end. */
  readonly pending: PendingAtEnd;
  /** From this tick on, no record of a thread that calls NCCL is lost. null: the newest records are lost. */
  readonly hostWindow: Ticks | null;
  /** The collectives that were called, with or without further events. */
  readonly calls: CallTable;
  /** When any NCCL event last began or ended, and the longest pause before, in ticks (kernel/quiet_times.ts). */
  readonly lastEvent: Ticks | null;
  readonly longestQuiet: number;
  /** Ticks: the length of the time in which pauses are known. */
  readonly watched: number;
  /** Calls without further events, by row: the name of the function. */
  readonly bareCalls: ReadonlyMap<number, string>;
  /** Number of collectives of the copy engines. NCCL reports when they were put into their stream, not when they ran. */
  readonly copyColls: number;
  /** Calls that had not returned when the records end. */
  readonly inside: readonly InsideCall<Ticks>[];
  /** Connections and operations whose end NCCL never reports. */
  readonly endlessConnections: readonly Readonly<EndlessConnectionRow>[];
  readonly endlessOps: number;
  /** Executed for other processes. */
  readonly foreignOps: readonly ForeignOps[];
  readonly gpus: readonly StampedGpu[];
  /** What its trace would hold. */
  readonly size: FileSize;
  /** The content of its side file. Empty if there is none. */
  readonly steps: readonly StepRows[];
  readonly transfers: TransferTotals;
}

/** The side file of its steps: its path, and whether it has every step or only the first step of each operation. */
export interface StepsWanted {
  readonly path: string;
  readonly every: boolean;
}

/**
 * `steps`: null if no side file is wanted. `window`: the part of the file to read; null: all of it.
 */
export function scanFile(
  path: string,
  steps: StepsWanted | null = null,
  window: ReadWindow | null = null,
): RankScan {
  const kernel = new KernelFile();
  const file = streamSegments(path, window, kernel, (ring, bytes) => kernel.rows(ring, bytes));
  try {
    return scanStream(kernel, file, window, steps);
  } finally {
    file.close();
  }
}

/** Fewer may be a few records with damaged handles. */
const ENOUGH_OF_ANOTHER = 256;

const ranksOf = ({ header, communicators }: ScannedFile): number =>
  maxOf([1, header.worldSize ?? 1, ...[...communicators.values()].map(({ nRanks }) => nRanks)]);

function scanStream(
  kernel: KernelFile,
  file: ScannedFile,
  window: ReadWindow | null,
  wanted: StepsWanted | null,
): RankScan {
  const readAt = BigInt(Date.now()) * 1_000_000n;
  const { header, communicators, strings } = file;
  const text = (id: number): string => strings[id] ?? lostText(id);
  const stamps = new GpuStamps(communicators.values(), 1e9 / header.tickHz);
  const seen = new Map<number, SeenRing>();
  const numbers = runKernel(kernel, file, {
    steps: wanted && { every: wanted.every, mostRows: mostRows(ranksOf(file)) },
    sentSince: window?.from ?? -Infinity,
    unrecorded: spansWithoutCalls(file, communicators.values()),
    onStamps: (rows) => {
      stamps.add(rows);
    },
    onRing: (ring, found) => {
      seen.set(ring, found);
    },
  });
  const lastPoll = knownTick(numbers.next());
  const odd = readOdd(numbers, communicators.values());
  const rows = readWorks(numbers);
  const open = openThings(readOpenThings(numbers), file);
  const standInSteps = Uint32Array.from(numbers.rows(StandInRow), ({ stepsDone }) => stepsDone);
  const calls = readCalls(numbers);
  const quiet = { ...numbers.row(QuietRow), quiet: numbers.rows(SpanRow) };
  const endless = numbers.row(EndlessRow);
  const endlessConnections = numbers.rows(EndlessConnectionRow);
  const foreignOps = readForeign(numbers);
  const size = readSize(numbers, communicators);
  const steps = wanted ? writeStepRows(wanted.path, numbers, communicators) : [];
  const transfers = readTransfers(numbers, text);
  numbers.end();

  const used = [...seen.values()].filter(({ records }) => records > 0);
  const records = used.reduce((sum, ring) => sum + ring.records, 0);
  // States and stops carry handles of their own process, under PXN, too.
  if (odd.foreign >= ENOUGH_OF_ANOTHER && 2 * odd.foreign > records)
    throw new RankFileError({
      path: file.path,
      what: `its header is of another process than its records (${odd.foreign} of ${records} records)`,
      advice: 'copy the file again',
    });
  const works = workTable(rows, text);
  const { ends, pending } = endings(rows, open, file, window, text);
  const lastTick = newestOf(used.map((ring) => ring.lastTick));
  const lastSign = newestOf([file.heartbeat?.tick ?? null, lastTick, lastPoll]);
  const gaps = file.rings.flatMap((ring) => (ring.class === 'steps' ? [] : ring.gaps));
  return {
    path: file.path,
    bytes: file.bytes,
    header,
    communicators: [...communicators.values()],
    heartbeat: file.heartbeat,
    readAt,
    isStopped: isStopped(file),
    clockSamples: [headerSample(header), ...file.clockSamples],
    changes: file.changes,
    window,
    rings: file.rings.map((ring) => ringSummary(ring, seen.get(ring.ring)?.records ?? 0)),
    problems: file.problems(),
    damage: file.damage,
    odd: { ...odd, startsAgain: odd.startsAgain - endless.otherDirection },
    lastTick,
    lastSign,
    records,
    folded: file.rings.reduce((sum, ring) => sum + ring.folded, 0),
    workEnds: ends,
    works,
    standInSteps,
    pending,
    hostWindow: hostWindow(file),
    calls: callTable(
      calls,
      callsUntil(
        file,
        calls.callers.map((ring) => seen.get(ring)!.lastTick),
      ),
      works,
      text,
    ),
    lastEvent: knownTick(quiet.newest),
    longestQuiet: longestQuiet(quiet, gaps),
    watched: watchedTime(quiet, gaps),
    bareCalls:
      header.sampleEvery !== 1 || isEverMuted(file)
        ? new Map()
        : bareCalls(calls, kept(file, window, 'host'), text),
    copyColls: calls.copyColls,
    inside: insideCalls(calls, lostAfter(file.rings), text),
    endlessConnections,
    endlessOps: endless.count,
    foreignOps,
    gpus: stamps.finish(),
    size,
    steps,
    transfers,
  };
}

/** Where KernelCh was turned off at times, announced channels without a block prove nothing. */
const openThings = (open: OpenThings, file: ScannedFile): OpenThings =>
  (everMuted(file).events & EventType.KernelCh) === 0 ? open : { ...open, blocks: [] };

/** The pending work, without work whose end is only lost. */
function endings(
  rows: WorkRows,
  open: OpenThings,
  file: ScannedFile,
  window: ReadWindow | null,
  text: (id: number) => string,
): { ends: WorkEndTable; pending: PendingAtEnd } {
  const endMayBeIn = (gaps: Parameters<typeof lostAfter>[1]): Set<number> => {
    const { works } = pendingWorks(rows, open, lostAfter(file.rings, gaps), text);
    return new Set(works.filter(({ lostSince }) => lostSince > 0).map(({ row }) => row));
  };
  const pending = pendingWorks(rows, open, lostAfter(file.rings, lostGaps), text);
  const [doubtful, unread] = [endMayBeIn(lostGaps), endMayBeIn(unreadGaps)];
  const { communicators } = file;
  const ends = workEnds(rows, {
    communicators,
    kept: kept(file, window, 'ops'),
    doubtful,
    unended: pending.unended,
    unread,
  });
  const works = pending.works.filter(({ row }) => !unread.has(row) && outcomeAt(ends, row) !== 'end-lost');
  return { ends, pending: { ...pending, works } };
}

function ringSummary(ring: ScannedFile['rings'][number], records: number) {
  const { folded, muted, nullCalls } = ring;
  return {
    ring: ring.ring,
    class: ring.class,
    /** Positions given out when it was read. */
    head: ring.head,
    records,
    lost: countLost(ring.gaps),
    /** Slots in chunks that were left out. */
    unread: unreadGaps(ring.gaps).reduce((sum, { from, end }) => sum + end - from, 0),
    folded,
    muted,
    /** Stops and states of NULL. */
    nullCalls,
  };
}

function newestOf(all: readonly (Ticks | null)[]): Ticks | null {
  const known = all.filter((tick) => tick !== null);
  return known.length === 0 ? null : (maxOf(known) as Ticks);
}

function countLost(gaps: readonly Gap[]): LostSlots {
  const lost = { overwritten: 0, dropped: 0, torn: 0, copy: 0 };
  for (const { cause, from, end } of lostGaps(gaps)) lost[cause] += end - from;
  return lost;
}

/** The times for which the records of these rings and of their operations are both in the file. */
function kept(file: ScannedFile, window: ReadWindow | null, ringClass: RingClass): Kept {
  const gaps = file.rings.filter((ring) => ring.class === ringClass).flatMap((ring) => ring.gaps);
  const ends = gaps
    .filter(({ cause }) => cause === 'overwritten' || cause === 'dropped')
    .map(({ beforeTick }) => beforeTick ?? 0);
  return { from: maxOf(ends, 0) as Ticks, isRead: isFollowed(unreadGaps(gaps), window) };
}

/** The records that follow an event of the window are read around it. The records that follow other events may be in the next unread gap. */
function isFollowed(gaps: readonly Gap[], window: ReadWindow | null): Kept['isRead'] {
  if (window === null || gaps.length === 0) return () => true;
  const { from, to, isLapOnly } = window;
  const behind = maxOf(gaps.map(({ beforeTick }) => beforeTick ?? 0));
  return (at) => at > behind || (isLapOnly !== true && at >= from && at <= to);
}

function hostWindow({ rings }: ScannedFile): Ticks | null {
  const gaps = rings
    .filter((ring) => ring.class === 'host' || ring.class === 'overflow')
    .flatMap((ring) => ring.gaps);
  let from = 0;
  for (const { beforeTick } of gaps) {
    if (beforeTick === null) return null;
    from = Math.max(from, beforeTick);
  }
  return from as Ticks;
}

function headerSample(header: RankFileHeader): ClockSample {
  const { startRealtime: realtime, startMonotonic: monotonic } = header;
  return { tick: 0 as Ticks, realtime, monotonic, boottime: monotonic, width: header.tickHz / 1e6 };
}
