/** The addon (native/addon). An install builds it if there is a C++ compiler. Without the addon everything works, but more slowly. */

import { createRequire } from 'node:module';
import { projectFile } from '../base/project.js';
import type { Carry, RecordSpace } from './records.js';

/** As in native/addon/addon.cc. */
const INTERFACE = 4;

/** Exports of native/addon/addon.cc. Slots are eight words each; triples are flat. */
export interface Addon {
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
    /** It is filled, but for `length`. It has room for the records of these slots, and for a carried one. */
    space: RecordSpace,
  ): {
    readonly rows: number;
    /** Triples of from, end, row. */
    readonly holes: Float64Array;
    readonly carry: Carry;
    readonly tooShort: number;
    readonly early: number;
    readonly impossible: number;
  };
  /** 32 bytes for each of eight words. */
  slotsOfPlanes(planes: Uint8Array, words: Uint32Array): void;
  dressSlots(words: Uint32Array, first: number): void;
  /** Missing if the build found no zstd. */
  decompress?(frame: Uint8Array, size: number): Uint8Array | null;
  /** See stalls.ts. */
  readBegins(name: string): void;
  readEnds(): void;
  hideNames(): void;
}

/** Refuses an addon that was built from other sources, because it would read missing arguments. */
export const isOurs = (addon: unknown): addon is Addon =>
  (addon as Partial<Addon> | null)?.interface === INTERFACE;

export const addon: Addon | null = load();

function load(): Addon | null {
  try {
    const found: unknown = createRequire(import.meta.url)(projectFile('build/nccl-trace-decoder.node'));
    return isOurs(found) ? found : null;
  } catch {
    return null;
  }
}
