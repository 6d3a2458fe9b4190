/**
 * Numbers that must be unique in a trace, though its blocks are written independently: each block gets every n-th track uuid and
 * every n-th sequence id. They stay small, because every event carries both as varints.
 */

import { assert } from '../../base/assert.js';

/** 0 is the root of all tracks. The others are for tracks outside of blocks. */
const FIRST_UUID = 16;
/** 1 is the prologue. */
const FIRST_SEQUENCE = 2;

/** Index and count. */
export interface BlockPosition {
  readonly blockIndex: number;
  readonly blockCount: number;
}

export class BlockIds {
  private locals = 0;
  private sequences = 0;

  constructor(private readonly block: BlockPosition) {
    const { blockIndex, blockCount } = block;
    const isFit = Number.isInteger(blockCount) && Number.isInteger(blockIndex) && 0 <= blockIndex;
    assert(
      isFit && blockIndex < blockCount && blockCount < 2 ** 31,
      `no block ${blockIndex} of ${blockCount}`,
    );
  }

  nextUuid(): number {
    return FIRST_UUID + this.locals++ * this.block.blockCount + this.block.blockIndex;
  }

  nextSequence(): number {
    return FIRST_SEQUENCE + this.sequences++ * this.block.blockCount + this.block.blockIndex;
  }
}
