/**
 * The addon (native/addon) as a Decoder. It is optional: built at install if there is a C++ compiler. Without it everything works, more
 * slowly.
 */

import { createRequire } from 'node:module';
import { projectFile } from '../base/project.js';
import { claimedSize } from '../base/zstd_frame.js';
import { MIN_PARTS } from './format/layouts.js';
import type { Decoder } from './decoder.js';
import type { AssembledRecords, Carry, Hole } from './records.js';
import type { Stretch } from './slots.js';
import type { RecordColumns } from './types.js';

/** As in native/addon/addon.cc. */
const INTERFACE = 2;

/** Exports of native/addon/addon.cc. Slots are eight words each; triples are flat. */
interface Addon {
  readonly interface: number;
  /** Both fill `position`, one entry per slot, and return how many are torn. */
  checkRing(words: Uint32Array, capacity: number, head: number, position: Float64Array): number;
  checkChunk(words: Uint32Array, first: number, position: Float64Array): number;
  /** Triples of position, index, length. */
  stretches(position: Float64Array): Float64Array;
  assemble(
    words: Uint32Array,
    order: Float64Array,
    carry: Carry,
    tickBase: bigint,
    farthestTick: number,
    minParts: Uint8Array,
  ): {
    readonly records: RecordColumns;
    /** Triples of from, end, row. */
    readonly holes: Float64Array;
    readonly carry: Carry;
    readonly kinds: Uint32Array;
    readonly tooShort: number;
    readonly early: number;
    readonly impossible: number;
  };
  /** 32 bytes for each of eight words. */
  slotsOfPlanes(planes: Uint8Array, words: Uint32Array): void;
  dressSlots(words: Uint32Array, first: number): void;
  /** Missing if the build found no zstd. */
  decompress?(frame: Uint8Array, size: number): Uint8Array | null;
}

/** Null if it was not built, or cannot be loaded. `reference` does what the addon cannot. */
export function nativeDecoder(reference: Decoder): Decoder | null {
  const addon = load();
  return addon && asDecoder(addon, reference);
}

function load(): Addon | null {
  try {
    const addon: unknown = createRequire(import.meta.url)(projectFile('build/nccl-trace-decoder.node'));
    return isOurs(addon) ? addon : null;
  } catch {
    return null;
  }
}

/** An addon built from other sources would read missing arguments. */
export const isOurs = (addon: unknown): addon is Addon =>
  (addon as Partial<Addon> | null)?.interface === INTERFACE;

function asDecoder(addon: Addon, reference: Decoder): Decoder {
  return {
    name: 'addon',

    checkRing(words, capacity, head) {
      const position = new Float64Array(Math.min(capacity, Math.floor(words.length / 8)));
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

    assembleRecords(words, order, carry, { base, farthest }): AssembledRecords {
      const flat = Float64Array.from(
        order.flatMap(({ position, index, length }) => [position, index, length]),
      );
      const { holes, ...rest } = addon.assemble(aligned(words), flat, carry, base, farthest, MIN_PARTS);
      return { ...rest, holes: triples(holes, (from, end, row): Hole => ({ from, end, row })) };
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
