/**
 * Bytes this rank has sent and received over the network, and how fast. A send counts when NCCL saw it complete (the
 * step's stop), a receive when its data had arrived (state 11). Sizes are wire bytes, as NCCL says them.
 *
 * The totals are sampled at most every 100 µs; each sample is exact for its time. The rate is the mean over fixed bins.
 */

import type { TraceNs } from '../base/time.js';
import { RANK_ORDER } from './comm_groups.js';
import type { TrackContext } from './context.js';
import type { TrackRef, TrackSink } from './sink.js';

const SAMPLE_NS = 100_000;

export class ByteCounters {
  private readonly tx: ByteCounter;
  private readonly rx: ByteCounter;

  /** `binNs`: width of the rate's bins. */
  constructor(context: TrackContext, binNs: number) {
    this.tx = new ByteCounter(context.sink, 'tx', RANK_ORDER.txBytes, RANK_ORDER.txRate, binNs);
    this.rx = new ByteCounter(context.sink, 'rx', RANK_ORDER.rxBytes, RANK_ORDER.rxRate, binNs);
  }

  sent(bytes: number, at: TraceNs): void {
    this.tx.add(bytes, at);
  }

  received(bytes: number, at: TraceNs): void {
    this.rx.add(bytes, at);
  }

  finish(): void {
    this.tx.finish();
    this.rx.finish();
  }
}

class ByteCounter {
  private tracks: { readonly total: TrackRef; readonly rate: TrackRef } | undefined;
  private total = 0;
  private lastAt: TraceNs | null = null;
  private sampledAt = -Infinity;
  private sampledTotal = 0;
  private bin = -1;
  private binBytes = 0;

  constructor(
    private readonly sink: TrackSink,
    private readonly name: string,
    private readonly totalOrder: number,
    private readonly rateOrder: number,
    private readonly binNs: number,
  ) {}

  add(bytes: number, at: TraceNs): void {
    const { total } = (this.tracks ??= this.describe(at));
    if (this.lastAt !== null && at - this.lastAt >= SAMPLE_NS) this.sampleTotal(total, this.lastAt);
    this.total = Math.min(this.total + bytes, Number.MAX_SAFE_INTEGER);
    this.lastAt = at;
    if (at - this.sampledAt >= SAMPLE_NS) this.sampleTotal(total, at);
    this.addToBin(bytes, at);
  }

  finish(): void {
    if (!this.tracks || this.lastAt === null) return;
    this.sampleTotal(this.tracks.total, this.lastAt);
    this.closeBin();
    this.sampleRate(this.bin + 1, 0);
  }

  private sampleTotal(track: TrackRef, at: TraceNs): void {
    if (this.total === this.sampledTotal) return;
    this.sink.counter(track, at, this.total);
    this.sampledAt = at;
    this.sampledTotal = this.total;
  }

  private addToBin(bytes: number, at: TraceNs): void {
    const bin = Math.floor(at / this.binNs);
    if (bin !== this.bin) {
      if (this.bin >= 0) this.closeBin();
      if (bin > this.bin + 1) this.sampleRate(this.bin + 1, 0);
      this.bin = bin;
    }
    this.binBytes += bytes;
  }

  private closeBin(): void {
    this.sampleRate(this.bin, this.binBytes / this.binNs);
    this.binBytes = 0;
  }

  /** Bytes per nanosecond are GB/s. */
  private sampleRate(bin: number, gigabytesPerSecond: number): void {
    if (!this.tracks) return;
    const at = Math.max(0, bin) * this.binNs;
    this.sink.counter(this.tracks.rate, at as TraceNs, gigabytesPerSecond);
  }

  private describe(first: TraceNs) {
    const what = this.name === 'tx' ? 'sent to' : 'received from';
    const total = this.sink.describe({
      kind: 'counter',
      order: 'late',
      name: `${this.name} bytes`,
      rank: this.totalOrder,
      unit: 'bytes',
      description: `Wire bytes ${what} the network since the recording's window began.`,
    });
    const rate = this.sink.describe({
      kind: 'counter',
      order: 'late',
      name: `${this.name} rate`,
      rank: this.rateOrder,
      unit: 'GB/s',
      description: `Mean rate of wire bytes ${what} the network over bins of ${this.binNs / 1e6} ms.`,
    });
    this.sink.counter(total, first, 0);
    return { total, rate };
  }
}
