/**
 * Bytes that this rank sent and received over the network, and their rates: in all, and for its busiest peers. A send counts at its
 * completion (the step's stop), a receive at its data's arrival (state 11). Sizes are wire bytes, as NCCL reports them. Totals are sampled.
 * Totals of single peers are sampled at most once per bin. Each sample is exact for its time. Rates are means over fixed bins.
 */

import { Op } from '../event';
import { Comm } from '../comm';
import { CommGroups } from './comm_groups';
import { Changes, Counting, SampledCounter } from './counters';
import { Sink } from './sink';
import { Track, TrackKind, What } from './tracks';
import { Detail } from './windows';

/** Places of the totals, where peers have theirs from 0 on. */
const SENT: i32 = -1;
const RECEIVED: i32 = -2;

class ByteCounter extends Counting {
  private total: SampledCounter | null = null;
  private rate: Track | null = null;
  private bin: f64 = -1;
  /** ns */
  private binEnd: f64 = 0;
  private binBytes: f64 = 0;

  constructor(
    private readonly sink: Sink,
    private readonly groups: CommGroups,
    private readonly place: i32,
    readonly comm: Comm | null,
    readonly peer: i32,
    readonly isSend: bool,
    private readonly sampleNs: f64,
    private readonly binNs: f64,
  ) {
    super();
  }

  add(bytes: f64, at: f64): void {
    if (this.total === null) this.describe(at);
    this.total!.add(bytes, at);
    if (at >= this.binEnd) this.beginBin(Math.floor(at / this.binNs));
    this.binBytes += bytes;
  }

  finish(): void {
    const total = this.total;
    if (total === null) return;
    total.finish();
    this.closeBin();
    this.sampleRate(this.bin + 1, 0);
  }

  private beginBin(bin: f64): void {
    if (this.bin >= 0) this.closeBin();
    if (bin > this.bin + 1) this.sampleRate(this.bin + 1, 0);
    this.bin = bin;
    this.binEnd = (bin + 1) * this.binNs;
  }

  private closeBin(): void {
    this.sampleRate(this.bin, this.binBytes / this.binNs);
    this.binBytes = 0;
  }

  /** Bytes per nanosecond are GB/s. */
  private sampleRate(bin: f64, gigabytesPerSecond: f64): void {
    this.sink.counter(this.rate!, max<f64>(0, bin) * this.binNs, gigabytesPerSecond);
  }

  private describe(first: f64): void {
    const sink = this.sink;
    const comm = this.comm;
    const parent: Track | null = comm === null ? null : this.groups.group(comm);
    const total = sink.newTrack(parent, TrackKind.Counter, Detail.Op, What.Bytes, this.place);
    this.rate = sink.newTrack(parent, TrackKind.Counter, Detail.Op, What.Rate, this.place);
    this.total = new SampledCounter(sink, total, this.sampleNs, first);
  }
}

export class ByteCounters {
  private readonly sent: ByteCounter;
  private readonly received: ByteCounter;
  /** There are few of these, so a search through them is faster than a map. */
  private readonly peers: ByteCounter[] = [];

  constructor(
    private readonly sink: Sink,
    private readonly groups: CommGroups,
    private readonly changes: Changes,
    /** Width of the rates' bins, and the shortest time between samples of totals. */
    private readonly binNs: f64,
    private readonly sampleNs: f64,
  ) {
    this.sent = new ByteCounter(sink, groups, SENT, null, 0, true, sampleNs, binNs);
    this.received = new ByteCounter(sink, groups, RECEIVED, null, 0, false, sampleNs, binNs);
  }

  /** `place`: among the busiest peers. */
  addPeer(place: i32, comm: Comm, peer: i32, isSend: bool): void {
    const sampleNs = max(this.binNs, this.sampleNs);
    this.peers.push(new ByteCounter(this.sink, this.groups, place, comm, peer, isSend, sampleNs, this.binNs));
  }

  /** `isSend`: given by the step, because a stand-in does not know its direction. */
  moved(op: Op, isSend: bool, bytes: f64, at: f64): void {
    this.changes.add(isSend ? this.sent : this.received, bytes, at);
    if (!op.comm.isKnown || op.isForeign) return;
    const peers = this.peers;
    for (let i = 0; i < peers.length; i++) {
      const one = unchecked(peers[i]);
      if (one.peer == op.peer && one.comm === op.comm && one.isSend == isSend)
        this.changes.add(one, bytes, at);
    }
  }

  finish(): void {
    this.sent.finish();
    this.received.finish();
    for (let i = 0; i < this.peers.length; i++) this.peers[i].finish();
  }
}
