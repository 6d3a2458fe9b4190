/**
 * Totals of one file's network transfers for a report, summed up while its records are paired: per connection its bytes, its transfers'
 * waits, and their times by size. They are kept only if a report is requested, and grow with connections and sizes, not with the run. Ticks
 * are the file's own. A send's time on the wire is from its last poll of state 20 to its stop. A receive has no such time, because its wait
 * begins when it is posted and not when the peer sends.
 */

import type { Ticks } from '../base/time.js';
import { STARTED, STOPPED, type StepEvents, type StepListener } from '../model/step_events.js';
import type { StepTable } from '../model/step_table.js';
import { StepPhase, type Op } from '../model/types.js';
import { TimeCounter, type TimeCounts } from './time_counts.js';

/** Indices into `waits`: what a transfer waited for. */
export const WAITED = { gpu: 0, peer: 1, send: 2, recv: 3, flush: 4 } as const;
export const WAITS = Object.keys(WAITED) as (keyof typeof WAITED)[];

/** By phase; -1: posted, which is no wait. */
const WAITED_IN: Readonly<Record<StepPhase, number>> = {
  [StepPhase.Posted]: -1,
  [StepPhase.SendGpuWait]: WAITED.gpu,
  [StepPhase.PeerWait]: WAITED.peer,
  [StepPhase.SendWait]: WAITED.send,
  [StepPhase.RecvWait]: WAITED.recv,
  [StepPhase.FlushWait]: WAITED.flush,
  [StepPhase.RecvGpuWait]: WAITED.gpu,
};

/** One end of a connection in one file. */
export interface EndTotals {
  /** Number of the communicator in its file; -1: not known, or another process's (PXN). */
  readonly comm: number;
  readonly channel: number;
  /** The other rank of the communicator. */
  readonly peer: number;
  readonly isSend: boolean;
  readonly transfers: number;
  readonly bytes: number;
  /** Ticks, by WAITED. */
  readonly waits: readonly number[];
  /** Transfers that had not ended: begin of the oldest one's wait, and the wait (index of WAITED). */
  readonly open: { readonly since: Ticks; readonly wait: number; readonly transfers: number } | null;
  /** Sends: times by size. */
  readonly sizes: readonly SizeTotals[];
}

/** Ticks. */
export interface SizeTotals {
  readonly bytes: number;
  readonly transfers: number;
  readonly sum: number;
  readonly sumOfSquares: number;
  readonly least: number;
  /** Number and sum of the times, by the time of their end. Both have the same bins. */
  readonly counts: TimeCounts;
  readonly sums: TimeCounts;
}

/** One function of one communicator: the waits of all its transfers. */
export interface CallTotals {
  readonly comm: number;
  readonly func: string;
  readonly waits: readonly number[];
}

export interface TransferTotals {
  readonly ends: readonly EndTotals[];
  readonly calls: readonly CallTotals[];
  /** Transfers that ended, and what they waited for (by WAITED), by the time of their end. All have the same bins. */
  readonly ended: TimeCounts;
  readonly waits: readonly TimeCounts[];
}

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };
interface Size extends Writable<Omit<SizeTotals, 'counts' | 'sums'>> {
  readonly counts: TimeCounter;
  readonly sums: TimeCounter;
}
interface End extends Writable<Omit<EndTotals, 'sizes' | 'waits'>> {
  readonly waits: number[];
  readonly sizes: Map<number, Size>;
}
interface Entry {
  readonly end: End;
  readonly call: { readonly comm: number; readonly func: string; readonly waits: number[] };
}

/** Sizes per connection. Transfers of further sizes count, but have no times. */
const MOST_SIZES = 64;
/** Bins over time: enough to distinguish a drift from a change. */
const BINS = 16;

export class TransferCollector implements StepListener {
  private readonly entries = new Map<Op, Entry>();
  private readonly ends = new Map<string, End>();
  private readonly calls = new Map<string, Entry['call']>();
  /** By row of the step table: its connection, its phase, and the phase's begin. */
  private readonly entryOf: (Entry | undefined)[] = [];
  private readonly phase: number[] = [];
  private readonly since: number[] = [];
  private readonly ended = new TimeCounter(BINS);
  private readonly waits = WAITS.map(() => new TimeCounter(BINS));
  /** Waits that the next finished transfer adds to `waits`. */
  private readonly recent = noWaits();

  opStop(op: Op): void {
    if (op.openSteps.length === 0) this.entries.delete(op);
  }

  steps(steps: StepTable, { what, row, at, from, length }: StepEvents): void {
    for (let i = 0; i < length; i++)
      if (what[i] === STARTED) this.stepStart(steps, row[i]!, at[i]!);
      else if (what[i]! >= STOPPED) this.stepStop(steps, row[i]!, at[i]!);
      else this.stepPhase(row[i]!, what[i] as StepPhase, from[i]!);
  }

  private stepStart(steps: StepTable, row: number, at: number): void {
    this.entryOf[row] = this.entryFor(steps.op[row]!);
    this.phase[row] = StepPhase.Posted;
    this.since[row] = at;
  }

  private stepPhase(row: number, phase: StepPhase, from: number): void {
    this.leave(row, from);
    this.phase[row] = phase;
    this.since[row] = Math.max(from, this.since[row]!);
  }

  private stepStop(steps: StepTable, row: number, at: number): void {
    const entry = this.entryOf[row];
    if (!entry) return;
    this.leave(row, at);
    const op = steps.op[row]!;
    // A stand-in does not know its direction, but its step does.
    const end = op.lost ? this.endOf(op, this.phase[row] === StepPhase.SendWait) : entry.end;
    const bytes = steps.bytes[row]!;
    end.transfers++;
    this.ended.add(at);
    this.waits.forEach((waited, i) => {
      waited.add(at, this.recent[i]);
      this.recent[i] = 0;
    });
    if (bytes > 0) {
      end.bytes += bytes;
      if (this.phase[row] === StepPhase.SendWait) timed(end.sizes, bytes, at, at - this.since[row]!);
    }
    this.entryOf[row] = undefined;
  }

  /** Call it after the last record. */
  finish(): TransferTotals {
    this.entryOf.forEach((entry, row) => {
      const wait = WAITED_IN[this.phase[row] as StepPhase];
      if (!entry || wait < 0) return;
      const { open } = entry.end;
      const since = this.since[row] as Ticks;
      const transfers = (open?.transfers ?? 0) + 1;
      entry.end.open = open && open.since <= since ? { ...open, transfers } : { since, wait, transfers };
    });
    return {
      ends: [...this.ends.values()].map((end) => ({
        ...end,
        sizes: [...end.sizes.values()].map((size) => ({
          ...size,
          counts: size.counts.finish(),
          sums: size.sums.finish(),
        })),
      })),
      calls: [...this.calls.values()],
      ended: this.ended.finish(),
      waits: this.waits.map((waited) => waited.finish()),
    };
  }

  private leave(row: number, at: number): void {
    const entry = this.entryOf[row];
    const wait = WAITED_IN[this.phase[row] as StepPhase];
    const took = at - this.since[row]!;
    if (!entry || wait < 0 || !(took > 0)) return;
    entry.end.waits[wait]! += took;
    entry.call.waits[wait]! += took;
    this.recent[wait]! += took;
  }

  private entryFor(op: Op): Entry {
    let entry = this.entries.get(op);
    if (!entry) {
      entry = { end: this.endOf(op, op.isSend), call: this.callOf(op) };
      this.entries.set(op, entry);
    }
    return entry;
  }

  private endOf({ comm: of, channel, peer }: Op, isSend: boolean): End {
    const comm = of?.number ?? -1;
    const key = `${comm} ${channel} ${peer} ${isSend}`;
    let end = this.ends.get(key);
    if (!end) {
      const nothing = { transfers: 0, bytes: 0, open: null };
      end = { comm, channel, peer, isSend, ...nothing, waits: noWaits(), sizes: new Map() };
      this.ends.set(key, end);
    }
    return end;
  }

  private callOf({ comm: of, of: identity }: Op): Entry['call'] {
    const [comm, func] = [of?.number ?? -1, identity?.func ?? ''];
    const key = `${comm} ${func}`;
    let call = this.calls.get(key);
    if (!call) this.calls.set(key, (call = { comm, func, waits: noWaits() }));
    return call;
  }
}

const noWaits = (): number[] => WAITS.map(() => 0);

function timed(sizes: Map<number, Size>, bytes: number, at: number, took: number): void {
  let size = sizes.get(bytes);
  if (!size) {
    if (sizes.size >= MOST_SIZES) return;
    const [counts, sums] = [new TimeCounter(BINS), new TimeCounter(BINS)];
    size = { bytes, transfers: 0, sum: 0, sumOfSquares: 0, least: Infinity, counts, sums };
    sizes.set(bytes, size);
  }
  size.transfers++;
  size.counts.add(at);
  size.sums.add(at, took);
  size.sum += took;
  size.sumOfSquares += took * took;
  if (took < size.least) size.least = took;
}
