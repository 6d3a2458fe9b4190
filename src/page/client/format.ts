/** Formats numbers for people. */

import { binarySize, shortDuration } from '../../base/units.js';

export const duration = (ns: number | null): string => (ns === null ? '' : shortDuration(ns, 'µs'));

export const bytes = (count: number | null): string => (count === null ? '' : binarySize(count));

export const count = (value: number): string => value.toLocaleString('en-US');

/** Time of day, UTC, to search the job's logs. */
export function timeOfDay(traceStart: string, ns: number, withMs = true): string {
  const ms = Number((BigInt(traceStart) + BigInt(Math.round(ns))) / 1_000_000n);
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return 'an impossible time';
  return date.toISOString().slice(11, withMs ? 23 : 19);
}
