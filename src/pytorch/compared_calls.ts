/**
 * Whether all ranks called the same collective, as far as NCCL needs it: the same function, number of elements and type. Sizes that may
 * differ are not compared: those of all_to_all, and of coalesced calls.
 */

import type { DumpedCall } from './dump.js';
import type { RankCall } from './joined_calls.js';

/** One way to call a collective, with the ranks that called it so. */
export interface DumpedWay {
  readonly op: string;
  /** null: not compared. */
  readonly elements: number | null;
  readonly dtype: string;
  readonly ranks: readonly number[];
}

/** The function that NCCL runs: PyTorch has several names for some. */
export function functionOf({ op }: Pick<DumpedCall, 'op'>): string {
  const [word = ''] = op.toLowerCase().split(' ');
  return SAME.get(word) ?? word.replace(/^_/, '').replace(/_(base|oop)$/, '');
}

const SAME: ReadonlyMap<string, string> = new Map([
  ['allgather', 'all_gather'],
  ['allgather_into_tensor_coalesced', 'all_gather_into_tensor_coalesced'],
  ['alltoall', 'all_to_all'],
  ['alltoall_base', 'all_to_all'],
  ['allreduce', 'all_reduce'],
]);

const BY_INPUT = ['all_reduce', 'reduce', 'broadcast', 'all_gather', 'barrier'];
const BY_OUTPUT = ['reduce_scatter', 'scatter'];

/** Ways, most ranks first; one: all ranks agree. */
export function waysOf(calls: Iterable<RankCall>): DumpedWay[] {
  const ways = new Map<string, DumpedWay>();
  for (const { rank, calls: some } of calls) {
    const op = some.map(functionOf).join(' + ');
    const [only] = some;
    const elements = some.length === 1 ? elementsOf(only!, op) : null;
    const dtype = some.length === 1 ? (only!.dtypes[0] ?? '') : '';
    const key = `${op} ${elements} ${dtype}`;
    ways.set(key, { op, elements, dtype, ranks: [...(ways.get(key)?.ranks ?? []), rank] });
  }
  return [...ways.values()].sort((a, b) => b.ranks.length - a.ranks.length);
}

function elementsOf({ inputs, outputs }: DumpedCall, op: string): number | null {
  const sizes = BY_INPUT.includes(op) ? inputs : BY_OUTPUT.includes(op) ? outputs : null;
  return sizes?.reduce((sum, dims) => sum + dims.reduce((product, size) => product * size, 1), 0) ?? null;
}
