/**
 * Bytes that this rank sent and received over the network, and their rates: in all, and for its busiest peers. A send counts at its
 * completion (the step's stop), a receive at its data's arrival (state 11). Sizes are wire bytes, as NCCL reports them. Totals are sampled.
 * Totals of single peers are sampled at most once per bin. Each sample is exact for its time. Rates are means over fixed bins.
 */

import type { TraceNs } from '../../base/time.js';
import type { Communicator } from '../../model/recording.js';
import type { Op } from '../../model/types.js';
import type { Changes, Counting } from './changes.js';
import { COMM_ORDER, RANK_ORDER, type CommGroups } from './comm_groups.js';
import type { TrackContext } from './context.js';
import { peerName, rankName, titleOf } from './rank_names.js';
import { SampledCounter } from './sampled_counter.js';
import type { TrackRef, TrackSink } from './sink.js';

/** How finely counters are drawn, ns. */
export interface Resolution {
  /** Width of the rates' bins. */
  readonly binNs: number;
  /** Shortest time between samples of totals. */
  readonly sampleNs: number;
}

/** There are few of these, so a search through them is faster than a map. */
interface PeerCounter {
  readonly comm: Communicator;
  readonly peer: number;
  readonly isSend: boolean;
  readonly counter: ByteCounter;
}

export class ByteCounters {
  private readonly tx: ByteCounter;
  private readonly rx: ByteCounter;
  private readonly peers: PeerCounter[] = [];

  constructor(
    private readonly context: TrackContext,
    private readonly groups: CommGroups,
    private readonly changes: Changes,
    private readonly resolution: Resolution,
  ) {
    const { sink, names } = context;
    const total = { ...resolution, owner: names.own, parent: undefined };
    this.tx = new ByteCounter(sink, { ...total, ...TX, bytesOrder: RANK_ORDER.txBytes });
    this.rx = new ByteCounter(sink, { ...total, ...RX, bytesOrder: RANK_ORDER.rxBytes });
    context.busiestPeers.forEach((peer, order) => {
      this.addPeer(peer, order);
    });
  }

  /** `isSend`: given by the step, because a stand-in does not know its direction. */
  moved({ comm, foreign, peer }: Op, isSend: boolean, bytes: number, at: TraceNs): void {
    this.changes.add(isSend ? this.tx : this.rx, bytes, at);
    if (!comm || foreign) return;
    for (const one of this.peers)
      if (one.peer === peer && one.comm === comm && one.isSend === isSend)
        this.changes.add(one.counter, bytes, at);
  }

  finish(): void {
    this.tx.finish();
    this.rx.finish();
    for (const { counter } of this.peers) counter.finish();
  }

  private addPeer({ comm: number, isSend, peer }: TrackContext['busiestPeers'][number], order: number): void {
    const { names, file } = this.context;
    const comm = file.communicators.get(number);
    if (!comm) return;
    const { binNs, sampleNs } = this.resolution;
    const { what, ...rest } = isSend ? TX : RX;
    const other = peerName(names, comm, peer);
    const counter = new ByteCounter(this.context.sink, {
      ...rest,
      owner: rankName(names, comm),
      what: `${what} rank ${peer} of this communicator over`,
      of: isSend ? ` to ${other}` : ` from ${other}`,
      parent: () => this.groups.group(comm),
      bytesOrder: COMM_ORDER.peers + order * 2,
      binNs,
      sampleNs: Math.max(binNs, sampleNs),
      more: ' Drawn for the peers that this rank exchanged most with.',
    });
    this.peers.push({ comm, peer, isSend, counter });
  }
}

interface CounterSpec {
  /** The owner in the name. */
  readonly owner: string;
  readonly name: string;
  /** Text before "the network". */
  readonly what: string;
  /** The peer in the name; '': all. */
  readonly of: string;
  readonly parent: (() => TrackRef) | undefined;
  /** Position of the counter of bytes. The rate is the next track. */
  readonly bytesOrder: number;
  readonly sampleNs: number;
  readonly binNs: number;
  readonly more: string;
}

const TX = { name: 'tx', what: 'sent to', of: '', more: '' };
const RX = { name: 'rx', what: 'received from', of: '', more: '' };

class ByteCounter implements Counting {
  private total: SampledCounter | undefined;
  private rate: TrackRef | undefined;
  private bin = -1;
  /** ns */
  private binEnd = 0;
  private binBytes = 0;

  constructor(
    private readonly sink: TrackSink,
    private readonly spec: CounterSpec,
  ) {}

  add(bytes: number, at: TraceNs): void {
    const total = (this.total ??= this.describe(at));
    total.add(bytes, at);
    this.addToBin(bytes, at);
  }

  finish(): void {
    if (!this.total) return;
    this.total.finish();
    this.closeBin();
    this.sampleRate(this.bin + 1, 0);
  }

  private addToBin(bytes: number, at: TraceNs): void {
    if (at >= this.binEnd) this.beginBin(Math.floor(at / this.spec.binNs));
    this.binBytes += bytes;
  }

  private beginBin(bin: number): void {
    if (this.bin >= 0) this.closeBin();
    if (bin > this.bin + 1) this.sampleRate(this.bin + 1, 0);
    this.bin = bin;
    this.binEnd = (bin + 1) * this.spec.binNs;
  }

  private closeBin(): void {
    this.sampleRate(this.bin, this.binBytes / this.spec.binNs);
    this.binBytes = 0;
  }

  /** Bytes per nanosecond are GB/s. */
  private sampleRate(bin: number, gigabytesPerSecond: number): void {
    if (this.rate === undefined) return;
    const at = Math.max(0, bin) * this.spec.binNs;
    this.sink.counter(this.rate, at as TraceNs, gigabytesPerSecond);
  }

  private describe(first: TraceNs): SampledCounter {
    const { owner, name, what, of, parent, bytesOrder, sampleNs, binNs, more } = this.spec;
    const common = {
      detail: 'op' as const,
      kind: 'counter',
      parent: parent?.(),
    } as const;
    const total = this.sink.describe({
      ...common,
      name: titleOf(owner, `${name} bytes${of}`),
      rank: bytesOrder,
      unit: 'bytes',
      description: `Wire bytes ${what} the network since the recording's window began.${more}`,
    });
    this.rate = this.sink.describe({
      ...common,
      name: titleOf(owner, `${name} rate${of}`),
      rank: bytesOrder + 1,
      unit: 'GB/s',
      description: `Mean rate of wire bytes ${what} the network over bins of ${binNs / 1e6} ms.${more}`,
    });
    this.sink.counter(total, first, 0);
    return new SampledCounter(this.sink, total, sampleNs);
  }
}
