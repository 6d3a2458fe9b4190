/**
 * PyTorch's own numbers of operations, where a file has them, against what the ends of the kernels say. `Seq` counts up within a process group,
 * so on one communicator the calls are in its order. `Comms Id` is the same on all ranks of an operation, so in two files it is the same
 * collective, or two that end together: calls that PyTorch coalesces have one number and one kernel. Sends and receives are left out: a kernel may run several, and files count them together with collectives or apart.
 */

import { firstIndex } from '../../base/first_index.js';
import type { NcclKernel } from './foreign_trace.js';
import type { OurWork } from './our_works.js';
import { TOLERANCE } from './same_work.js';

/** By `Comms Id`: the collective, as an earlier file of the run has it. */
export type Operations = Map<string, number>;

/** Operations that are remembered for later files. */
const MOST_OPERATIONS = 1_000_000;

export interface NumberedWork {
  /** `works`, with null for kernels that their numbers contradict. */
  readonly works: readonly (number | null)[];
  /** Kernels with a number that are our works by their ends. */
  readonly numbered: number;
  readonly contradicted: number;
}

/** `matches`: by kernel the index of its work, or null. */
export function checkNumbers(
  kernels: readonly Pick<NcclKernel, 'func' | 'numbered'>[],
  matches: readonly (number | null)[],
  works: readonly OurWork[],
  operations: Operations,
): NumberedWork {
  const compared = kernels.flatMap(({ func, numbered }, kernel) => {
    const work = matches[kernel];
    const isCounted = numbered !== null && func !== null && func !== 'SendRecv';
    return isCounted && typeof work === 'number' ? [{ kernel, numbered, work: works[work]! }] : [];
  });
  const wrong = new Set<number>();
  const places = new Map(works.map(({ correlation, at }) => [correlation, at]));
  for (const { kernel, numbered, work } of compared) {
    const known = numbered.id === null ? undefined : operations.get(numbered.id);
    if (known === undefined || work.correlation === null || known === work.correlation) continue;
    const apart = Math.abs((places.get(known) ?? Infinity) - work.at);
    if (apart > TOLERANCE) wrong.add(kernel);
  }
  const groups = new Map<string, typeof compared>();
  for (const one of compared.filter(({ numbered }) => numbered.seq !== null)) {
    const key = `${one.work.comm} ${one.numbered.group}`;
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  for (const group of groups.values()) {
    const sorted = group.sort(
      (a, b) => a.numbered.seq! - b.numbered.seq! || a.work.called - b.work.called || a.kernel - b.kernel,
    );
    const kept = longestAscent(sorted.map(({ work }) => work.called));
    sorted.forEach(({ kernel }, i) => {
      if (!kept.has(i)) wrong.add(kernel);
    });
  }
  return {
    works: matches.map((work, kernel) => (wrong.has(kernel) ? null : work)),
    numbered: compared.length,
    contradicted: wrong.size,
  };
}

/** For the files after this one. */
export function remember(
  kernels: readonly Pick<NcclKernel, 'func' | 'numbered'>[],
  matches: readonly (number | null)[],
  works: readonly OurWork[],
  operations: Operations,
): void {
  kernels.forEach(({ func, numbered }, kernel) => {
    const work = matches[kernel];
    const id = numbered?.id ?? null;
    if (id === null || func === null || func === 'SendRecv' || typeof work !== 'number') return;
    const { correlation } = works[work]!;
    if (correlation !== null && operations.size < MOST_OPERATIONS && !operations.has(id))
      operations.set(id, correlation);
  });
}

/** Places of a longest part of the values that never descends. */
function longestAscent(values: readonly number[]): ReadonlySet<number> {
  // By length - 1: where the part of this length ends that ends lowest.
  const ends: number[] = [];
  const before = values.map((value, i) => {
    const at = firstIndex(ends.length, (length) => values[ends[length]!]! > value);
    const previous = at === 0 ? null : ends[at - 1]!;
    ends[at] = i;
    return previous;
  });
  const kept = new Set<number>();
  for (let i: number | null = ends.at(-1) ?? null; i !== null; i = before[i]!) kept.add(i);
  return kept;
}
