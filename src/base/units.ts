/** Numbers with units for tables: three digits. */

/** "640 ns", "1.25 ms". */
export function shortDuration(ns: number, micro = 'us'): string {
  const most = Math.abs(ns);
  if (most < 1e3) return `${digits(ns)} ns`;
  if (most < 1e6) return `${digits(ns / 1e3)} ${micro}`;
  if (most < 1e9) return `${digits(ns / 1e6)} ms`;
  if (most < 120e9) return `${digits(ns / 1e9)} s`;
  return most < 7200e9 ? `${digits(ns / 60e9)} min` : `${digits(ns / 3600e9)} h`;
}

/** "256 KiB" */
export function binarySize(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < UNITS.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${digits(value)} ${UNITS[unit]!}`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export const digits = (value: number): string =>
  Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));

/** A factor: "2.4 times", "419 times". */
export const timesText = (factor: number): string =>
  `${factor < 10 ? Number(factor.toFixed(1)) : Math.round(factor)} times`;

/** "1 file", "3 files" */
export const counted = (count: number, what: string, plural = `${what}s`): string =>
  `${count} ${count === 1 ? what : plural}`;
