/**
 * Which transfers a scan keeps if there are too many: a share of each connection, one half, one quarter and so on. Both ends of a transfer
 * decide in the same way without knowing each other, because the choice depends on the transfer's own numbers. If the end with the smaller
 * share keeps a transfer, the other end keeps it, too. First steps of operations and later steps have separate shares, because on one host
 * only the first ones count.
 */

/**
 * How many rows of first steps a file keeps, and as many of later steps. It depends on the number of ranks, because a scan of one file does
 * not know the number of files. A study of a thousand ranks reads at most 5 GB of rows. Up to 128 ranks all rows of a rank's full rings are
 * kept.
 */
export const mostRows = (ranks: number): number =>
  Math.min(1 << 17, Math.max(1 << 15, Math.floor((1 << 24) / ranks)));

/** How often the first steps and the later ones were halved: 3 means that one of eight is kept. */
export type Halved = readonly [firsts: number, others: number];

export const isKept = (ordinal: number, step: number, halved: Halved): boolean =>
  isInShare(ordinal, step, halved[step === 0 ? 0 : 1]);

function isInShare(ordinal: number, step: number, halvings: number): boolean {
  if (halvings === 0) return true;
  let hash = Math.imul(ordinal, 0x9e3779b1) ^ Math.imul(step, 0x85ebca77);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return Math.clz32(hash ^ (hash >>> 16)) >= halvings;
}

/** What both ends of a connection keep. */
export const smallerShare = (one: Halved, other: Halved): Halved => [
  Math.max(one[0], other[0]),
  Math.max(one[1], other[1]),
];
