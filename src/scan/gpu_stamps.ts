/**
 * The stamps of a file's GPUs that may bound a GPU's clock, however long the run. A process with several GPUs has a timer for each, and
 * NCCL names no device. It is certain that one communicator's ranks in one process are on different GPUs and stay there. So each rank of a
 * communicator, an entry of the file's table, counts by itself. Its rank in another communicator may be on the same GPU, but this is not
 * known.
 */

import type { Ticks } from '../base/time.js';
import { LowerHull, type GpuPoint } from '../clocks/gpu_clock.js';
import { GpuVotes, type GpuVote } from '../clocks/gpu_votes.js';
import type { GpuNs, Kernel } from '../model/types.js';
import type { Communicator } from '../rankfile/types.js';
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
  /** Likewise those that bound from the other side. */
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

  /** `gpu`: a stamp of the kernel, and when it was noticed. */
  add({ work, comm }: Kernel, noticed: Ticks, gpu: GpuNs): void {
    const key = this.areSeveral ? comm?.number : ONLY_GPU;
    if (key === undefined) return; // its rank is not known
    let timer = this.gpus.get(key);
    if (!timer) this.gpus.set(key, (timer = new OneGpu(this.nsPerTick)));
    timer.votes.add({
      noticed: noticed * this.nsPerTick,
      earliest: work ? work.earliest * this.nsPerTick : -Infinity,
      gpu,
      tick: noticed,
      launched: work?.api && !work.api.graphCaptured ? work.api.start : null,
    });
  }

  /** Call it after the last record. In the order of the file's table. */
  finish(): StampedGpu[] {
    return [...this.gpus].sort(([a], [b]) => a - b).map(([comm, gpu]) => ({ comm, ...gpu.finish() }));
  }
}

/** A stamp before it joins the envelope. */
interface StampVote extends GpuVote {
  readonly tick: Ticks;
  readonly gpu: GpuNs;
  /** Time of its launch's call; null: by a graph, or not reported. */
  readonly launched: Ticks | null;
}

class OneGpu {
  readonly votes = new GpuVotes<StampVote>((vote, isTooEarly) => {
    this.hull.add({ x: vote.noticed, y: vote.noticed - vote.gpu, vote });
    if (isTooEarly) return;
    this.launches.seen(vote.gpu);
    if (vote.launched !== null) this.launches.add(vote.launched, vote.launched * this.nsPerTick, vote.gpu);
  });
  private readonly hull = new LowerHull<GpuPoint & { readonly vote: StampVote }>();
  private readonly launches = new GpuLaunches();

  constructor(private readonly nsPerTick: number) {}

  /** The exact tick rate does not change which points are on the hull, so it may be applied later. */
  finish(): Omit<StampedGpu, 'comm'> {
    this.votes.finish();
    const stamps = this.hull.points().map(({ vote: { tick, gpu } }) => ({ noticed: tick, gpu }));
    return { stamps, launches: this.launches.all(), step: this.launches.step() };
  }
}
