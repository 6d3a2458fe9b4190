/**
 * Memory for the records of one segment of a ring. It is used again for the next segment, and then for another ring. New memory for each
 * segment costs a page fault every 4 KB.
 */

import { recordSpace, type RecordSpace } from './records.js';

/** Slots of a segment: its slots and records together take 0.4 MB, so they stay in the processor's cache. */
export const SEGMENT_SLOTS = 4096;

/** Each thread keeps this many for the next file: as many as a file has rings. */
const MOST_KEPT = 64;
const spare: RecordSpace[] = [];

export class LentSpace {
  private space: RecordSpace | null = null;

  get(): RecordSpace {
    return (this.space ??= spare.pop() ?? recordSpace(SEGMENT_SLOTS));
  }

  /** Its records are no longer in use. */
  release(): void {
    if (this.space && spare.length < MOST_KEPT) spare.push(this.space);
    this.space = null;
  }
}
