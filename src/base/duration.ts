/** A duration for people: "12.5 s", "31 min". All reports use this. `ns` may be infinite. */
export function durationText(ns: number): string {
  if (!Number.isFinite(ns)) return 'an unknown time';
  if (ns < 1e6) return `${(ns / 1e3).toFixed(0)} us`;
  if (ns < 1e9) return `${(ns / 1e6).toFixed(1)} ms`;
  if (ns < 120e9) return `${(ns / 1e9).toFixed(1)} s`;
  return ns < 7200e9 ? `${Math.round(ns / 60e9)} min` : `${(ns / 3600e9).toFixed(1)} h`;
}

/** Time of day, UTC, to search a job's logs: "03:02:11 UTC". `start`: ns since the Unix epoch; `at`: ns after it. */
export function timeOfDay(start: bigint, at: number): string {
  const date = new Date(Number((start + BigInt(Math.round(at))) / 1_000_000n));
  return Number.isNaN(date.getTime()) ? 'an impossible time' : `${date.toISOString().slice(11, 19)} UTC`;
}
