/** Sizes that are compared with each other: powers of four, "256 KiB" is from 256 KiB to below 1 MiB. */

/** Lower end, bytes. */
export function sizeClassOf(bytes: number): number {
  let least = 1;
  while (least * 4 <= bytes) least *= 4;
  return bytes < 1 ? 0 : least;
}
