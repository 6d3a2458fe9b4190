/** GPU stamps for the host, which finds the clocks of the GPUs (src/scan/gpu_stamps.ts). They wait here until the next segment. */

import { Block } from './event';
import { file } from './file';
import { RowBlocks } from './row_blocks';

@unmanaged
export class Stamp {
  /** Number of the communicator; -1: not known. */
  comm: f64;
  /** ns of the host's clock: when it was noticed, and the earliest it can have been taken (-Infinity: not known). */
  noticed: f64;
  earliest: f64;
  /** ns of the GPU's timer. */
  gpu: f64;
  /** `noticed` in ticks. */
  tick: f64;
  /** Ticks: its launch's call; NaN: by a graph, or not reported. */
  launched: f64;
}

export class Stamps {
  readonly rows: RowBlocks<Stamp> = new RowBlocks<Stamp>();

  /** `gpu`: a stamp of the block, and when it was noticed. */
  add(block: Block, noticed: f64, gpu: f64): void {
    const comm = block.comm;
    const work = block.work;
    const nsPerTick = file().nsPerTick;
    const stamp = this.rows.add();
    stamp.comm = comm.number;
    stamp.noticed = noticed * nsPerTick;
    stamp.earliest = work === null ? -Infinity : work.earliest * nsPerTick;
    stamp.gpu = gpu;
    stamp.tick = noticed;
    stamp.launched = work === null || work.isApiCaptured ? NaN : work.apiStart;
  }
}
