/**
 * First pass over one file: pair everything, keep only what the other ranks or the second pass need to know. Runs on a
 * worker thread; the result is plain data. Apart from one row per collective it does not grow with the run.
 */

import type { Ticks } from '../base/time.js';
import { LowerHull } from '../clocks/gpu_clock.js';
import { collectiveRows, type CollectiveRows } from '../model/collective_rows.js';
import { Pairing } from '../model/pairing.js';
import type { GpuNs, Kernel, Op, Unplaced, Work, WorkListener } from '../model/types.js';
import { WorkEnds, type WorkEnd } from '../model/work_end.js';
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
}

/** Work of one kind that had not ended, for the closing report. */
export interface OpenWorkSummary {
  readonly comm: Communicator | null;
  readonly func: string;
  readonly seq: number | null;
  readonly start: Ticks;
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
  readonly unplaced: Unplaced;
  /** Of the newest record; null without any. */
  readonly lastTick: Ticks | null;
  readonly records: number;
  /** Repeats that became counts: callbacks that happened and were not recorded one by one. */
  readonly folded: number;
  readonly workEnds: readonly WorkEnd[];
  readonly collectives: CollectiveRows;
  readonly openWork: readonly OpenWorkSummary[];
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
  const workEnds = collector.ends.finish(childrenKeptFrom(file));
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
    })),
    problems: file.problems(),
    unplaced: pairing.unplaced,
    lastTick: used.length === 0 ? null : (Math.max(...used.map(({ lastTick }) => lastTick)) as Ticks),
    records: used.reduce((sum, { records }) => sum + records, 0),
    folded: file.rings.reduce((sum, ring) => sum + ring.folded, 0),
    workEnds,
    collectives: collectiveRows(collector.works, workEnds),
    openWork: collector.openWork(),
    gpuStamps: collector.gpuStamps(),
  };
}

/** Collects the ends of works and the envelope of GPU stamps; draws nothing. */
class Collector implements Partial<WorkListener> {
  readonly ends = new WorkEnds();
  private readonly hull = new LowerHull();
  private readonly stamps = new Map<number, GpuStamp>();
  readonly works: Work[] = [];
  private readonly nsPerTick: number;

  constructor(file: Pick<FileFacts, 'header'>) {
    this.nsPerTick = 1e9 / file.header.tickHz;
  }

  workStart(work: Work): void {
    this.works.push(work);
    this.ends.started(work);
  }

  opStop(op: Op): void {
    this.ends.opEnded(op);
  }

  kernelStart(kernel: Kernel): void {
    if (kernel.timerStart !== null) this.stamp(kernel.start, kernel.timerStart);
  }

  kernelStop(kernel: Kernel): void {
    this.ends.kernelEnded(kernel);
    if (kernel.stop !== null && kernel.timerStop !== null) this.stamp(kernel.stop, kernel.timerStop);
  }

  openWork(): OpenWorkSummary[] {
    return this.works
      .filter((work) => work.openChildren > 0 || work.enqueued === null)
      .map(({ comm, func, seq, start }) => ({ comm, func, seq, start }));
  }

  /** Which points lie on the hull does not depend on the exact tick rate, so the final one may be applied later. */
  gpuStamps(): GpuStamp[] {
    return this.hull.points().map((point) => this.stamps.get(point.x)!);
  }

  private stamp(noticed: Ticks, gpu: GpuNs): void {
    const x = noticed * this.nsPerTick;
    const before = this.stamps.get(x);
    if (before && before.gpu >= gpu) return;
    this.hull.add({ x, y: x - gpu });
    this.stamps.set(x, { noticed, gpu });
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

/** Operations and kernels from before may be lost where their collective is not. */
function childrenKeptFrom(file: RankFileStream): Ticks {
  const ends = file.rings
    .filter((ring) => ring.class === 'ops')
    .flatMap((ring) => ring.gaps.filter(({ cause }) => cause === 'overwritten' || cause === 'dropped'))
    .map(({ beforeTick }) => beforeTick ?? 0);
  return ends.reduce<number>((latest, end) => Math.max(latest, end), 0) as Ticks;
}

function headerSample(header: RankFileHeader): ClockSample {
  const { startRealtime: realtime, startMonotonic: monotonic } = header;
  return { tick: 0 as Ticks, realtime, monotonic, boottime: monotonic, width: header.tickHz / 1e6 };
}
