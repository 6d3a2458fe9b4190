/**
 * The stamps of a file's GPUs that may bound a GPU's clock. Their number does not grow with the run. A process with several GPUs has a
 * timer for each, and NCCL does not name the device. But the ranks of one communicator in one process are certainly on different GPUs and
 * stay there. So each rank of a communicator (an entry of the file's table) counts as a clock of its own. A rank in another communicator
 * may be on the same GPU, but this is not known.
 */

import type { Ticks } from '../base/time.js';
import { LowerHull } from '../clocks/gpu_clock.js';
import { GpuVotes, type VoteColumns, type VoteListener } from '../clocks/gpu_votes.js';
import { STAMP_NUMBERS } from '../kernel/host/scan_kernel.js';
import type { GpuNs } from '../model/work_end.js';
import type { Communicator } from '../rankfile/file_types.js';
import { GpuLaunches, type GpuLaunch } from './gpu_launches.js';

/** A kernel stamp that may lie on the lower envelope of (noticed - stamped). */
export interface GpuStamp {
  readonly noticed: Ticks;
  readonly gpu: GpuNs;
}

/** In place of a communicator's number: the file's only GPU. */
export const ONLY_GPU = -1;

export interface StampedGpu {
  /** Number of the communicator in its file, or ONLY_GPU. */
  readonly comm: number;
  readonly stamps: readonly GpuStamp[];
  /** Launches that may bound the clock from the other side. */
  readonly launches: readonly GpuLaunch[];
  /** Step of its stamps, ns; 0: one stamp, or none. */
  readonly step: number;
}

/** Whether a communicator has several ranks in the file. */
function hasSeveralGpus(communicators: Iterable<Communicator>): boolean {
  const ranks = new Map<bigint, number>();
  for (const { commId, rank } of communicators) {
    if (commId === 0n || rank < 0) continue;
    if ((ranks.get(commId) ?? rank) !== rank) return true;
    ranks.set(commId, rank);
  }
  return false;
}

export class GpuStamps {
  private readonly gpus = new Map<number, OneGpu>();
  private readonly areSeveral: boolean;

  constructor(
    communicators: Iterable<Communicator>,
    private readonly nsPerTick: number,
  ) {
    this.areSeveral = hasSeveralGpus(communicators);
  }

  /** Rows of src/kernel/stamps.ts. */
  add(rows: Float64Array): void {
    for (let at = 0; at < rows.length; at += STAMP_NUMBERS) {
      const key = this.areSeveral ? rows[at]! : ONLY_GPU;
      if (this.areSeveral && key < 0) continue; // its rank is not known
      let timer = this.gpus.get(key);
      if (!timer) this.gpus.set(key, (timer = new OneGpu(this.nsPerTick)));
      timer.votes.add(rows, at + 1);
    }
  }

  /** Call it after the last record. In the order of the file's table. */
  finish(): StampedGpu[] {
    return [...this.gpus].sort(([a], [b]) => a - b).map(([comm, gpu]) => ({ comm, ...gpu.finish() }));
  }
}

class OneGpu implements VoteListener {
  readonly votes = new GpuVotes(this);
  private readonly hull = new LowerHull();
  private readonly launches = new GpuLaunches();

  constructor(private readonly nsPerTick: number) {}

  accepted({ noticed, gpu, tick, launched }: VoteColumns, i: number, isTooEarly: boolean): void {
    const stamp = gpu[i] as GpuNs;
    this.hull.add(noticed[i]!, noticed[i]! - stamp, tick[i], stamp);
    if (isTooEarly) return;
    this.launches.seen(stamp);
    const call = launched[i] as Ticks;
    if (!Number.isNaN(call)) this.launches.add(call, call * this.nsPerTick, stamp);
  }

  /** The exact tick rate does not change which points are on the hull, so it may be applied later. */
  finish(): Omit<StampedGpu, 'comm'> {
    this.votes.finish();
    const stamps = this.hull.stamps().map(({ tick, gpu }) => ({ noticed: tick as Ticks, gpu: gpu as GpuNs }));
    return { stamps, launches: this.launches.all(), step: this.launches.step() };
  }
}
