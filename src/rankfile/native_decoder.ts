/** The addon as a Decoder. */

import { claimedSize } from '../base/zstd_frame.js';
import { addon as built, type Addon } from './addon.js';
import { MIN_PARTS } from './format/layouts.js';
import type { Decoder } from './decoder.js';
import { checkRoom, type AssembledRecords, type Hole } from './records.js';
import type { Stretch } from './slots.js';

/** Null if the addon was not built or cannot be loaded. `reference` decodes what the addon cannot decode. */
export const nativeDecoder = (reference: Decoder): Decoder | null => built && asDecoder(built, reference);

function asDecoder(addon: Addon, reference: Decoder): Decoder {
  return {
    name: 'addon',

    checkRing(
      words,
      capacity,
      head,
      position = new Float64Array(Math.min(capacity, Math.floor(words.length / 8))),
    ) {
      return { words, position, tornSlots: addon.checkRing(aligned(words), capacity, head, position) };
    },

    checkChunk(words, first) {
      const position = new Float64Array(Math.floor(words.length / 8));
      return { words, position, tornSlots: addon.checkChunk(aligned(words), first, position) };
    },

    stretches({ position }) {
      return triples(addon.stretches(position), (position, index, length): Stretch => ({
        position,
        index,
        length,
      }));
    },

    assembleRecords(words, order, carry, { base, farthest }, space): AssembledRecords {
      checkRoom(space, order);
      const flat = Float64Array.from(
        order.flatMap(({ position, index, length }) => [position, index, length]),
      );
      const { rows, holes, ...rest } = addon.assemble(
        aligned(words),
        flat,
        carry,
        base,
        farthest,
        MIN_PARTS,
        space,
      );
      space.length = rows;
      return {
        ...rest,
        records: space,
        kinds: space.kinds,
        holes: triples(holes, (from, end, row): Hole => ({ from, end, row })),
      };
    },

    slotsOfPlanes(planes) {
      const words = new Uint32Array(Math.floor(planes.length / 32) * 8);
      addon.slotsOfPlanes(planes, words);
      return words;
    },

    dressSlots(words, first) {
      if (words.byteOffset % 8 === 0) addon.dressSlots(words, first);
      else reference.dressSlots(words, first);
    },

    decompressFrame(frame, size) {
      if (addon.decompress === undefined) return reference.decompressFrame(frame, size);
      return claimedSize(frame) === size ? addon.decompress(frame, size) : null;
    },
  };
}

/** The addon reads whole 64-bit words. */
const aligned = (words: Uint32Array): Uint32Array => (words.byteOffset % 8 === 0 ? words : words.slice());

function triples<T>(flat: Float64Array, make: (a: number, b: number, c: number) => T): T[] {
  const made: T[] = [];
  for (let i = 0; i < flat.length; i += 3) made.push(make(flat[i]!, flat[i + 1]!, flat[i + 2]!));
  return made;
}
