/**
 * First pass over one file: pair everything, keep only what the other ranks or the second pass need to know. Runs on a
 * worker thread; the result is plain data. Apart from one row per collective it does not grow with the run.
 */

import type { Ticks } from '../base/time.js';
import { LowerHull } from '../clocks/gpu_clock.js';
import { GpuVotes, type GpuVote } from '../clocks/gpu_votes.js';
import { ApiCalls } from '../model/api_calls.js';
import { ForeignOpsCollector, type ForeignOps } from '../model/foreign_ops.js';
import type { OddCounts } from '../model/odd_records.js';
import { Pairing } from '../model/pairing.js';
import { SilentOps } from '../model/silent_ops.js';
import type { GpuNs, HostSpan, Kernel, Op, Work, WorkListener } from '../model/types.js';
import { WorkEnds, type WorkEnd } from '../model/work_end.js';
import { WorkTableBuilder, type WorkTable } from '../model/work_table.js';
import { mergedRuns, type RankFileStream, streamRankFile } from '../reader/index.js';
import type {
  ClockSample,
  Communicator,
  FileFacts,
  Gap,
  LossCause,
  Problem,
  RankFileHeader,
  RingClass,
} from '../reader/types.js';

/** Slots that are not in the file, by cause. */
export type LostSlots = Readonly<Record<LossCause, number>>;

export interface RingSummary {
  readonly ring: number;
  readonly class: RingClass;
  readonly records: number;
  readonly lost: LostSlots;
  readonly folded: number;
  readonly muted: number;
  /** Stops and states of NULL. */
  readonly nullCalls: number;
}

/** A kernel stamp that may lie on the lower envelope of (noticed - stamped). */
export interface GpuStamp {
  readonly noticed: Ticks;
  readonly gpu: GpuNs;
}

export interface RankScan {
  readonly path: string;
  readonly bytes: number;
  readonly header: RankFileHeader;
  readonly communicators: readonly Communicator[];
  readonly heartbeat: ClockSample | null;
  /** The header's own pair first: never empty. */
  readonly clockSamples: readonly ClockSample[];
  readonly rings: readonly RingSummary[];
  readonly problems: readonly Problem[];
  readonly odd: OddCounts;
  /** Of the newest record; null without any. */
  readonly lastTick: Ticks | null;
  readonly records: number;
  /** Repeats that became counts: callbacks that happened and were not recorded one by one. */
  readonly folded: number;
  readonly workEnds: readonly WorkEnd[];
  /** What they are called: the same rows. */
  readonly works: WorkTable;
  /** Calls of which nothing more was told, by row: what was called. */
  readonly silentCalls: ReadonlyMap<number, string>;
  /** Collectives of the copy engines: put into their stream, when they ran is not told. */
  readonly copyColls: number;
  /** Connections and operations whose end NCCL never tells. */
  readonly silentConnections: ReadonlySet<string>;
  readonly silentOps: number;
  /** Executed for other processes. */
  readonly foreignOps: readonly ForeignOps[];
  readonly gpuStamps: readonly GpuStamp[];
}

export function scanFile(path: string): RankScan {
  const file = streamRankFile(path);
  try {
    return scanStream(file);
  } finally {
    file.close();
  }
}

function scanStream(file: RankFileStream): RankScan {
  const collector = new Collector(file);
  const pairing = new Pairing(file, collector);
  const seen = new Map(file.rings.map(({ ring }) => [ring, { records: 0, lastTick: 0 as Ticks }]));
  for (const run of mergedRuns(file)) {
    pairing.run(run);
    const ring = seen.get(run.ring)!;
    ring.records += run.end - run.from;
    ring.lastTick = run.records.tick[run.end - 1]! as Ticks;
  }
  const used = [...seen.values()].filter(({ records }) => records > 0);
  const { silentConnections, silentOps } = collector.settle();
  return {
    path: file.path,
    bytes: file.bytes,
    header: file.header,
    communicators: [...file.communicators.values()],
    heartbeat: file.heartbeat,
    clockSamples: [headerSample(file.header), ...file.clockSamples],
    rings: file.rings.map((ring) => ({
      ring: ring.ring,
      class: ring.class,
      records: seen.get(ring.ring)!.records,
      lost: countLost(ring.gaps),
      folded: ring.folded,
      muted: ring.muted,
      nullCalls: ring.nullCalls,
    })),
    problems: file.problems(),
    odd: pairing.oddCounts,
    lastTick: used.length === 0 ? null : (Math.max(...used.map(({ lastTick }) => lastTick)) as Ticks),
    records: used.reduce((sum, { records }) => sum + records, 0),
    folded: file.rings.reduce((sum, ring) => sum + ring.folded, 0),
    workEnds: collector.ends.finish(keptFrom(file, 'ops')),
    works: collector.works.finish(),
    silentCalls: file.header.sampleEvery > 1 ? new Map() : collector.calls.finish(keptFrom(file, 'host')),
    copyColls: collector.copyColls,
    silentConnections,
    silentOps,
    foreignOps: collector.foreign.all(),
    gpuStamps: collector.gpuStamps(),
  };
}

/** A stamp on its way to the envelope. */
interface StampVote extends GpuVote {
  readonly stamp: GpuStamp;
}

/** Collects what the other ranks and the second pass need to know; draws nothing. */
class Collector implements Partial<WorkListener> {
  readonly ends = new WorkEnds();
  readonly works = new WorkTableBuilder();
  readonly calls = new ApiCalls();
  readonly foreign = new ForeignOpsCollector();
  copyColls = 0;
  private readonly silent = new SilentOps();
  private readonly hull = new LowerHull();
  private readonly stamps = new Map<number, GpuStamp>();
  private readonly votes = new GpuVotes<StampVote>((vote) => {
    this.stamp(vote);
  });
  private readonly nsPerTick: number;

  constructor(file: Pick<FileFacts, 'header'>) {
    this.nsPerTick = 1e9 / file.header.tickHz;
  }

  hostStart(span: HostSpan): void {
    if (span.kind === 'CeColl') this.copyColls++;
    this.calls.started(span);
  }

  hostStop(span: HostSpan): void {
    this.calls.stopped(span);
  }

  workStart(work: Work): void {
    this.ends.started(work);
    this.works.add(work);
    this.calls.workStarted(work);
  }

  workEnqueued(work: Work): void {
    this.works.enqueued(work);
  }

  opStart(op: Op): void {
    this.silent.started(op);
    this.foreign.started(op);
  }

  opAlive(op: Op): void {
    this.silent.alive(op);
  }

  opStop(op: Op): void {
    this.ends.opEnded(op);
    this.foreign.stopped(op);
  }

  kernelStart(kernel: Kernel): void {
    if (kernel.timerStart !== null) this.vote(kernel, kernel.start, kernel.timerStart);
  }

  kernelStop(kernel: Kernel): void {
    this.ends.kernelEnded(kernel);
    if (kernel.stop !== null && kernel.timerStop !== null) this.vote(kernel, kernel.stop, kernel.timerStop);
  }

  /** After the last record, before any count is final. */
  settle(): { silentConnections: Set<string>; silentOps: number } {
    this.votes.finish();
    return { silentConnections: this.silent.finish(), silentOps: this.silent.count };
  }

  /** Which points lie on the hull does not depend on the exact tick rate, so the final one may be applied later. */
  gpuStamps(): GpuStamp[] {
    return this.hull.points().map((point) => this.stamps.get(point.x)!);
  }

  private vote({ work }: Kernel, noticed: Ticks, gpu: GpuNs): void {
    this.votes.add({
      noticed: noticed * this.nsPerTick,
      earliest: work ? work.earliest * this.nsPerTick : -Infinity,
      gpu,
      stamp: { noticed, gpu },
    });
  }

  private stamp({ noticed: x, gpu, stamp }: StampVote): void {
    const before = this.stamps.get(x);
    if (before && before.gpu >= gpu) return;
    this.hull.add({ x, y: x - gpu });
    this.stamps.set(x, stamp);
    if (this.stamps.size > 4096) this.forgetInnerStamps();
  }

  private forgetInnerStamps(): void {
    const kept = this.gpuStamps();
    this.stamps.clear();
    for (const stamp of kept) this.stamps.set(stamp.noticed * this.nsPerTick, stamp);
  }
}

function countLost(gaps: readonly Gap[]): LostSlots {
  const lost = { overwritten: 0, dropped: 0, torn: 0, copy: 0 };
  for (const { cause, from, end } of gaps) lost[cause] += end - from;
  return lost;
}

/** Before this, records of such rings may be lost where what they belong to is not. */
function keptFrom(file: RankFileStream, ringClass: RingClass): Ticks {
  const ends = file.rings
    .filter((ring) => ring.class === ringClass)
    .flatMap((ring) => ring.gaps.filter(({ cause }) => cause === 'overwritten' || cause === 'dropped'))
    .map(({ beforeTick }) => beforeTick ?? 0);
  return ends.reduce<number>((latest, end) => Math.max(latest, end), 0) as Ticks;
}

function headerSample(header: RankFileHeader): ClockSample {
  const { startRealtime: realtime, startMonotonic: monotonic } = header;
  return { tick: 0 as Ticks, realtime, monotonic, boottime: monotonic, width: header.tickHz / 1e6 };
}
