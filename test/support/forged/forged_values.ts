/**
 * Changes recorded files and keeps every check valid: extreme and random numbers in any field, and the number of one
 * place in another. A seed decides all changes, so a file name, a seed and a count are enough to repeat a finding.
 */

import { ForgedFile, type Place } from './forged_file.js';

/** Uniform in [0, end). */
export type Random = (end: number) => number;

export function randomOf(seed: number): Random {
  let state = (seed * 2654435761 + 1) >>> 0;
  return (end) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  };
}

/** One change as a person reads it, to find it again. */
export type Change = string;

export interface Forgery {
  readonly bytes: Uint8Array;
  readonly changes: readonly Change[];
}

export interface WhatToForge {
  /** Changes per file. */
  readonly most?: number;
  /** Of which fields, by name. */
  readonly fields?: RegExp | undefined;
}

/** Forges a recorded file many times, in the same bytes, because finding its fields takes longer than reading it. Null without such a field. */
export function forger(
  recorded: Uint8Array,
  { most = 3, fields = /./ }: WhatToForge = {},
): ((random: Random) => Forgery) | null {
  const file = new ForgedFile(recorded);
  const places = byName(file.places().filter(({ name }) => fields.test(name)));
  if (places.size === 0) return null;
  const names = [...places.keys()];
  return (random) => {
    file.bytes.set(recorded);
    const changes: Change[] = [];
    const count = 1 + random(most);
    for (let i = 0; i < count; i++) {
      // By name first: thousands of steps would hide the few fields of a header.
      const same = places.get(names[random(names.length)]!)!;
      const at = random(same.length);
      const place = same[at]!;
      const value = numberFor(place, same, random);
      place.set(value);
      changes.push(`${place.name}[${at}] = ${value}`);
    }
    return { bytes: file.bytes, changes };
  };
}

function byName(places: readonly Place[]): Map<string, Place[]> {
  const found = new Map<string, Place[]>();
  for (const place of places) {
    const same = found.get(place.name);
    if (same) same.push(place);
    else found.set(place.name, [place]);
  }
  return found;
}

function numberFor(place: Place, same: readonly Place[], random: Random): bigint {
  const bits = BigInt(place.bits);
  const fit = (value: bigint): bigint => BigInt.asUintN(place.bits, value);
  switch (random(6)) {
    case 0: // a power of two, or next to it
      return fit((1n << BigInt(random(place.bits + 1))) + BigInt(random(3) - 1));
    case 1: // close to what was there
      return fit(place.get() + BigInt(random(201) - 100));
    case 2: // further away
      return fit(place.get() + (BigInt(random(2) * 2 - 1) << BigInt(random(place.bits))));
    case 3: // of the same field elsewhere
      return same[random(same.length)]!.get();
    case 4:
      return [0n, 1n, 2n, 3n, 7n, (1n << bits) - 1n, (1n << bits) - 2n, 1n << (bits - 1n)][random(8)]!;
    default:
      return fit((BigInt(random(2 ** 32)) << 32n) | BigInt(random(2 ** 32))) >> BigInt(random(place.bits));
  }
}
