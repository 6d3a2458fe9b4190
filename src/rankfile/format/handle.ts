/**
 * Handles: the numbers the plugin gives NCCL in place of pointers, in 32-bit halves as the columns hold them.
 *
 *   63.............47 46..41 40.............1 0
 *   tag (17)          ring   position (40)    muted
 *
 * A handle of this process carries the file's tag; anything else is foreign (PXN: a parent of another process) or
 * garbage, and its ring and position mean nothing here. 0 is NULL.
 */

import { CONTEXT_RING } from './constants.js';

export interface Handle {
  /** The tag is this file's. */
  readonly own: boolean;
  /** Index of the start record's ring; CONTEXT_RING: a context, `position` is the communicator. */
  readonly ring: number;
  /** Position of the start record's first slot, modulo 2^40. */
  readonly position: number;
  /** Sampled out: it has no start record. */
  readonly muted: boolean;
}

/** The tag's 17 bits as a number: once per file, to compare with `handleTag`. */
export const tagBits = (tag: bigint): number => Number(BigInt.asUintN(64, tag) >> 47n);

const handleTag = (high: number): number => high >>> 15;
const handleRing = (high: number): number => (high >>> 9) & 63;
const handlePosition = (low: number, high: number): number => (high & 0x1ff) * 0x8000_0000 + (low >>> 1);
const handleMuted = (low: number): boolean => (low & 1) === 1;

export function splitHandle(low: number, high: number, ownTagBits: number): Handle {
  return {
    own: handleTag(high) === ownTagBits,
    ring: handleRing(high),
    position: handlePosition(low, high),
    muted: handleMuted(low),
  };
}

export const isContext = (handle: Handle): boolean => handle.own && handle.ring === CONTEXT_RING;

/** 16 bits of a Fold entry that tie its words to its handle, so that a torn copy does not match. */
export const foldKey = (handle: bigint): number =>
  Number(BigInt.asUintN(64, handle * 0x9e3779b97f4a7c15n) >> 48n);
