/**
 * First pass over one file. It pairs all records, and keeps only the facts that other ranks or the second pass need. Runs on a worker
 * thread. The result is plain data. Except for one row per collective it does not grow with the run.
 */

import { maxOf } from '../base/extremes.js';
import type { Ticks } from '../base/time.js';
import type { CallTable } from '../model/call_table.js';
import { controlChanges, isEverMuted } from '../model/control.js';
import type { ForeignOps } from '../model/foreign_ops.js';
import type { InsideCall } from '../model/inside_calls.js';
import type { OddCounts } from '../model/odd_records.js';
import { lostAfter, lostGaps, unreadGaps } from '../model/lost_ends.js';
import type { PeerTraffic } from '../model/peer_bytes.js';
import { Pairing } from '../model/pairing.js';
import type { StepTable } from '../model/step_table.js';
import type { PendingAtEnd } from '../model/pending.js';
import type { Kept } from '../model/work_ends.js';
import { outcomeAt, type WorkEndTable } from '../model/work_end_table.js';
import type { WorkTable } from '../model/work_table.js';
import { pairedRows, type RankFileStream, streamRankFile } from '../rankfile/index.js';
import type {
  Beacon,
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
} from '../rankfile/types.js';
import type { StampedGpu } from './gpu_stamps.js';
import { callsUntil } from './read_order.js';
import { ScanCollector } from './scan_collector.js';
import type { FileSize } from './drawn_size.js';
import { StepFileWriter, type StepRows } from './step_file.js';
import type { SendTimes } from './send_times.js';
import { TransferCollector, type TransferTotals } from './transfer_totals.js';

/** Slots that are not in the file, by cause. */
export type LostSlots = Readonly<Record<LossCause, number>>;

export interface RingSummary {
  readonly ring: number;
  readonly class: RingClass;
  /** Positions given out when it was read. */
  readonly head: number;
  readonly records: number;
  readonly lost: LostSlots;
  readonly folded: number;
  /** Slots in chunks that were left out. */
  readonly unread: number;
  readonly muted: number;
  /** Stops and states of NULL. */
  readonly nullCalls: number;
}

export interface RankScan {
  readonly path: string;
  readonly bytes: number;
  readonly header: RankFileHeader;
  readonly communicators: readonly Communicator[];
  readonly heartbeat: ClockSample | null;
  /** ns since the Unix epoch, by the clock of the machine that reads: when the heartbeat was read. */
  readonly readAt: bigint;
  /** The header's own pair first: never empty. */
  readonly clockSamples: readonly ClockSample[];
  readonly beacons: readonly Beacon[];
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
  /** The last step of operations whose start is lost (model/stand_ins.ts). */
  readonly standInSteps: Uint32Array;
  /** Work that had not ended when the records end. */
  readonly pending: PendingAtEnd;
  /** From this tick on, no record of a thread that calls NCCL is lost. null: the newest records are lost. */
  readonly hostWindow: Ticks | null;
  /** The collectives that were called, with or without further events. */
  readonly calls: CallTable;
  /** When any NCCL event last began or ended, and the longest pause before, in ticks (model/quiet_times.ts). */
  readonly lastEvent: Ticks | null;
  readonly longestQuiet: number;
  /** Ticks: the length of the time in which pauses are known. */
  readonly watched: number;
  /** Calls without further events, by row: the name of the function. */
  readonly bareCalls: ReadonlyMap<number, string>;
  /** Number of collectives of the copy engines. NCCL reports when they were put into their stream, not when they ran. */
  readonly copyColls: number;
  /** Calls that had not returned when the records end. */
  readonly inside: readonly InsideCall[];
  /** Connections and operations whose end NCCL never reports. */
  readonly endlessConnections: ReadonlySet<string>;
  readonly endlessOps: number;
  /** Executed for other processes. */
  readonly foreignOps: readonly ForeignOps[];
  readonly gpus: readonly StampedGpu[];
  /** The size of its trace. */
  readonly size: FileSize;
  readonly busiestPeers: readonly PeerTraffic[];
  /** The content of its side file. Empty if there is none. */
  readonly steps: readonly StepRows[];
  /** Times of sends on the connections of collectives. */
  readonly sendTimes: readonly SendTimes[];
  /** null if no report was requested. */
  readonly transfers: TransferTotals | null;
}

/** The side file of its steps: its path, and whether it has every step or only the first step of each operation. */
export interface StepsWanted {
  readonly path: string;
  readonly every: boolean;
}

/**
 * `steps`: null if no side file is wanted. `forReport`: also collect the data that only a report needs. `window`: the part of the file to
 * read; null: all of it.
 */
export function scanFile(
  path: string,
  steps: StepsWanted | null = null,
  forReport = false,
  window: ReadWindow | null = null,
): RankScan {
  const file = streamRankFile(path, window);
  try {
    const stepFile = steps && new StepFileWriter(steps.path, steps.every, ranksOf(file));
    return scanStream(file, window, stepFile, forReport ? new TransferCollector() : null);
  } finally {
    file.close();
  }
}

const ranksOf = ({ header, communicators }: RankFileStream): number =>
  maxOf([1, header.worldSize ?? 1, ...[...communicators.values()].map(({ nRanks }) => nRanks)]);

function scanStream(
  file: RankFileStream,
  window: ReadWindow | null,
  stepFile: StepFileWriter | null,
  totals: TransferCollector | null,
): RankScan {
  const readAt = BigInt(Date.now()) * 1_000_000n;
  const collector = new ScanCollector(file, stepFile, totals);
  const pairing = new Pairing(file, collector);
  const seen = readRings(file, pairing);
  const used = [...seen.values()].filter(({ records }) => records > 0);
  const { endless, endlessOps, gpus } = collector.settle();
  const { workEnds, pending } = endings(collector, pairing.steps, file, window);
  const works = collector.works.finish();
  const busiestPeers = collector.peers.busiest(collector.openOps.all());
  const lastTick = newestOf(used.map((ring) => ring.lastTick));
  const lastPoll = pairing.openFolds(file.folds());
  const lastSign = newestOf([file.heartbeat?.tick ?? null, lastTick, lastPoll]);
  const gaps = file.rings.flatMap((ring) => (ring.class === 'steps' ? [] : ring.gaps));
  for (const op of collector.openOps.all())
    for (const row of op.openSteps) stepFile?.stepOpen(pairing.steps, row);
  return {
    path: file.path,
    bytes: file.bytes,
    header: file.header,
    communicators: [...file.communicators.values()],
    heartbeat: file.heartbeat,
    readAt,
    clockSamples: [headerSample(file.header), ...file.clockSamples],
    beacons: file.beacons,
    changes: file.changes,
    window,
    rings: file.rings.map((ring) => ringSummary(ring, seen.get(ring.ring)!.records)),
    problems: file.problems(),
    damage: file.damage,
    odd: { ...pairing.oddCounts, startsAgain: pairing.oddCounts.startsAgain - endless.otherDirection },
    lastTick,
    lastSign,
    records: used.reduce((sum, { records }) => sum + records, 0),
    folded: file.rings.reduce((sum, ring) => sum + ring.folded, 0),
    workEnds,
    works,
    standInSteps: collector.standIns.lastSteps(),
    pending,
    hostWindow: hostWindow(file),
    calls: collector.callTable.finish(
      callsUntil(
        file,
        [...collector.callTable.callingRings].map((ring) => seen.get(ring)!.lastTick),
      ),
      works,
    ),
    lastEvent: collector.quiet.last,
    longestQuiet: collector.quiet.longest(gaps),
    watched: collector.quiet.watched(gaps),
    bareCalls:
      file.header.sampleEvery !== 1 || isEverMuted(file)
        ? new Map()
        : collector.calls.finish(kept(file, window, 'host')),
    copyColls: collector.copyColls,
    inside: collector.inside.finish(lostAfter(file.rings)),
    endlessConnections: endless.connections,
    endlessOps,
    foreignOps: collector.foreign.all(),
    gpus,
    size: collector.size.finish(
      workEnds,
      works.enqueued,
      collector.ends.starts(),
      collector.openOps.all(),
      endless.connections,
      file.communicators.values(),
      busiestPeers,
      {
        directions: collector.peers.used,
        recorderTracks: recorderTracks(file, collector.oddRecords - endless.otherDirection, lastSign),
      },
    ),
    busiestPeers,
    steps: stepFile?.close() ?? [],
    sendTimes: collector.sendTimes.finish(),
    transfers: totals?.finish() ?? null,
  };
}

/**
 * Number of the recorder's tracks: one for each ring that lost records, and those of odd records, of changed settings and of the last sign.
 */
function recorderTracks(file: RankFileStream, odd: number, lastSign: Ticks | null): number {
  const others = [odd > 0, controlChanges(file).length > 0, lastSign !== null];
  return file.rings.filter(({ gaps }) => lostGaps(gaps).length > 0).length + others.filter(Boolean).length;
}

/** The pending work, without work whose end is only lost. */
function endings(
  { pending: collected, ends, openOps }: ScanCollector,
  steps: StepTable,
  file: RankFileStream,
  window: ReadWindow | null,
): Pick<RankScan, 'workEnds' | 'pending'> {
  const endMayBeIn = (gaps: Parameters<typeof lostAfter>[1]): Set<number> => {
    const { works } = collected.finish(steps, lostAfter(file.rings, gaps));
    return new Set(works.filter(({ lostSince }) => lostSince > 0).map(({ row }) => row));
  };
  const pending = collected.finish(steps, lostAfter(file.rings, lostGaps));
  const [doubtful, unread] = [endMayBeIn(lostGaps), endMayBeIn(unreadGaps)];
  const workEnds = ends.finish(kept(file, window, 'ops'), openOps.all(), doubtful, pending.unended, unread);
  const works = pending.works.filter(
    ({ row }) => !unread.has(row) && outcomeAt(workEnds, row) !== 'end-lost',
  );
  return { workEnds, pending: { ...pending, works } };
}

/** What was read of a ring. */
interface ReadRing {
  records: number;
  lastTick: Ticks;
}

/** Pairs all records. Returns what was read, by ring. */
function readRings(file: RankFileStream, pairing: Pairing): ReadonlyMap<number, ReadRing> {
  const read = new Map(
    file.rings.map(({ ring }): [number, ReadRing] => [ring, { records: 0, lastTick: 0 as Ticks }]),
  );
  for (const range of pairedRows(file.rings)) {
    pairing.read(range);
    const ring = read.get(range.ring)!;
    ring.records += range.end - range.from;
    ring.lastTick = range.records.tick[range.end - 1]! as Ticks;
  }
  return read;
}

function ringSummary(ring: RankFileStream['rings'][number], records: number): RingSummary {
  const { folded, muted, nullCalls } = ring;
  return {
    ring: ring.ring,
    class: ring.class,
    head: ring.head,
    records,
    lost: countLost(ring.gaps),
    unread: unreadGaps(ring.gaps).reduce((sum, { from, end }) => sum + end - from, 0),
    folded,
    muted,
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
function kept(file: RankFileStream, window: ReadWindow | null, ringClass: RingClass): Kept {
  const gaps = file.rings.filter((ring) => ring.class === ringClass).flatMap((ring) => ring.gaps);
  const ends = gaps
    .filter(({ cause }) => cause === 'overwritten' || cause === 'dropped')
    .map(({ beforeTick }) => beforeTick ?? 0);
  return { from: maxOf(ends, 0) as Ticks, isRead: isFollowed(unreadGaps(gaps), window) };
}

/** The records that follow an event of the window are read around it. The records that follow other events may be in the next unread gap. */
function isFollowed(gaps: readonly Gap[], window: ReadWindow | null): Kept['isRead'] {
  if (window === null || gaps.length === 0) return () => true;
  const { from, to } = window;
  const behind = maxOf(gaps.map(({ beforeTick }) => beforeTick ?? 0));
  return (at) => at > behind || (at >= from && at <= to);
}

function hostWindow({ rings }: RankFileStream): Ticks | null {
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
