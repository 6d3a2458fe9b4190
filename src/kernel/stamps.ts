/** GPU stamps for the host, which finds the clocks of the GPUs (src/scan/gpu_stamps.ts). They wait here until the next segment. */

import { Block } from './event';
import { file } from './file';
import { StampRow } from './result_rows';
import { RowBlocks } from './row_blocks';

export class Stamps {
  readonly rows: RowBlocks<StampRow> = new RowBlocks<StampRow>();

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
    stamp.launched = work === null || work.isApiCaptured ? NaN : work.apiStart * nsPerTick;
  }
}
