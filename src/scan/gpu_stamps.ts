/**
 * What the scan of a file keeps of the stamps of its GPUs: those that may bound a GPU's clock, however long the run.
 *
 * A process with several GPUs has a timer for each, and NCCL tells no device. Certain is: one communicator's ranks in one
 * process are on different GPUs, and each of them stays on its own. So there each rank of a communicator, an entry of the
 * file's table, counts by itself; its rank in another communicator may be on the same GPU, which nothing tells.
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

/** In place of a communicator's number: the only GPU of the file, whatever the communicator. */
export const ONLY_GPU = -1;

export interface StampedGpu {
  /** Number of the communicator in its file, or ONLY_GPU. */
  readonly comm: number;
  readonly stamps: readonly GpuStamp[];
  /** As for the stamps: those that bound from the other side. */
  readonly launches: readonly GpuLaunch[];
  /** What its stamps are multiples of, from one another, ns; 0: one stamp, or none. */
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
    if (key === undefined) return; // which of them is not known
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

  /** After the last record. In the order of the file's table. */
  finish(): StampedGpu[] {
    return [...this.gpus].sort(([a], [b]) => a - b).map(([comm, gpu]) => ({ comm, ...gpu.finish() }));
  }
}

/** A stamp on its way to the envelope. */
interface StampVote extends GpuVote {
  readonly tick: Ticks;
  readonly gpu: GpuNs;
  /** When its launch was called; null: by a graph, or not told. */
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

  /** Which points lie on the hull does not depend on the exact tick rate, so the final one may be applied later. */
  finish(): Omit<StampedGpu, 'comm'> {
    this.votes.finish();
    const stamps = this.hull.points().map(({ vote: { tick, gpu } }) => ({ noticed: tick, gpu }));
    return { stamps, launches: this.launches.all(), step: this.launches.step() };
  }
}
