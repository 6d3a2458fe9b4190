/** The first calls that differ between ranks. Groups are compared as a whole, because their inner order does not matter. */

import { entryOf } from '../base/grouped.js';
import { hex64 } from '../base/hex.js';
import { ELEMENT_BYTES } from '../cluster/bandwidth.js';
import type { CallShape } from '../model/call_table.js';
import { cached, mismatchOn } from './case.js';
import type { HostCalls, RankWitness } from './file_facts.js';
import { byFile, callersByComm, evidenceAt, isBorderAt, shapeAt, type Placed } from './placed_calls.js';
import type { Mismatch, Way } from './types.js';

/** By communicator, the first difference; if only arguments differ there, also the first one in the functions that were called. */
export const differentHostCalls = cached(
  (ranks: readonly RankWitness[]): ReadonlyMap<bigint, readonly Mismatch[]> =>
    new Map(
      [...callersByComm(ranks)].flatMap(([commId, sections]): [bigint, readonly Mismatch[]][] => {
        const firstBy = (keyOf: KeyOf): readonly Mismatch[] =>
          sections.flatMap((callers) => mismatchAmong(commId, callers, keyOf) ?? []).slice(0, 1);
        const found = firstBy(callOf);
        const more = found[0]?.what === 'arguments' ? firstBy(({ func }) => func) : [];
        return found.length > 0 ? [[commId, [...found, ...more]]] : [];
      }),
    ),
);

/**
 * Up to the end one side called some function less often than the other. So the nth call of that function is another one on each side, and
 * what stands may be long after the difference.
 */
export function haveParted({ commId, ways }: Mismatch, ranks: readonly RankWitness[]): boolean {
  const sections = [...callersByComm(ranks)].find(([id]) => hex64(id) === commId)?.[1] ?? [];
  const [one, other] = [ways[0], ways[1]].map(({ entered: [first] }) =>
    sections.flat().find(({ file }) => file === first?.file),
  );
  if (!one || !other) return false;
  const [from, end] = [Math.max(one.from, other.from), Math.min(one.end, other.end)];
  const numbers = commonNumbers(one.calls.shapes, other.calls.shapes, ({ func }) => func);
  return from < end && !areSame(within(one, from, end), within(other, from, end), numbers);
}

type Numbers = readonly [readonly number[], readonly number[]];

/** Equal for calls that are the same. */
type KeyOf = (shape: CallShape) => string;

/** Calls [from, end). */
interface Block {
  readonly from: number;
  readonly end: number;
}

/** Compares each caller with the one that has most calls in common with it. If there are several, it takes the one with most calls. */
function mismatchAmong(commId: bigint, callers: readonly Placed[], keyOf: KeyOf): Mismatch | null {
  const byLength = [...callers].sort((a, b) => b.end - b.from - (a.end - a.from));
  let first: Block | null = null;
  for (const caller of callers) {
    let other: Placed | null = null;
    let most = 0;
    for (const one of byLength) {
      // No later one has more calls than this.
      if (one.end - one.from <= most) break;
      const common = Math.min(one.end, caller.end) - Math.max(one.from, caller.from);
      if (one === caller || common <= most) continue;
      other = one;
      most = common;
    }
    const block = other && firstDifference(other, caller, keyOf);
    if (block && (first === null || block.from < first.from)) first = block;
  }
  return first && describe(commId, callers, first);
}

/** The first groups that ended on both sides and differ. null: none, or the groups cannot be matched. */
function firstDifference(a: Placed, b: Placed, keyOf: KeyOf): Block | null {
  const numbers = commonNumbers(a.calls.shapes, b.calls.shapes, keyOf);
  const [ofA, ofB] = numbers;
  const until = Math.min(a.end, b.end);
  let from = Math.max(a.from, b.from);
  while (from < until && !(isBorderAt(a, from) && isBorderAt(b, from))) from++;
  if (areIdentical(a, b, from, until, numbers)) return null;
  let isSame = true;
  // This loop runs over all calls of all ranks, so it avoids function calls.
  const [{ shape, begins }, other] = [a.calls, b.calls];
  for (let at = from; at < until; at++) {
    if (ofA[shape[at - a.from]!] !== ofB[other.shape[at - b.from]!]) isSame = false;
    const end = at + 1;
    const isJoint =
      end < until
        ? begins[end - a.from] === 1 && other.begins[end - b.from] === 1
        : isBorderAt(a, end) && isBorderAt(b, end);
    if (!isJoint) continue;
    if (!isSame && isUnlike(a, b, from, end, numbers)) return { from, end };
    from = end;
    isSame = true;
  }
  return null;
}

/** Nearly all calls are identical, so comparing bytes is quick. */
function areIdentical(a: Placed, b: Placed, from: number, end: number, numbers: Numbers): boolean {
  if (!numbers[1].every((number, shape) => number === numbers[0][shape]) || from >= end) return false;
  const isEqual = (one: HostCalls['shape' | 'begins'], other: HostCalls['shape' | 'begins']): boolean =>
    one.BYTES_PER_ELEMENT === other.BYTES_PER_ELEMENT &&
    Buffer.compare(bytesOf(one, from - a.from, end - a.from), bytesOf(other, from - b.from, end - b.from)) ===
      0;
  return isEqual(a.calls.shape, b.calls.shape) && isEqual(a.calls.begins, b.calls.begins);
}

function bytesOf(rows: HostCalls['shape' | 'begins'], from: number, end: number): Uint8Array {
  const { buffer, byteOffset, byteLength } = rows.subarray(from, end);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const isUnlike = (a: Placed, b: Placed, from: number, end: number, numbers: Numbers): boolean =>
  !areSame(within(a, from, end), within(b, from, end), numbers) &&
  !hasUnknown(a, from, end) &&
  !hasUnknown(b, from, end);

const within = ({ calls, from: first }: Placed, from: number, end: number): HostCalls['shape'] =>
  calls.shape.slice(from - first, end - first);

/** Numbers the shapes of two files: the same call has the same number. */
function commonNumbers(a: readonly CallShape[], b: readonly CallShape[], keyOf: KeyOf): Numbers {
  const known = new Map<string, number>();
  const commonOf = (shape: CallShape): number => entryOf(known, keyOf(shape), () => known.size);
  return [a.map(commonOf), b.map(commonOf)];
}

/** NCCL turns these into bytes, so equal bytes of another type are the same call. */
const MOVES_BYTES: ReadonlySet<string> = new Set(['AllGather', 'Broadcast']);

function callOf({ func, count, datatype, root }: CallShape): string {
  const bytes = MOVES_BYTES.has(func) ? ELEMENT_BYTES[datatype] : undefined;
  return bytes === undefined
    ? `${func} ${count} ${datatype} ${root}`
    : `${func} ${count * bytes} bytes ${root}`;
}

/** NCCL has no name for its type, so type and size are not known. */
function hasUnknown({ calls: { shape, shapes }, from: first }: Placed, from: number, end: number): boolean {
  for (let at = from; at < end; at++)
    if (ELEMENT_BYTES[shapes[shape[at - first]!]!.datatype] === undefined) return true;
  return false;
}

function areSame(a: HostCalls['shape'], b: HostCalls['shape'], [ofA, ofB]: Numbers): boolean {
  const [one, other] = [Array.from(a, (shape) => ofA[shape]!), Array.from(b, (shape) => ofB[shape]!)];
  one.sort((x, y) => x - y);
  other.sort((x, y) => x - y);
  return one.every((shape, i) => shape === other[i]);
}

/**
 * Groups the ranks by their calls. Each group is shown with a call that the largest group lacks. The largest group is shown with a call
 * that another group lacks.
 */
function describe(commId: bigint, callers: readonly Placed[], { from, end }: Block): Mismatch | null {
  const byShapes = new Map<string, { readonly keys: readonly string[]; readonly callers: Placed[] }>();
  for (const caller of callers) {
    if (!isBorderAt(caller, from) || !isBorderAt(caller, end) || hasUnknown(caller, from, end)) continue;
    const keys = Array.from({ length: end - from }, (_, i) => callOf(shapeAt(caller, from + i)));
    const key = [...keys].sort().join('\n');
    entryOf(byShapes, key, () => ({ keys, callers: [] })).callers.push(caller);
  }
  const groups = [...byShapes.values()].sort((a, b) => b.callers.length - a.callers.length);
  const [usual, other] = groups;
  if (!usual || !other) return null;
  const ways = groups.map((group) => {
    const wanted = lacking(group.keys, group === usual ? other.keys : usual.keys);
    return wayOf(commId, group.callers, from, end, wanted);
  }) as [Way, Way, ...Way[]];
  const [{ name, nRanks }] = callers as [Placed];
  const what = ways.every(({ func }) => func === ways[0].func) ? 'arguments' : 'calls';
  // Within a group its position differs from rank to rank.
  const call = end - from === 1 && callers.some(({ calls }) => calls.isWhole) ? from : null;
  return mismatchOn({ commId, name, nRanks }, what, ways, call);
}

/** The first call that is more frequent here than in `others`. */
function lacking(keys: readonly string[], others: readonly string[]): string {
  const left = [...others];
  for (const key of keys) {
    const at = left.indexOf(key);
    if (at < 0) return key;
    left.splice(at, 1);
  }
  return keys[0]!;
}

function wayOf(commId: bigint, callers: readonly Placed[], from: number, end: number, wanted: string): Way {
  const [first] = callers as [Placed];
  const placeIn = (caller: Placed): number => {
    for (let at = from; at < end; at++) if (callOf(shapeAt(caller, at)) === wanted) return at;
    return from;
  };
  return {
    commId: hex64(commId),
    comm: first.name,
    seq: null,
    replay: 0,
    ...shapeAt(first, placeIn(first)),
    entered: byFile(callers).map(([caller, some]) => ({ ...evidenceAt(caller, placeIn(caller)), ...some })),
  };
}
