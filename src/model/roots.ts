/** Functions with a root. NCCL's root of other functions means nothing. */

const HAS_ROOT: ReadonlySet<string> = new Set(['Broadcast', 'Reduce', 'Gather', 'Scatter']);

export const hasRoot = (func: string): boolean => HAS_ROOT.has(func);

/** The result on each rank needs every other rank's input. */
export const ALL_TO_ALL: readonly string[] = ['AllReduce', 'AllGather', 'ReduceScatter'];
