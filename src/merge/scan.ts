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
import { mergedRuns, openRankFile } from '../reader/index.js';
import type {
  ClockSample,
  Communicator,
  Gap,
  Problem,
  RankFile,
  RankFileHeader,
  RingClass,
} from '../reader/types.js';

/** Slots that are not in the file, by cause. */
export type LostSlots = Readonly<Record<Gap['cause'], number>>;

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
  const file = openRankFile(path);
  const collector = new Collector(file);
  const pairing = new Pairing(file, collector);
  for (const run of mergedRuns(file)) pairing.run(run);
  const rings = file.rings.map(summarizeRing);
  const workEnds = collector.ends.finish(childWindowStart(file));
  const lastTicks = file.rings.flatMap(({ records }) => [...records.tick.slice(-1)]);
  return {
    path,
    bytes: file.bytes,
    header: file.header,
    communicators: [...file.communicators.values()],
    heartbeat: file.heartbeat,
    clockSamples: [headerSample(file.header), ...file.clockSamples],
    rings,
    problems: file.problems,
    unplaced: pairing.unplaced,
    lastTick: lastTicks.length === 0 ? null : (Math.max(...lastTicks) as Ticks),
    records: rings.reduce((sum, ring) => sum + ring.records, 0),
    folded: rings.reduce((sum, ring) => sum + ring.folded, 0),
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

  constructor(file: RankFile) {
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

function summarizeRing(ring: RankFile['rings'][number]): RingSummary {
  const lost = (cause: Gap['cause']): number =>
    ring.gaps.filter((gap) => gap.cause === cause).reduce((sum, gap) => sum + gap.end - gap.from, 0);
  return {
    ring: ring.ring,
    class: ring.class,
    records: ring.records.length,
    lost: { overwritten: lost('overwritten'), torn: lost('torn'), copy: lost('copy') },
    folded: ring.folded,
    muted: ring.muted,
  };
}

/** Before this, operations and kernels may have been overwritten while their collective was not. */
function childWindowStart(file: RankFile): Ticks {
  const starts = file.rings
    .filter((ring) => ring.class === 'ops' && ring.gaps.some((gap) => gap.cause === 'overwritten'))
    .map((ring) => ring.records.tick[0] ?? 0);
  return Math.max(0, ...starts) as Ticks;
}

function headerSample(header: RankFileHeader): ClockSample {
  const { startRealtime: realtime, startMonotonic: monotonic } = header;
  return { tick: 0 as Ticks, realtime, monotonic, boottime: monotonic, width: header.tickHz / 1e6 };
}
