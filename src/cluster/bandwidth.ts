/**
 * Bandwidth of a collective, by the formulas of NVIDIA's nccl-tests (doc/PERFORMANCE.md): algorithm bandwidth is size over
 * time; bus bandwidth is that times a factor, so that it can be held against the hardware's whatever the number of ranks.
 */

/** Bytes of one element, by NCCL's name; "Unknown" stands for what NCCL has no name for (ncclUint8 among them). */
const ELEMENT_BYTES: Readonly<Record<string, number>> = {
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

/** Per function: how often one rank's count makes the size, and the bus factor, of n ranks. */
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

/** Null where the formula or the element is not known, or the count cannot be true. `count` as NCCL's Coll event has it. */
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
