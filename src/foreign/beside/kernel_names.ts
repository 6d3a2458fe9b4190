/** What the name of one of NCCL's kernels says: `ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)`, and in older and newer versions. */

const FLOATS: Readonly<Record<string, string>> = {
  ...{ float: 'f32', float32: 'f32', half: 'f16', float16: 'f16', double: 'f64', float64: 'f64' },
  ...{ bfloat16: 'bf16', f32: 'f32', f16: 'f16', f64: 'f64', bf16: 'bf16' },
};

/**
 * One name for a type in kernels, in PyTorch's arguments and in NCCL's profiler. Sums of signed integers run in the kernels of unsigned ones
 * (NCCL's src/device/generate.py), so all integers of a size have one name. Null: no type whose kernels are known.
 */
export function typeName(name: string): string | null {
  const plain = name.toLowerCase().replace(/^nccl/, '');
  const [, bits] = /^(?:u?int|[iu])(8|32|64)$/.exec(plain) ?? [];
  return bits === undefined ? (FLOATS[plain] ?? null) : `u${bits}`;
}

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
  const isTyped = func !== null && REDUCES.has(func);
  const type = isTyped ? (words.map(typeName).find((one) => one !== null) ?? null) : null;
  return { func, type };
}
