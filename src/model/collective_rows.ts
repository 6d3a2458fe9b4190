/**
 * One row per collective (Coll) of a file, in columns: what the other ranks' files are compared with. Columns because a
 * long run has millions of them, which pass between threads.
 *
 * Only what can be compared: the communicator is known (an old interface through an adapter never says which it is) and
 * the replay ordinal counts from the beginning.
 */

import type { Work } from './types.js';
import type { WorkEnd, WorkOutcome } from './work_end.js';

/** What stands in `outcome`: its index. */
export const OUTCOMES: readonly WorkOutcome[] = ['complete', 'open', 'no-children', 'outside-window'];

/** Strings are few: a row names its pair. */
export interface CollectiveKind {
  readonly func: string;
  readonly datatype: string;
}

export interface CollectiveRows {
  readonly length: number;
  /** Works of the file that cannot be compared with other ranks'. */
  readonly notComparable: number;
  readonly kinds: readonly CollectiveKind[];
  /** Index into `kinds`. */
  readonly kind: Uint16Array;
  /** Number of the communicator in its file. */
  readonly comm: Uint32Array;
  readonly seq: Float64Array;
  readonly ordinal: Uint32Array;
  readonly count: Float64Array;
  /** Ticks: the application's call where NCCL tells of it and is not a captured graph's, else the enqueueing. */
  readonly arrival: Float64Array;
  /** Ticks: the end of the enqueueing; NaN: not reached. */
  readonly enqueued: Float64Array;
  /** Ticks: end of the last ProxyOp; NaN: none. */
  readonly lastOp: Float64Array;
  /** GpuNs and Ticks: end of the last KernelCh, as stamped and as noticed; NaN: none. */
  readonly kernelGpu: Float64Array;
  readonly kernelNoticed: Float64Array;
  /** Index into OUTCOMES. */
  readonly outcome: Uint8Array;
}

export function collectiveRows(works: readonly Work[], ends: readonly WorkEnd[]): CollectiveRows {
  const all = works.filter(({ kind }) => kind === 'Coll');
  const rows = all.filter(isComparable);
  const kinds = new Map<string, CollectiveKind>();
  const numbers = new Map<string, number>();
  const kindOf = ({ func, datatype }: Work): number => {
    const key = `${func} ${datatype}`;
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    kinds.set(key, { func, datatype });
    return number;
  };
  const ticks = (pick: (work: Work, end: WorkEnd) => number | null | undefined): Float64Array =>
    Float64Array.from(rows, (work) => pick(work, ends[work.row]!) ?? NaN);
  return {
    length: rows.length,
    notComparable: all.length - rows.length,
    kind: Uint16Array.from(rows, kindOf),
    kinds: [...kinds.values()],
    comm: Uint32Array.from(rows, ({ comm }) => comm!.number),
    seq: Float64Array.from(rows, ({ seq }) => seq ?? 0),
    ordinal: Uint32Array.from(rows, ({ ordinal }) => ordinal),
    count: Float64Array.from(rows, ({ count }) => count),
    arrival: ticks((work) => (work.api && !work.api.graphCaptured ? work.api.start : work.start)),
    enqueued: ticks((work) => work.enqueued),
    lastOp: ticks((_, end) => end.lastOp),
    kernelGpu: ticks((_, end) => end.lastKernel?.gpu),
    kernelNoticed: ticks((_, end) => end.lastKernel?.noticed),
    outcome: Uint8Array.from(rows, (work) => OUTCOMES.indexOf(ends[work.row]!.outcome)),
  };
}

const isComparable = ({ comm, ordinalAbsolute }: Work): boolean =>
  comm !== null && comm.commId !== 0n && ordinalAbsolute;
