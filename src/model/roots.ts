/** Functions with a root. NCCL's root of other functions means nothing. */

const HAS_ROOT: ReadonlySet<string> = new Set(['Broadcast', 'Reduce', 'Gather', 'Scatter']);

export const hasRoot = (func: string): boolean => HAS_ROOT.has(func);
