/**
 * Whether all ranks called the same collective, as far as NCCL needs it: the same function, number of elements and type. Sizes that may
 * differ are not compared: those of all_to_all, and of coalesced calls.
 */

import { maxOf } from '../base/extremes.js';
import { memoized } from '../base/memoized.js';
import type { CallKind, DumpedCall } from './calls.js';

/** A collective of a group, as one rank called it; several entries if they are coalesced. */
export interface RankCall {
  readonly rank: number;
  readonly calls: readonly DumpedCall[];
  readonly isPending: boolean;
}

/** One way to call a collective, with the ranks that called it so. */
export interface DumpedWay {
  readonly op: string;
  /** null: not compared. */
  readonly elements: number | null;
  /** Elements that are received. Only where the sums of an all_to_all differ; then `elements` are sent. */
  readonly received?: number;
  readonly dtype: string;
  readonly ranks: readonly number[];
}

/**
 * The function that NCCL runs. PyTorch's interfaces have several names for one: `_all_gather_base`, `all_gather_single`,
 * `all_gather_into_tensor`, `ALLTOALL_BASE`. How the tensors lie in memory is no difference.
 */
export const functionOf = ({ op }: Pick<CallKind, 'op'>): string => functionNamed(op);

const functionNamed = memoized((op: string): string => {
  const [word = ''] = op.toLowerCase().split(' ');
  const isCoalesced = word.endsWith('_coalesced');
  const plain = word
    .replace(/^_|_coalesced$/g, '')
    .replace(/(?<=[a-z])(_(base|oop|single|v|into_tensor|tensor))+$/, '')
    .replace(/^all_?(reduce|gather)/, 'all_$1')
    .replace(/^all_?to_?all/, 'all_to_all')
    .replace(/^reduce_?scatter/, 'reduce_scatter')
    .replace(/^all_reduce_barrier$/, 'barrier');
  return isCoalesced ? `${plain}_coalesced` : plain;
});

/** What must be the same on all ranks, as one text. */
export function wayOf(kind: CallKind): string {
  const known = waysByKind.get(kind) ?? `${functionOf(kind)} ${elementsOf(kind)} ${kind.dtypes[0] ?? ''}`;
  waysByKind.set(kind, known);
  return known;
}
const waysByKind = new WeakMap<CallKind, string>();

/** Ways, most ranks first; one: all ranks agree. */
export function waysOf(calls: Iterable<RankCall>): DumpedWay[] {
  const ways = new Map<string, DumpedWay>();
  for (const { rank, calls: some } of calls) {
    const op = some.map(functionOf).join(' + ');
    const only = some.length === 1 ? some[0]! : null;
    const elements = only && elementsOf(only);
    const dtype = only?.dtypes[0] ?? '';
    const key = `${op} ${elements} ${dtype}`;
    ways.set(key, { op, elements, dtype, ranks: [...(ways.get(key)?.ranks ?? []), rank] });
  }
  return [...ways.values()].sort((a, b) => b.ranks.length - a.ranks.length);
}

/** The side that is the same on all ranks. With a list of tensors, the parts may differ from rank to rank, and their sum may not. */
function elementsOf(kind: CallKind): number | null {
  const [op, { inputs, outputs }] = [functionOf(kind), kind];
  if (['all_reduce', 'reduce', 'broadcast', 'gather', 'barrier'].includes(op)) return elementsIn(inputs);
  if (op === 'all_gather') return elementsIn(outputs.length > 1 ? outputs : inputs);
  if (op === 'reduce_scatter') return elementsIn(inputs.length > 1 ? inputs : outputs);
  return op === 'scatter' ? elementsIn(outputs) : null;
}

export const elementsIn = (sizes: readonly (readonly number[])[]): number =>
  sizes.reduce((sum, dims) => sum + dims.reduce((product, size) => product * size, 1), 0);

/** What one rank sends to another, in elements, and what the other expects. */
export interface UnequalPair {
  readonly from: number;
  readonly to: number;
  readonly sent: number;
  readonly expected: number;
}

/** With lists, an all_to_all has a size per peer: the j-th input of rank i is the i-th output of rank j. */
export function unequalPairs(ranks: readonly number[], calls: ReadonlyMap<number, RankCall>): UnequalPair[] {
  const sizes = (rank: number, side: 'inputs' | 'outputs'): CallKind['inputs'] => {
    const own = calls.get(rank)?.calls ?? [];
    return own.length === 1 && own[0]![side].length === ranks.length ? own[0]![side] : [];
  };
  return ranks.flatMap((from, i) =>
    ranks.flatMap((to, j) => {
      const [input, output] = [sizes(from, 'inputs')[j], sizes(to, 'outputs')[i]];
      if (input === undefined || output === undefined) return [];
      const [sent, expected] = [elementsIn([input]), elementsIn([output])];
      return sent === expected ? [] : [{ from, to, sent, expected }];
    }),
  );
}

/** The fewest ranks, about, without which no pair is unequal: again and again the one with most of them. Of two alike, both. */
export function oddOnes(pairs: readonly UnequalPair[]): number[] {
  const counts = new Map<number, number>();
  for (const { from, to } of pairs)
    for (const rank of new Set([from, to])) counts.set(rank, (counts.get(rank) ?? 0) + 1);
  const most = maxOf(counts.values(), 0);
  const odd = [...counts].flatMap(([rank, count]) => (count === most ? [rank] : []));
  const rest = pairs.filter(({ from, to }) => !odd.includes(from) && !odd.includes(to));
  return pairs.length === 0 ? [] : [...odd, ...oddOnes(rest)].sort((a, b) => a - b);
}

/** Without lists only sums are known: all ranks together must send what they receive. Empty if they do, or if not all are known. */
export function unequalSums(ranks: readonly number[], calls: ReadonlyMap<number, RankCall>): DumpedWay[] {
  const own = ranks.map((rank) => calls.get(rank)?.calls ?? []);
  if (own.some((some) => some.length !== 1)) return [];
  const sums = own.map(([call]) => [elementsIn(call!.inputs), elementsIn(call!.outputs)] as const);
  if (sums.reduce((rest, [sent, received]) => rest + sent - received, 0) === 0) return [];
  const ways = new Map<string, DumpedWay>();
  for (const [i, [elements, received]] of sums.entries()) {
    const key = `${elements} ${received}`;
    const before = ways.get(key)?.ranks ?? [];
    const dtype = own[i]![0]!.dtypes[0] ?? '';
    ways.set(key, { op: 'all_to_all', elements, received, dtype, ranks: [...before, ranks[i]!] });
  }
  return [...ways.values()].sort((a, b) => b.ranks.length - a.ranks.length);
}
