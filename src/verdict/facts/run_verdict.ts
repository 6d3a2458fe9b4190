/** Collects the evidence of all scanned files, on the trace's axis, for the judge. */

import { addTo } from '../../base/grouped.js';
import { maxOf } from '../../base/extremes.js';
import { comparableBy } from '../../clocks/comparable.js';
import { isLostText } from '../../base/lost_text.js';
import { type Column } from '../../base/columns.js';
import type { Ticks, TraceNs } from '../../base/time.js';
import { toTrace } from '../../clocks/clock_map.js';
import { toLocal, type ClockSolution } from '../../clocks/domains.js';
import type { RunLinks } from '../../cluster/run_links.js';
import type { ClusterComm } from '../../cluster/collective_view.js';
import { EventType, type EventTypeName } from '../../rankfile/format/nccl.js';
import { everMuted, spansWithoutCalls } from '../../model/control.js';
import { recordOf } from '../../model/handle_key.js';
import { onAxis, type ToTime } from '../../model/on_axis.js';
import {
  CALL_TICKS,
  OP_TICKS,
  type PendingOp,
  type PendingWork,
  UNKNOWN_COMM,
  WORK_TICKS,
} from '../../model/pending.js';
import { COMM_TICKS } from '../../model/recording.js';
import type { WorkOutcome } from '../../model/work_end.js';
import { outcomeAt, type WorkEndTable } from '../../model/work_end_table.js';
import { judge } from '../judge.js';
import type { Node, Pending, RankWitness } from '../file_facts.js';
import type { Verdict } from '../types.js';
import { rankCalls } from './calls.js';
import { reportedCalls } from './reported_calls.js';
import { hasHostCalls, hostCalls } from './scanned_calls.js';
import type { OriginTable } from '../../cluster/pxn.js';
import type { Run } from '../../runs/run.js';
import type { RankScan } from '../../scan/scan.js';

export interface VerdictOptions {
  /**
   * Seconds after which a stall of live ranks is called a hang. Default: 30, or twice the longest collective or pause of its communicator.
   */
  readonly hungAfter?: number | undefined;
}

/** `alive`, `ends`, `origins`: by file. `ends` includes the operations that other processes executed. */
export function runVerdict(
  run: Run,
  clocks: ClockSolution,
  ends: readonly WorkEndTable[],
  origins: readonly OriginTable[],
  { comms, links }: { readonly comms: readonly ClusterComm[]; readonly links: RunLinks },
  { hungAfter, alive }: VerdictOptions & { readonly alive: readonly boolean[] },
): Verdict {
  const times = run.members.map((_, file): ToTime => {
    const { map } = clocks.domains[clocks.domainOf[file]!]!;
    const scale = clocks.scales[file]!;
    return (tick) => toTrace(map, toLocal(scale, tick));
  });
  const elsewhere = executedElsewhere(run, origins, times);
  const sampling = new Set(run.members.map(({ scan }) => scan.header.sampleEvery));
  // A call and its collective differ in their counts, so only one of the two is compared.
  const callsOf = run.members.some(({ scan }) => hasHostCalls(scan, everMuted(scan)))
    ? hostCalls
    : reportedCalls;
  const ranks = run.members.map(({ scan }, file) => {
    const rank = witness(scan, ends[file]!, times[file]!, elsewhere[file]!, alive[file] === true, callsOf);
    // Ranks with different sampling left out different collectives.
    return sampling.size > 1 ? { ...rank, reach: { ...rank.reach, knownFrom: Infinity as TraceNs } } : rank;
  });
  return judge({
    comms,
    ranks,
    linkFaults: links.faults,
    longestSends: links.sends.map(({ longest, longestSince: since, longestStep: step, sizes, ...link }) => ({
      ...link,
      ...{ from: times[link.file]!(since), to: times[link.file]!(since + longest), step },
      medianNs: sizes.reduce((a, b) => (b.sends > a.sends ? b : a)).medianNs,
    })),
    isWholeJob: run.missing.length === 0,
    ...comparableBy(clocks),
    hungAfter: hungAfter === undefined ? null : hungAfter * 1e9,
  });
}

function witness(
  scan: RankScan,
  ends: WorkEndTable,
  time: ToTime,
  elsewhere: ReadonlyMap<number, readonly PendingOp[]>,
  isAlive: boolean,
  callsOf: typeof hostCalls,
): RankWitness {
  const { header, communicators, pending, heartbeat, lastTick, hostWindow } = scan;
  const signs = [heartbeat?.tick ?? null, lastTick].filter((tick) => tick !== null);
  const lastSign = signs.length === 0 ? null : time(maxOf(signs));
  const isClosed = header.life === 'closed';
  const muted = everMuted(scan);
  const asked = header.eventMask & CALLS;
  const { damage } = scan;
  const unknownComms = countUnknown(scan.works.comm);
  // The recorder writes the first heartbeat before the first record, and a communicator before its first call.
  const isBlank = heartbeat === null && !isClosed && unknownComms > 0;
  const isDamaged = damage.cutAreas + damage.lostAreas + damage.shortRings > 0 || damage.isHollow || isBlank;
  // If a name in the tables is lost, the calls are not known.
  const isNameless = damage.lostCommunicators > 0 || scan.works.funcs.some(isLostText);
  const unrecordedCalls = spansWithoutCalls(scan, communicators);
  const mutedCalls = (muted.events & asked) !== 0 || muted.sampling;
  const hasCallEvents = (asked & EventType.Coll) !== 0 && !mutedCalls;
  return {
    node: nodeOf(header),
    architecture: header.tickSource === 'tsc' ? 'x86-64' : header.tickSource === 'cntvct' ? 'aarch64' : null,
    ncclVersion: header.ncclVersion,
    communicators: new Map(communicators.map((comm) => [comm.number, onAxis(comm, COMM_TICKS, time)])),
    life: {
      isClosed,
      isAlive: !isClosed && isAlive,
      isStopped: !isClosed && scan.isStopped,
      isLate: !isClosed && isAlive && !wasFresh(scan),
      isNoEarlierCopy: header.snapshotRealtime !== null || hasRingsOfGone(header),
      isGone: !isClosed && hasRingsOfGone(header),
      hasHeartbeats: heartbeat !== null || !isDamaged,
      lastSign,
      heartbeats: scan.clockSamples.slice(-KEPT_HEARTBEATS).map(({ tick }) => time(tick)),
    },
    reach: {
      // The file does not show calls if their events were not requested, or `control` once turned them off.
      knownFrom:
        hostWindow === null || !hasCallEvents || isDamaged || isNameless
          ? (Infinity as TraceNs)
          : time(hostWindow),
      knownUntil: isClosed ? (Infinity as TraceNs) : knownUntil(scan, lastSign, time),
      isPartial: hostWindow !== 0 || mutedCalls,
    },
    lacks: {
      isDamaged,
      lostEntries: damage.lostEntries,
      unknownComms,
      sampleEvery: muted.sampling ? null : header.sampleEvery,
      isMuted: muted.events !== 0,
      notRecorded: OF_WEIGHT.filter((event) => (header.eventMask & ~muted.events & EventType[event]) === 0),
    },
    pending: {
      works: pendingWorks(scan, elsewhere, time),
      inside: isClosed ? [] : scan.inside.map((call) => onAxis(call, CALL_TICKS, time)),
      ...endsNotKnown(scan, ends),
      lastWithoutEnd: lastWithoutEnd(scan, ends),
    },
    pace: {
      lastMove: new Map([...pending.lastMove].map(([number, tick]) => [number, time(tick)])),
      longestTransfer: longestTransfer(scan, ends, time),
      lastEvent: scan.lastEvent === null ? null : time(scan.lastEvent),
      hasCallsNow: !unrecordedCalls.some(({ end }) => end === Infinity),
      longestQuiet: (scan.longestQuiet * 1e9) / header.tickHz,
      isPaceWhole: hostWindow === 0 && unrecordedCalls.length === 0,
      watched: (scan.watched * 1e9) / header.tickHz,
    },
    calls: rankCalls(scan, time),
    hostCalls: isDamaged || isNameless ? new Map() : callsOf(scan, muted, time),
    worksSeen: scan.works.key.length,
  };
}

const nodeOf = ({ ncclHostId, hostName, process }: RankScan['header']): Node =>
  ncclHostId === ''
    ? { id: `${hostName} ${process.bootId}`, name: hostName, machine: process.bootId }
    : { id: ncclHostId, name: ncclHostId, machine: process.bootId };

function countUnknown(comms: Column): number {
  let unknown = 0;
  comms.forEach((number) => {
    if (number === UNKNOWN_COMM) unknown++;
  });
  return unknown;
}

/** Of older samples a file keeps only some. */
const KEPT_HEARTBEATS = 16;

/** A heartbeat comes every second. Hosts' clocks may differ a little. */
const FRESH = 2_500_000_000n;

/**
 * Files of a running job are read one after the other. The files that were read first have older heartbeats, although their ranks are
 * alive.
 */
export function wasFresh({ heartbeat, readAt, header }: RankScan): boolean {
  if (heartbeat === null) return false;
  const old = (header.snapshotRealtime ?? readAt) - heartbeat.realtime;
  return old < FRESH && old > -FRESH;
}

/**
 * Only `snapshot` copies the rings of a live process. Recorders save rings, and commands read them in place, only after the process has
 * ended.
 */
export const hasRingsOfGone = ({ snapshotRealtime, placement, ringPath }: RankScan['header']): boolean =>
  snapshotRealtime === null && placement === 'in-file' && ringPath !== '';

const CALLS = EventType.Coll | EventType.P2p;
/** The event types on which a verdict of a hang or an end rests. */
const OF_WEIGHT: readonly EventTypeName[] = ['Coll', 'P2p', 'ProxyOp', 'ProxyStep', 'KernelCh'];
const WITHOUT_END: readonly string[] = [
  'no-children',
  'endless',
  'outside-window',
  'end-lost',
  'not-read',
] satisfies WorkOutcome[];

function endsNotKnown(
  { works, bareCalls, copyColls, communicators }: RankScan,
  ends: WorkEndTable,
): Pick<Pending, 'endsNotKnown' | 'endsToSelf'> {
  const ownRank = new Map(communicators.map(({ number, rank }) => [number, rank]));
  let [known, toSelf] = [0, 0];
  works.comm.forEach((comm, row) => {
    if (!WITHOUT_END.includes(outcomeAt(ends, row))) known++;
    else if (isP2p(works, row) && works.peer[row] === ownRank.get(comm)) toSelf++;
  });
  return {
    endsNotKnown: works.comm.length - known + bareCalls.size + copyColls,
    endsToSelf: toSelf,
  };
}

const isP2p = ({ seq }: RankScan['works'], row: number): boolean => seq[row]! < 0;

/** The communicator of a call without further events is not known. */
function lastWithoutEnd({ works, bareCalls, copyColls }: RankScan, ends: WorkEndTable): (number | null)[] {
  const newest = new Map<number, number>();
  works.comm.forEach((comm, row) => newest.set(comm, row));
  const without = [...newest].flatMap(([number, row]) =>
    WITHOUT_END.includes(outcomeAt(ends, row)) ? [number < 0 ? null : number] : [],
  );
  return bareCalls.size + copyColls > 0 ? [...without, null] : without;
}

function longestTransfer({ works }: RankScan, ends: WorkEndTable, time: ToTime): number | null {
  let longest: number | null = null;
  ends.lastOp.forEach((lastOp, row) => {
    if (!isP2p(works, row) || Number.isNaN(lastOp) || outcomeAt(ends, row) !== 'complete') return;
    longest = Math.max(longest ?? 0, time(lastOp) - time(works.arrival[row]!));
  });
  return longest;
}

/** Rings outside the file were copied into it at times. Later records are missing. */
function knownUntil({ header }: RankScan, lastSign: TraceNs | null, time: ToTime): TraceNs {
  if (header.placement === 'in-file') return lastSign ?? time(0);
  return time(header.copiedTick ?? 0);
}

/** By file: unfinished sends that other processes execute (PXN), by the row of their work. */
function executedElsewhere(
  run: Run,
  origins: readonly OriginTable[],
  times: readonly ToTime[],
): Map<number, PendingOp[]>[] {
  const byFile = run.members.map(() => new Map<number, PendingOp[]>());
  run.members.forEach(({ scan }, executor) => {
    for (const { parent, op } of scan.pending.foreign) {
      const origin = origins[executor]!.rows.get(parent);
      if (origin)
        addTo(byFile[origin.file]!, origin.row, {
          ...onAxis(op, OP_TICKS, times[executor]!),
          executor,
        });
    }
  });
  return byFile;
}

/** In order of start. The executing process's records cover what it executes. */
function pendingWorks(
  { pending, works }: RankScan,
  elsewhere: ReadonlyMap<number, readonly PendingOp[]>,
  time: ToTime,
): PendingWork[] {
  const rows = new Set(pending.works.map(({ row }) => row));
  const others = [...elsewhere.keys()].filter((row) => !rows.has(row));
  return [...pending.works, ...others.map((row) => onlyElsewhere(works, row))]
    .map((work) => {
      const ops = elsewhere.get(work.row) ?? [];
      const own = onAxis(work, WORK_TICKS, time);
      return ops.length === 0 ? own : { ...own, ops: [...own.ops, ...ops], lostSince: 0 };
    })
    .sort((a, b) => a.start - b.start);
}

/** Work without unfinished parts in its own process. */
function onlyElsewhere(works: RankScan['works'], row: number): RankScan['pending']['works'][number] {
  const [comm, seq] = [works.comm[row]!, works.seq[row]!];
  const isColl = seq >= 0;
  return {
    row,
    record: recordOf(works.key[row]!),
    comm: comm < 0 ? null : comm,
    func: works.funcs[works.func[row]!]!,
    seq: isColl ? seq : null,
    peer: isColl ? null : works.peer[row]!,
    ordinal: works.ordinal[row]!,
    plan: works.plans[works.plan[row]!]!,
    start: works.arrival[row]! as Ticks,
    group: null,
    ops: [],
    blocks: null,
    hasMoved: true, // or it would have no operations elsewhere
    unhanded: null,
    lostSince: 0,
  };
}
