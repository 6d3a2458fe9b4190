/** Depths: collectives and calls of the host ('coll'), NCCL's work on channels by proxy and kernel ('op'), single transfers ('step'). */
export const DETAILS = ['coll', 'op', 'step'] as const;
export type Detail = (typeof DETAILS)[number];
