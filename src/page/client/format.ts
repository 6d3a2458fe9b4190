/** Formats numbers for people. */

export function duration(ns: number | null): string {
  if (ns === null) return '';
  const most = Math.abs(ns);
  if (most < 1e3) return `${ns} ns`;
  if (most < 1e6) return `${digits(ns / 1e3)} µs`;
  if (most < 1e9) return `${digits(ns / 1e6)} ms`;
  if (most < 120e9) return `${digits(ns / 1e9)} s`;
  return most < 7200e9 ? `${digits(ns / 60e9)} min` : `${digits(ns / 3600e9)} h`;
}

export function bytes(count: number | null): string {
  if (count === null) return '';
  let [value, unit] = [count, 0];
  while (value >= 1024 && unit < UNITS.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${digits(value)} ${UNITS[unit]!}`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export const count = (value: number): string => value.toLocaleString('en-US');

const digits = (value: number): string =>
  Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));

/** Time of day, UTC, to search the job's logs. */
export function timeOfDay(traceStart: string, ns: number, withMs = true): string {
  const ms = Number((BigInt(traceStart) + BigInt(Math.round(ns))) / 1_000_000n);
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return 'an impossible time';
  return date.toISOString().slice(11, withMs ? 23 : 19);
}
