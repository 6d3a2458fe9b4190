/** Sizes that are compared with each other: powers of four, "256 KiB" is from 256 KiB to below 1 MiB. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Lower end, bytes. */
export function sizeClassOf(bytes: number): number {
  let least = 1;
  while (least * 4 <= bytes) least *= 4;
  return bytes < 1 ? 0 : least;
}

/** "256 KiB" */
export function binarySize(bytes: number): string {
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number(value.toPrecision(3))} ${UNITS[unit]}`;
}
