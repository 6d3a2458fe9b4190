/** A handle of a file's own process: the ring and position of its start record. */

/** Exact: ring * 2^40 + position. */
export type HandleKey = number;

const TWO_40 = 2 ** 40;

export function startKey(ring: number, position: number): HandleKey {
  return ring * TWO_40 + (position % TWO_40);
}

export const keyRing = (key: HandleKey): number => Math.floor(key / TWO_40);
export const keyPosition = (key: HandleKey): number => key % TWO_40;

/** "ring:position", as in `inspect --records`. */
export const recordOf = (key: HandleKey): string => `${keyRing(key)}:${keyPosition(key)}`;
