/**
 * Numbers that must be unique in a trace, though its blocks are written independently: each block gets every n-th track uuid and a few
 * sequence ids. They stay small, because every event carries both as varints.
 */

import { assert } from '../../base/assert.js';

/** 0 is the root of all tracks. The others are for tracks outside of blocks. */
const FIRST_UUID = 16;
/** 1 is the prologue. */
const FIRST_SEQUENCE = 2;
/** Of a block: those in order of time, and one more (block_sequences.ts). */
export const TIME_SEQUENCES = 8;
const SEQUENCES_PER_BLOCK = TIME_SEQUENCES + 1;

/** Index and count. */
export interface BlockPosition {
  readonly blockIndex: number;
  readonly blockCount: number;
}

export class BlockIds {
  private locals = 0;

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

  /** `number`: from 0, up to the one more. */
  sequence(number: number): number {
    return FIRST_SEQUENCE + SEQUENCES_PER_BLOCK * this.block.blockIndex + number;
  }
}
