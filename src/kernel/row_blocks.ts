import { needRoom } from './room';

/** Rows of a struct, in blocks that never move, so that a row may be kept. */

const BLOCK_BITS: i32 = 10;
const BLOCK_MASK: i32 = (1 << BLOCK_BITS) - 1;

export class RowBlocks<T> {
  length: i32 = 0;
  private readonly blocks: usize[] = [];

  /** The rows may be used again. */
  clear(): void {
    this.length = 0;
  }

  /** A row to fill. */
  add(): T {
    const row = this.length++;
    if (row >> BLOCK_BITS == this.blocks.length) {
      needRoom(<f64>(offsetof<T>() << BLOCK_BITS));
      this.blocks.push(heap.alloc(offsetof<T>() << BLOCK_BITS));
    }
    return this.at(row);
  }

  @inline
  at(row: i32): T {
    assert(row >= 0 && row < this.length, 'a row that the table does not have');
    return changetype<T>(
      unchecked(this.blocks[row >> BLOCK_BITS]) + <usize>(row & BLOCK_MASK) * offsetof<T>(),
    );
  }
}
