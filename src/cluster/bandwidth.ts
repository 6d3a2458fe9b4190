/**
 * Bandwidth of a collective, by the formulas of NVIDIA's nccl-tests (doc/PERFORMANCE.md): algorithm bandwidth is size over
 * time; bus bandwidth is that times a factor, so that it can be compared with the hardware's for any number of ranks.
 */

import type { TraceNs } from '../base/time.js';
import { hasRoot } from '../model/roots.js';
import type { Collective } from './collective_view.js';

/** Bytes of one element, by NCCL's name; "Unknown" is NCCL's text for types without a name (such as ncclUint8). */
export const ELEMENT_BYTES: Readonly<Record<string, number>> = {
  ncclInt8: 1,
  ncclUint8: 1,
  ncclFloat8e4m3: 1,
  ncclFloat8e5m2: 1,
  ncclFloat16: 2,
  ncclBfloat16: 2,
  ncclInt32: 4,
  ncclUint32: 4,
  ncclFloat32: 4,
  ncclInt64: 8,
  ncclUint64: 8,
  ncclFloat64: 8,
};

/** Per function, for n ranks: the size in units of one rank's count, and the bus factor. */
const FORMULAS: Readonly<Record<string, { size: (n: number) => number; bus: (n: number) => number }>> = {
  AllReduce: { size: () => 1, bus: (n) => (2 * (n - 1)) / n },
  AllGather: { size: (n) => n, bus: (n) => (n - 1) / n },
  ReduceScatter: { size: (n) => n, bus: (n) => (n - 1) / n },
  Broadcast: { size: () => 1, bus: () => 1 },
  Reduce: { size: () => 1, bus: () => 1 },
};

export interface CollectiveSize {
  /** nccl-tests' "size". */
  readonly bytes: number;
  readonly busFactor: number;
}

/** Null if the formula or the element is not known, or the count is impossible. `count` as in NCCL's Coll event. */
export function collectiveSize(
  func: string,
  datatype: string,
  count: number,
  nRanks: number,
): CollectiveSize | null {
  const formula = FORMULAS[func];
  const element = ELEMENT_BYTES[datatype];
  if (!formula || element === undefined || nRanks < 1) return null;
  const bytes = count * element * formula.size(nRanks);
  return Number.isSafeInteger(bytes) ? { bytes, busFactor: formula.bus(nRanks) } : null;
}

/**
 * From when on the time of a collective tells what the network did. That is the last arrival, because nobody gets a result without the data of
 * all. null: it has a root. Its data move while ranks are still missing, so the time after the last arrival says nothing (seen on a GPU: the
 * last rank of a Broadcast found its 384 bytes waiting, and had them after 0.4 us).
 */
const busySince = ({ func, lastArrival }: Pick<Collective, 'func' | 'lastArrival'>): TraceNs | null =>
  hasRoot(func) ? null : lastArrival;

/** A time in which data of a collective moved, in GB/s. */
export interface BusyTime {
  readonly from: TraceNs;
  readonly to: TraceNs;
  readonly algbw: number;
  readonly busbw: number;
}

/**
 * What a collective shows of the network, from its last arrival and from its first. A late rank makes the former look faster. null: not all ranks
 * came and ended, not on one clock, or the size is not known.
 */
export function bandwidthsOf(one: Collective, nRanks: number, isComparable: boolean) {
  const { func, datatype, count, open, cutOff, aborted, arrived, firstArrival, end } = one;
  const size = collectiveSize(func, datatype, count, nRanks);
  const hasEnded = open.length + cutOff.length + aborted.length === 0;
  const isWhole = hasEnded && arrived >= 2 && arrived === nRanks && isComparable;
  const since = (from: TraceNs | null): BusyTime | null => {
    if (size === null || !isWhole || end === null || from === null || end <= from) return null;
    const algbw = size.bytes / (end - from);
    return { from, to: end, algbw, busbw: algbw * size.busFactor };
  };
  return { bytes: size?.bytes ?? null, fromLast: since(busySince(one)), fromFirst: since(firstArrival) };
}

/** The bandwidth from each instant at which it changes until the next: the sum of the collectives under way. */
export function busBandwidthSteps(
  busy: readonly Omit<BusyTime, 'algbw'>[],
): { at: TraceNs; busbw: number }[] {
  const changes = busy
    .flatMap(({ from, to, busbw }) => [
      { at: from, begins: 1, by: busbw },
      { at: to, begins: -1, by: -busbw },
    ])
    .sort((a, b) => a.at - b.at);
  const steps: { at: TraceNs; busbw: number }[] = [];
  let underWay = 0;
  let busbw = 0;
  changes.forEach(({ at, begins, by }, i) => {
    underWay += begins;
    // The sum starts again when nothing is in flight, so that rounding errors do not add up.
    busbw = underWay === 0 ? 0 : busbw + by;
    if (changes[i + 1]?.at !== at) steps.push({ at, busbw });
  });
  return steps;
}
