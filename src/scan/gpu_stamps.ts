/**
 * The stamps of a file's GPUs that may bound a GPU's clock. Their number does not grow with the run. A process with several GPUs has a
 * timer for each, and NCCL does not name the device. But the ranks of one communicator in one process are certainly on different GPUs and
 * stay there. So each rank of a communicator (an entry of the file's table) counts as a clock of its own. A rank in another communicator
 * may be on the same GPU, but this is not known.
 */

import { entryOf } from '../base/grouped.js';
import type { Ticks } from '../base/time.js';
import { HullCollector } from '../clocks/lower_hull.js';
import { GpuVotes, type VoteColumns, type VoteListener } from '../clocks/gpu_votes.js';
import { STAMP_NUMBERS } from '../kernel/host/scan_kernel.js';
import type { GpuNs } from '../model/work_end.js';
import type { Communicator } from '../rankfile/file_types.js';
import { TimerSteps } from './timer_steps.js';

/** A stamp, and when it was noticed or when its launch was called. */
export interface GpuStamp {
  readonly tick: Ticks;
  readonly gpu: GpuNs;
}

/** In place of a communicator's number: the file's only GPU. */
export const ONLY_GPU = -1;

export interface StampedGpu {
  /** Number of the communicator in its file, or ONLY_GPU. */
  readonly comm: number;
  /** Notices that may lie on the lower envelope of (noticed - stamped). */
  readonly notices: readonly GpuStamp[];
  /** Launches that may bound the clock from the other side, because a stamp is taken after the call that launched its kernel. */
  readonly launches: readonly GpuStamp[];
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

  /** Rows of StampRow. */
  add(rows: Float64Array): void {
    for (let at = 0; at < rows.length; at += STAMP_NUMBERS) {
      const key = this.areSeveral ? rows[at]! : ONLY_GPU;
      if (this.areSeveral && key < 0) continue; // its rank is not known
      entryOf(this.gpus, key, () => new OneGpu(this.nsPerTick)).votes.add(rows, at + 1);
    }
  }

  /** Call it after the last record. In the order of the file's table. */
  finish(): StampedGpu[] {
    return [...this.gpus].sort(([a], [b]) => a - b).map(([comm, gpu]) => ({ comm, ...gpu.finish() }));
  }
}

class OneGpu implements VoteListener {
  readonly votes = new GpuVotes(this);
  /** Of the host's time, and of how far it is behind the stamp, ns. */
  private readonly notices = new HullCollector();
  private readonly launches = new HullCollector();
  private readonly steps = new TimerSteps();

  constructor(private readonly nsPerTick: number) {}

  accepted({ noticed, gpu, launched }: VoteColumns, i: number, isTooEarly: boolean): void {
    const stamp = gpu[i]!;
    this.notices.add(noticed[i]!, noticed[i]! - stamp);
    if (isTooEarly) return;
    this.steps.seen(stamp);
    if (!Number.isNaN(launched[i])) this.launches.add(launched[i]!, stamp - launched[i]!);
  }

  /** The exact tick rate does not change which points are on the hull, so it may be applied later. */
  finish(): Omit<StampedGpu, 'comm'> {
    this.votes.finish();
    return {
      notices: this.stamps(this.notices, -1),
      launches: this.stamps(this.launches, 1),
      step: this.steps.step(),
    };
  }

  /** Ticks and stamps are whole numbers. `sign`: of the hull's distances. */
  private stamps(points: HullCollector, sign: 1 | -1): GpuStamp[] {
    const hull = points.hull();
    return Array.from({ length: hull.length / 2 }, (_, i) => {
      const [host, apart] = [hull[2 * i]!, hull[2 * i + 1]!];
      return {
        tick: Math.round(host / this.nsPerTick) as Ticks,
        gpu: Math.round(host + sign * apart) as GpuNs,
      };
    });
  }
}
