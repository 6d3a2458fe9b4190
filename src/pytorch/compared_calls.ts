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

/**
 * The function that NCCL runs. PyTorch's interfaces have several names for one: `_all_gather_base`, `all_gather_single`,
 * `all_gather_into_tensor`, `ALLTOALL_BASE`. How the tensors lie in memory is no difference.
 */
export function functionOf({ op }: Pick<DumpedCall, 'op'>): string {
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
}

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

/** The side that is the same on all ranks. With a list of tensors, the parts may differ from rank to rank, and their sum may not. */
function elementsOf({ inputs, outputs }: DumpedCall, op: string): number | null {
  if (['all_reduce', 'reduce', 'broadcast', 'gather', 'barrier'].includes(op)) return elementsIn(inputs);
  if (op === 'all_gather') return elementsIn(outputs.length > 1 ? outputs : inputs);
  if (op === 'reduce_scatter') return elementsIn(inputs.length > 1 ? inputs : outputs);
  return op === 'scatter' ? elementsIn(outputs) : null;
}

export const elementsIn = (sizes: readonly (readonly number[])[]): number =>
  sizes.reduce((sum, dims) => sum + dims.reduce((product, size) => product * size, 1), 0);
