/** What the name of one of NCCL's kernels says: `ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)`, and in older and newer versions. */

/** Names of types in kernels, in PyTorch's arguments and in NCCL's profiler → one name. */
const TYPES: Readonly<Record<string, string>> = {
  float: 'f32',
  ncclfloat32: 'f32',
  half: 'f16',
  ncclfloat16: 'f16',
  double: 'f64',
  ncclfloat64: 'f64',
  __nv_bfloat16: 'bf16',
  ncclbfloat16: 'bf16',
  int8_t: 'i8',
  ncclint8: 'i8',
  uint8_t: 'u8',
  nccluint8: 'u8',
  int32_t: 'i32',
  ncclint32: 'i32',
  uint32_t: 'u32',
  nccluint32: 'u32',
  int64_t: 'i64',
  ncclint64: 'i64',
  uint64_t: 'u64',
  nccluint64: 'u64',
};
const SHORT = new Set(Object.values(TYPES));

export const typeName = (name: string): string | null => {
  const lower = name.toLowerCase();
  return TYPES[lower] ?? (SHORT.has(lower) ? lower : null);
};

/** Their kernels depend on the type. The others copy bytes. */
export const REDUCES = new Set(['AllReduce', 'ReduceScatter', 'Reduce']);

const FUNCS = ['AllReduce', 'AllGather', 'ReduceScatter', 'Reduce', 'Broadcast', 'SendRecv'];

export interface KernelName {
  readonly func: string | null;
  readonly type: string | null;
}

/** null: not one of NCCL's. */
export function kernelName(name: string): KernelName | null {
  const plain = name.split('(')[0]!;
  if (!/^nccl\w*kernel/i.test(plain)) return null;
  const words = plain.split('_');
  const func = FUNCS.find((one) => words.includes(one)) ?? null;
  const type = func !== null && REDUCES.has(func) ? typeIn(words, plain) : null;
  return { func, type };
}

/** Names of types may contain the character that separates the words. */
const typeIn = (words: readonly string[], plain: string): string | null =>
  words.map(typeName).find((one) => one !== null) ??
  Object.keys(TYPES).flatMap((one) => (plain.includes(`_${one}`) ? [TYPES[one]!] : []))[0] ??
  null;
