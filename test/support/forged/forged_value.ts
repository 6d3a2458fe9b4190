/** Changes one number in plain data to an extreme or random one. A broken program or an attacker could write this with valid checks. */

import type { Random } from './forged_values.js';

interface Place {
  readonly name: string;
  readonly old: unknown;
  readonly set: (value: never) => void;
}

type Numbers = Float64Array | Uint32Array | Int32Array | Uint16Array | Uint8Array;

/** Changes `root` in place and returns what was changed. Looks at a few elements of a long list. */
export function forgeValue(root: object, random: Random): string {
  const places: Place[] = [];
  collect(root, '', places, random);
  const names = [...new Set(places.map(({ name }) => name))];
  const name = names[random(names.length)]!;
  const same = places.filter((place) => place.name === name);
  const { old, set } = same[random(same.length)]!;
  const value = typeof old === 'bigint' ? bigint(random, old) : number(random, Number(old));
  set(value as never);
  return `${name}: ${String(old)} -> ${String(value)}`;
}

function collect(value: unknown, name: string, places: Place[], random: Random): void {
  if (typeof value !== 'object' || value === null) return;
  if (ArrayBuffer.isView(value)) {
    const list = value as Numbers;
    for (let i = 0; i < Math.min(4, list.length); i++) {
      const at = random(list.length);
      places.push({ name: `${name}[]`, old: list[at], set: (next: number) => (list[at] = next) });
    }
    return;
  }
  if (value instanceof Map) {
    for (const [key, one] of [...(value as Map<unknown, unknown>)].slice(0, 4))
      if (typeof one === 'number')
        places.push({ name: `${name}()`, old: one, set: (next: number) => value.set(key, next) });
      else collect(one, `${name}()`, places, random);
    return;
  }
  const entries = Array.isArray(value) ? some(value, random) : Object.entries(value);
  for (const [key, one] of entries) {
    const own = Array.isArray(value) ? `${name}[]` : `${name}.${key}`;
    if (typeof one === 'number' || typeof one === 'bigint')
      places.push({ name: own, old: one, set: (next) => ((value as Record<string, unknown>)[key] = next) });
    else collect(one, own, places, random);
  }
}

const some = (list: readonly unknown[], random: Random): [string, unknown][] =>
  Array.from({ length: Math.min(4, list.length) }, () => {
    const at = random(list.length);
    return [String(at), list[at]];
  });

function number(random: Random, old: number): number {
  switch (random(5)) {
    case 0:
      return 2 ** random(64) * (random(2) * 2 - 1);
    case 1:
      return old + random(21) - 10;
    case 2:
      return [0, -1, 1, 2 ** 31, 2 ** 53, -(2 ** 53), NaN, Infinity, -Infinity, 0.5, 1e300][random(11)]!;
    case 3:
      return old * 2 ** (random(41) - 20);
    default:
      return random(2 ** 32);
  }
}

function bigint(random: Random, old: bigint): bigint {
  const most = (1n << 63n) - 1n;
  switch (random(3)) {
    case 0:
      return [0n, 1n, -1n, most, -most][random(5)]!;
    case 1:
      return BigInt.asIntN(64, old + (BigInt(random(2 ** 32)) << BigInt(random(31))));
    default:
      return 1n << BigInt(random(63));
  }
}
