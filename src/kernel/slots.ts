/**
 * Which slots are committed, at which position: these loops read every byte of a rank file.
 *
 * A slot stores 24 bits of its position p, and a check over all 48. In a ring a slot at index i has the position nearest to the head with
 * those 24 bits. The head is a hint of the producer's place, right to within 2^23 either way. A slot counts only if p mod capacity is i and
 * the check holds for p. In a live copy slots lie on both sides of the head and are of several laps; each slot's own position counts. In a
 * chunk the header gives each slot's position, and the slot proves it. schemas/rank-file.md has the layout.
 */

import { SLOT_BYTES } from './numbers';

/** In place of a position: never written, and neither empty nor valid. */
export const EMPTY: f64 = -1;
export const TORN: f64 = -2;

/** Consecutive positions at consecutive indices. */
@unmanaged
export class Stretch {
  position: f64;
  index: f64;
  length: f64;
}

/** Most rings have no more stretches than these. */
const FIRST_STRETCHES: i32 = 4;

/** The slots of a ring, or of one of its chunks. */
export abstract class Slots {
  /** Where they lie. */
  start: usize = 0;
  count: i32 = 0;
  torn: i32 = 0;
  stretchCount: i32 = 0;
  /** Valid until the next check. */
  stretches: usize = heap.alloc(FIRST_STRETCHES * offsetof<Stretch>());
  private room: i32 = FIRST_STRETCHES;
  private slotRoom: i32 = 0;

  /** The position of the slot at an index, or EMPTY, or TORN. */
  abstract positionAt(index: i32): f64;

  /** Memory for so many slots. Chunks of a ring use it one after the other. */
  reserve(slots: i32): usize {
    if (slots > this.slotRoom) {
      this.start = heap.alloc(usize(slots) * SLOT_BYTES);
      this.slotRoom = slots;
    }
    return this.start;
  }

  slotAt(index: i32): usize {
    return this.start + usize(index) * SLOT_BYTES;
  }

  stretchAt(number: i32): Stretch {
    return changetype<Stretch>(this.stretches + usize(number) * offsetof<Stretch>());
  }

  /** The slots from `used` on are not read again. Their memory is free for what comes next, if nothing was taken after it. */
  protected keep(used: i32): void {
    if (this.slotRoom == 0) return;
    this.start = heap.realloc(this.start, usize(used) * SLOT_BYTES);
    this.slotRoom = used;
  }

  protected begin(count: i32): void {
    this.count = count;
    this.torn = 0;
    this.stretchCount = 0;
  }

  /** A stretch in order of index. */
  protected addStretch(position: f64, index: i32, length: i32): void {
    if (this.stretchCount == this.room) {
      this.room *= 2;
      const larger = heap.alloc(usize(this.room) * offsetof<Stretch>());
      memory.copy(larger, this.stretches, usize(this.stretchCount) * offsetof<Stretch>());
      this.stretches = larger;
    }
    const one = this.stretchAt(this.stretchCount++);
    one.position = position;
    one.index = index;
    one.length = length;
  }
}

export class RingSlots extends Slots {
  private headLow: i32 = 0;
  private headHigh: i32 = 0;
  private mask: u32 = 0;
  /** All slots from here on are empty. */
  private used: i32 = 0;

  /** `count`: fewer than the capacity if the file ends early. */
  check(count: i32, capacity: i32, head: f64): void {
    this.begin(count);
    this.headLow = i32(u64(head) & 0xffffff);
    this.headHigh = i32(u64(head) >> 24);
    this.mask = capacity - 1;
    // This loop reads every slot of a ring, so it keeps its numbers in locals.
    const headLow = this.headLow;
    const headHigh = this.headHigh;
    const mask = this.mask;
    // From here on, a slot's low bits mean an earlier lap.
    const farthest = i64(u64(head)) + (1 << 23);
    let torn = 0;
    let used = 0;
    let first = 0;
    let start: i64 = NO_POSITION;
    let slot = this.start;
    for (let index = 0; index < count; index++, slot += SLOT_BYTES) {
      if (start >= 0) {
        // Nearly every slot follows the one before.
        const next = start + i64(index - first);
        const word3 = load<u64>(slot, 24);
        const follows = ((u32(word3 >> 16) ^ u32(next)) & 0xffffff) == 0 && isPart(u32(word3));
        if (follows && next < farthest && isWhole(slot, word3, u64(next))) continue;
        this.addStretch(f64(start), first, index - first);
        used = index;
      }
      first = index;
      start = NO_POSITION;
      // Most slots of a ring that never got full are empty.
      if (isZero(slot)) continue;
      start = positionIn(slot, index, headLow, headHigh, mask);
      used = index + 1;
      if (start < 0) torn++;
    }
    if (start >= 0) {
      this.addStretch(f64(start), first, count - first);
      used = count;
    }
    this.torn = torn;
    this.used = used;
    this.keep(used);
  }

  positionAt(index: i32): f64 {
    if (index >= this.used) return EMPTY;
    const slot = this.slotAt(index);
    const position = positionIn(slot, index, this.headLow, this.headHigh, this.mask);
    return position >= 0 ? f64(position) : isZero(slot) ? EMPTY : TORN;
  }
}

/** The slot has no position. */
const NO_POSITION: i64 = -1;

function positionIn(slot: usize, index: i32, headLow: i32, headHigh: i32, mask: u32): i64 {
  const word3 = load<u64>(slot, 24);
  const low = u32(word3);
  const stored = u32(word3 >> 16) & 0xffffff;
  // The distance to the head in 24-bit arithmetic, sign-extended; then p's multiple of 2^24.
  const near = headLow + (((i32(stored) - headLow) << 8) >> 8);
  const upper = u32(headHigh + (near >> 24));
  if (!isPart(low) || (stored & mask) != u32(index) || upper >= 0x1000000) return NO_POSITION;
  const position = (u64(upper) << 24) | stored;
  return isWhole(slot, word3, position) ? i64(position) : NO_POSITION;
}

export class ChunkSlots extends Slots {
  private first: f64 = 0;
  /** Slots in [from, end) that are not valid in the chunk. */
  bad: i32 = 0;

  /** Slots with consecutive positions from `first` on. If a slot in [from, end) is invalid, it is taken from the ring, if the ring has it. */
  check(count: i32, first: f64, from: f64, end: f64, ring: RingSlots, capacity: f64): void {
    this.begin(count);
    this.first = first;
    this.bad = 0;
    let start = 0;
    let length = 0;
    for (let index = i32(from - first), last = i32(end - first); index < last; index++) {
      if (this.positionAt(index) < 0) {
        this.bad++;
        const position = first + index;
        const there = i32(position % capacity);
        if (there < ring.count && ring.positionAt(there) == position)
          memory.copy(this.slotAt(index), ring.slotAt(there), SLOT_BYTES);
        else {
          if (length > 0) this.addStretch(first + start, start, length);
          length = 0;
          continue;
        }
      }
      if (length == 0) start = index;
      length++;
    }
    if (length > 0) this.addStretch(first + start, start, length);
  }

  positionAt(index: i32): f64 {
    const slot = this.slotAt(index);
    const word3 = load<u64>(slot, 24);
    const expected = this.first + index;
    const stored = u32(word3 >> 16) & 0xffffff;
    const isPlausible = isPart(u32(word3)) && stored == u32(u64(expected) & 0xffffff);
    if (isPlausible && isWhole(slot, word3, u64(expected))) return expected;
    return isZero(slot) ? EMPTY : TORN;
  }
}

/** `low`: low half of word 3, with kind:8 part:4 parts:4. */
function isPart(low: u32): bool {
  return (low & 0xff) != 0 && ((low >> 8) & 15) < ((low >> 12) & 15);
}

/** Whether the slot's check holds for the position. */
function isWhole(slot: usize, word3: u64, position: u64): bool {
  return checkOf(slot, (word3 & 0xffff) | (position << 16)) == u32(word3 >> 40);
}

/** 24 bits over the payload and `meta`: kind:8 part:4 parts:4, and the position. */
export function checkOf(slot: usize, meta: u64): u32 {
  const mixed =
    load<u64>(slot) ^ rotl<u64>(load<u64>(slot, 8), 21) ^ rotl<u64>(load<u64>(slot, 16), 42) ^ meta;
  let hash: u32 = u32(mixed) * 0x9e3779b1 + u32(mixed >> 32) * 0x85ebca77;
  hash ^= hash >> 15;
  hash *= 0xc2b2ae3d;
  return hash >> 8;
}

function isZero(slot: usize): bool {
  return (load<u64>(slot) | load<u64>(slot, 8) | load<u64>(slot, 16) | load<u64>(slot, 24)) == 0;
}
