/** Functions with a root. Of others NCCL tells one, too, and it means nothing. */

const HAS_ROOT: ReadonlySet<string> = new Set(['Broadcast', 'Reduce', 'Gather', 'Scatter']);

export const hasRoot = (func: string): boolean => HAS_ROOT.has(func);
