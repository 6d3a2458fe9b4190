/**
 * The importer's clocks, as far as we use them: snapshots tie clocks to the primary one, an incremental clock adds up
 * its timestamps from the last snapshot on. Clocks of 64 and above belong to their sequence.
 */

import { BuiltinClock, given, unsigned, type Snapshot } from './messages.js';
import type { Problems } from './types.js';

const BOOTTIME: number = BuiltinClock.BUILTIN_CLOCK_BOOTTIME;

interface Tie {
  readonly at: bigint;
  readonly primary: bigint;
}

export class Clocks {
  primary: number | undefined;
  /** The primary clock in the first snapshot: where the trace starts. */
  start: bigint | undefined;
  private readonly ties = new Map<string, Tie[]>();
  /** The newest time of each incremental clock. */
  private readonly newest = new Map<string, bigint>();
  private lastPrimary = 0n;
  private hasConverted = false;

  constructor(private readonly problems: Problems) {}

  snapshot(snapshot: Snapshot, sequence: number, packet: number): void {
    const clocks = (snapshot.clocks ?? []).map((clock) => ({
      id: clock.clockId ?? 0,
      at: unsigned(clock.timestamp ?? { low: 0, high: 0 }),
      isIncremental: clock.isIncremental ?? false,
    }));
    this.choosePrimary(given(snapshot, 'primaryTraceClock'), packet);
    const primary = clocks.find((clock) => clock.id === this.primary);
    if (primary === undefined) {
      this.problems.add('snapshot without the primary clock', packet);
      return;
    }
    if (primary.at < this.lastPrimary) this.problems.add('invalid_clock_snapshots', packet, 'time goes back');
    this.lastPrimary = primary.at;
    if (this.start === undefined) {
      this.start = primary.at;
      const hasBoot = clocks.some((clock) => clock.id === BOOTTIME);
      if (!hasBoot) this.problems.add('clock_sync_unrelatable_clock_domains', packet, 'no BOOTTIME');
    }
    for (const { id, at, isIncremental } of clocks) {
      const key = keyOf(id, sequence);
      if (isIncremental && id < 64)
        this.problems.add('invalid_clock_snapshots', packet, `clock ${id} incremental`);
      if (isIncremental) this.newest.set(key, at);
      const ties = this.ties.get(key) ?? [];
      this.ties.set(key, ties);
      ties.push({ at, primary: primary.at });
    }
  }

  /** In terms of the primary clock; undefined: the importer drops the packet. */
  toPrimary(id: number, sequence: number, value: bigint, packet: number): bigint | undefined {
    this.hasConverted = true;
    if (id === this.primary) return this.checked(value, packet);
    const key = keyOf(id, sequence);
    const base = this.newest.get(key);
    const at = base === undefined ? value : BigInt.asUintN(64, base + value);
    if (base !== undefined) {
      if (at < base) this.problems.add('incremental clock goes back', packet);
      this.newest.set(key, at);
    }
    const ties = this.ties.get(key);
    const tie = ties?.findLast((candidate) => candidate.at <= at) ?? ties?.[0];
    if (tie === undefined) {
      this.problems.add('clock_sync_failure_unknown_source_clock', packet, `clock ${id}`);
      return undefined;
    }
    return this.checked(at - tie.at + tie.primary, packet);
  }

  private checked(ts: bigint, packet: number): bigint | undefined {
    if (ts >= 0n && ts < 1n << 63n) return ts;
    this.problems.add('trace_sorter_negative_timestamp_dropped', packet);
    return undefined;
  }

  private choosePrimary(primary: number | undefined, packet: number): void {
    if (primary === undefined || primary === this.primary) return;
    if (this.primary !== undefined || this.hasConverted)
      this.problems.add('primary clock set too late', packet);
    else this.primary = primary;
  }
}

const keyOf = (id: number, sequence: number): string => (id < 64 ? `${id}` : `${id}@${sequence}`);
