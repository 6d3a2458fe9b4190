/**
 * What the ranks called, whatever NCCL told of it afterwards: of some collectives that is all there is (Broadcast from 2.29 on, symmetric
 * memory, what sampling left out). The nth collective that a rank calls on a communicator is the nth of every other rank. Compared are only
 * ranks of which every call is known from the first one on, and groups as a whole: within one the order does not matter.
 */

import { hex64 } from '../base/hex.js';
import type { CallShape } from '../model/call_table.js';
import { SHORTEST_HANG } from './absence.js';
import type { Case } from './case.js';
import type { Behind, Evidence, HostCalls, Mismatch, RankWitness, Way } from './types.js';

interface Caller {
  readonly file: number;
  readonly name: string;
  readonly nRanks: number;
  readonly calls: HostCalls;
}

/** By communicator. Asked for again and again, and as long as the run. */
const known = new WeakMap<readonly RankWitness[], ReadonlyMap<bigint, Mismatch>>();

/** By communicator, the first of each. */
export function differentHostCalls(ranks: readonly RankWitness[]): ReadonlyMap<bigint, Mismatch> {
  let found = known.get(ranks);
  if (!found) {
    found = new Map(
      [...callersByComm(ranks)].flatMap(([commId, callers]): [bigint, Mismatch][] => {
        const one = mismatchAmong(commId, callers);
        return one ? [[commId, one]] : [];
      }),
    );
    known.set(ranks, found);
  }
  return found;
}

/** Ranks that surely had not made a call that another rank made a second before, or earlier; who called least comes first. */
export function behindOthers({ ranks, comparable }: Case): Behind[] {
  return [...callersByComm(ranks)].flatMap(([commId, callers]) => {
    const most = longest(callers);
    if (!most) return [];
    const byCount = new Map<number, number[]>();
    for (const { file, calls } of callers) {
      const count = calls.shape.length;
      if (count >= most.calls.shape.length || !comparable([file, most.file])) continue;
      if (ranks[file]!.knownUntil - most.calls.at(count) < SHORTEST_HANG) continue;
      byCount.set(count, [...(byCount.get(count) ?? []), file]);
    }
    const fewestFirst = [...byCount].sort(([a], [b]) => a - b);
    return fewestFirst.map(([count, files]) => ({
      commId: hex64(commId),
      comm: most.name,
      calls: count,
      most: most.calls.shape.length,
      files: [...new Set(files)],
      ...shapeAt(most.calls, count),
      ...evidenceAt(most, count),
    }));
  });
}

function callersByComm(ranks: readonly RankWitness[]): ReadonlyMap<bigint, Caller[]> {
  const found = new Map<bigint, Caller[]>();
  ranks.forEach(({ communicators, hostCalls }, file) => {
    for (const [number, { commId, name, nRanks }] of communicators) {
      const calls = hostCalls.get(number);
      if (!calls || commId === 0n) continue;
      found.set(commId, [...(found.get(commId) ?? []), { file, name, nRanks, calls }]);
    }
  });
  return found;
}

function longest(callers: readonly Caller[]): Caller | null {
  return callers.reduce<Caller | null>(
    (a, b) => (a === null || b.calls.shape.length > a.calls.shape.length ? b : a),
    null,
  );
}

/** Calls [from, end). */
interface Block {
  readonly from: number;
  readonly end: number;
}

function mismatchAmong(commId: bigint, callers: readonly Caller[]): Mismatch | null {
  const most = longest(callers);
  if (!most) return null;
  let first: Block | null = null;
  for (const { calls } of callers) {
    const block = calls === most.calls ? null : firstDifference(most.calls, calls);
    if (block && (first === null || block.from < first.from)) first = block;
  }
  return first && describe(commId, callers, first);
}

/** The first groups that are ended on both sides and hold other calls. null: none, or where nobody can tell which belong together. */
function firstDifference(a: HostCalls, b: HostCalls): Block | null {
  const translated = translation(b.shapes, a.shapes);
  const until = Math.min(a.shape.length, b.shape.length);
  let from = 0;
  let isSame = true;
  for (let i = 0; i < until; i++) {
    if (a.shape[i] !== translated[b.shape[i]!]) isSame = false;
    const end = i + 1;
    if (!isBorder(a, end) || !isBorder(b, end)) continue;
    if (!isSame && !areSame(a.shape.slice(from, end), b.shape.slice(from, end), translated))
      return { from, end };
    from = end;
    isSame = true;
  }
  return null;
}

/** Between the calls before and those from here on no group goes on. */
const isBorder = ({ begins, shape, isLastOpen }: HostCalls, at: number): boolean =>
  at === shape.length ? !isLastOpen : begins[at] === 1;

/** Numbers of the same shapes in the other file; -1: it has none such. */
function translation(from: readonly CallShape[], to: readonly CallShape[]): number[] {
  const numbers = new Map(to.map((shape, number) => [keyOf(shape), number]));
  return from.map((shape) => numbers.get(keyOf(shape)) ?? -1);
}

const keyOf = ({ func, count, datatype, root }: CallShape): string => `${func} ${count} ${datatype} ${root}`;

function areSame(a: Uint32Array, b: Uint32Array, translated: readonly number[]): boolean {
  const [one, other] = [Array.from(a), Array.from(b, (shape) => translated[shape]!)];
  one.sort((x, y) => x - y);
  other.sort((x, y) => x - y);
  return one.every((shape, i) => shape === other[i]);
}

/** Who called alike there, and of each way a call that the one of most ranks does not have; of that one, one that another way lacks. */
function describe(commId: bigint, callers: readonly Caller[], { from, end }: Block): Mismatch | null {
  const byShapes = new Map<string, { readonly keys: readonly string[]; readonly callers: Caller[] }>();
  for (const caller of callers) {
    const { calls } = caller;
    if (calls.shape.length < end || !isBorder(calls, from) || !isBorder(calls, end)) continue;
    const keys = Array.from({ length: end - from }, (_, i) => keyOf(shapeAt(calls, from + i)));
    const key = [...keys].sort().join('\n');
    const group = byShapes.get(key) ?? { keys, callers: [] };
    group.callers.push(caller);
    byShapes.set(key, group);
  }
  const groups = [...byShapes.values()].sort((a, b) => b.callers.length - a.callers.length);
  const [usual, other] = groups;
  if (!usual || !other) return null;
  const ways = groups.map((group) => {
    const wanted = lacking(group.keys, group === usual ? other.keys : usual.keys);
    return wayOf(commId, group.callers, from, end, wanted);
  }) as [Way, Way, ...Way[]];
  const [{ name, nRanks }] = callers as [Caller];
  const what = ways.every(({ func }) => func === ways[0].func) ? 'arguments' : 'calls';
  return { commId: hex64(commId), comm: name, nRanks, what, call: from, ways };
}

/** The first that is there more often than in `others`. */
function lacking(keys: readonly string[], others: readonly string[]): string {
  const left = [...others];
  for (const key of keys) {
    const at = left.indexOf(key);
    if (at < 0) return key;
    left.splice(at, 1);
  }
  return keys[0]!;
}

function wayOf(commId: bigint, callers: readonly Caller[], from: number, end: number, wanted: string): Way {
  const [first] = callers as [Caller];
  const placeIn = (calls: HostCalls): number => {
    for (let i = from; i < end; i++) if (keyOf(shapeAt(calls, i)) === wanted) return i;
    return from;
  };
  return {
    commId: hex64(commId),
    comm: first.name,
    seq: null,
    replay: 0,
    ...shapeAt(first.calls, placeIn(first.calls)),
    entered: callers.map((caller) => evidenceAt(caller, placeIn(caller.calls))),
  };
}

const shapeAt = ({ shapes, shape }: HostCalls, call: number): CallShape => shapes[shape[call]!]!;

const evidenceAt = ({ file, calls }: Caller, call: number): Evidence => ({
  file,
  record: calls.record(call),
  at: calls.at(call),
});
