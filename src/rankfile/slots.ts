/** Slots of a ring or a chunk: which of them lie side by side. The kernel finds them (src/kernel/slots.ts). */

/** In place of a position: never written, and neither empty nor valid. */
export const EMPTY = -1;
export const TORN = -2;

/** Consecutive positions at consecutive indices. */
export interface Stretch {
  readonly position: number;
  readonly index: number;
  readonly length: number;
}

/** The parts of the stretches in [from, end). */
export function clipped(all: readonly Stretch[], from: number, end: number): Stretch[] {
  return all.flatMap(({ position, index, length }) => {
    const first = Math.max(position, from);
    const last = Math.min(position + length, end);
    return first < last ? [{ position: first, index: index + first - position, length: last - first }] : [];
  });
}

/** The same slots in parts of at most this many. */
export function pieces(order: readonly Stretch[], most: number): Stretch[][] {
  const all: Stretch[][] = [];
  let room = 0;
  for (const { position, index, length } of order)
    for (let taken = 0; taken < length;) {
      if (room === 0) {
        all.push([]);
        room = most;
      }
      const part = Math.min(length - taken, room);
      all.at(-1)!.push({ position: position + taken, index: index + taken, length: part });
      taken += part;
      room -= part;
    }
  return all;
}
