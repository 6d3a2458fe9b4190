/**
 * A time has a type. This program uses three clocks. A number of one must never be used as a number of another, so each has its
 * own type:
 *
 *   Ticks    a rank file's raw counter (TSC, cntvct_el0 or clock_gettime), relative to the file's `tickBase`
 *   LocalNs  nanoseconds in one clock domain (one boot of one host), relative to the domain's own origin
 *   TraceNs  nanoseconds in the trace, relative to the trace's start (its REALTIME origin is a bigint kept once)
 *
 * Only `ClockMap.toTrace` (src/clocks) turns LocalNs into TraceNs. A u64 from a file is read as a bigint once and its base is
 * subtracted. The rest is a plain number, which is exact below 2^53: 104 days of nanoseconds, 34 days of a 3 GHz counter.
 */

declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

export type Ticks = Branded<number, 'Ticks'>;
export type LocalNs = Branded<number, 'LocalNs'>;
export type TraceNs = Branded<number, 'TraceNs'>;

export const ticks = (value: number): Ticks => value as Ticks;
export const localNs = (value: number): LocalNs => value as LocalNs;
/** For `src/clocks` and tests only. All other code gets a TraceNs from a ClockMap. */
export const traceNsFromClockMap = (value: number): TraceNs => value as TraceNs;
