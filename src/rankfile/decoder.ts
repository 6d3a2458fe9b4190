/**
 * The part of reading that touches every byte: check slots, assemble records, decompress chunks. Two implementations give equal results.
 * TypeScript is the reference and always works. The addon is faster (`npm run bench:merge` prints both). best_decoder.ts chooses. Pure
 * functions.
 */

import { decompressFrame } from './zstd.js';
import { dressSlots } from './format/bare_slots.js';
import { slotsOfPlanes } from './format/slot_planes.js';
import { assembleRecords, type AssembledRecords, type Carry, type RecordSpace } from './records.js';
import { checkChunk, type CheckedSlots, checkRing, type Stretch, stretches } from './slots.js';
import type { TickFrame } from './tick_frame.js';

export interface Decoder {
  readonly name: 'TypeScript' | 'addon';
  /** `position`: memory for the result, an entry per slot. */
  checkRing(words: Uint32Array, capacity: number, head: number, position?: Float64Array): CheckedSlots;
  checkChunk(words: Uint32Array, first: number): CheckedSlots;
  stretches(slots: CheckedSlots): Stretch[];
  assembleRecords(
    words: Uint32Array,
    order: readonly Stretch[],
    carry: Carry,
    frame: TickFrame,
    space: RecordSpace,
  ): AssembledRecords;
  /** For a decompressed chunk of codec ZstdPlanes. The slots are still bare. */
  slotsOfPlanes(planes: Uint8Array): Uint32Array;
  /** In place. */
  dressSlots(words: Uint32Array, firstPosition: number): void;
  decompressFrame(frame: Uint8Array, size: number): Uint8Array | null;
}

export const typescriptDecoder: Decoder = {
  name: 'TypeScript',
  checkRing,
  checkChunk,
  stretches,
  assembleRecords,
  slotsOfPlanes,
  dressSlots,
  decompressFrame,
};
