/**
 * Counters of pending work: collectives and sends/receives that are enqueued and not ended, and proxy operations that are appended and not
 * stopped. A counter that stays up at the end of a recording shows a hang. A counter that stays at its maximum shows that the network sets
 * the pace, not the application.
 */

import type { TraceNs } from '../../base/time.js';
import type { Communicator } from '../../model/recording.js';
import type { Op } from '../../model/types.js';
import type { Changes, Counting } from './changes.js';
import { RANK_ORDER } from './comm_groups.js';
import type { TrackContext } from './context.js';
import type { Detail } from '../../model/detail.js';
import type { DueEnds } from './due_ends.js';
import { titleOf } from './rank_names.js';
import { SampledCounter } from './sampled_counter.js';

/** Works are few: each change is drawn. */
const EVERY_CHANGE = 0;

/** Open proxy operations of one communicator. After its finalize they never stop. */
interface CommOps {
  open: number;
  isFinalized: boolean;
}

export class InFlight {
  private works: SampledCounter | undefined;
  private sampledOps: SampledCounter | undefined;
  private readonly proxyOps: Counting = {
    add: (amount, at) => {
      this.sampledOps ??= this.describe(PROXY_OPS, at, this.sampleNs);
      this.sampledOps.add(amount, at);
    },
  };
  private readonly byComm = new Map<Communicator, CommOps>();

  constructor(
    private readonly context: TrackContext,
    private readonly dueEnds: DueEnds,
    private readonly changes: Changes,
    private readonly sampleNs: number,
  ) {}

  workStarted(at: TraceNs): void {
    this.works ??= this.describe(WORKS, at, EVERY_CHANGE);
    this.works.add(1, at);
  }

  workEnded(at: TraceNs): void {
    this.works?.add(-1, at);
  }

  opStarted(op: Op, at: TraceNs): void {
    const comm = this.commOps(op, at);
    if (comm?.isFinalized) return;
    if (comm) comm.open++;
    this.changes.add(this.proxyOps, 1, at);
  }

  opEnded(op: Op, at: TraceNs): void {
    const comm = this.commOps(op, at);
    if (comm?.isFinalized) return;
    if (comm) comm.open--;
    this.changes.add(this.proxyOps, -1, at);
  }

  finish(): void {
    this.works?.finish();
    this.sampledOps?.finish();
  }

  /** null: its communicator belongs to another process, or is not known. */
  private commOps({ comm, foreign }: Op, at: TraceNs): CommOps | null {
    if (!comm || foreign) return null;
    let ops = this.byComm.get(comm);
    if (!ops) {
      ops = { open: 0, isFinalized: false };
      this.byComm.set(comm, ops);
      if (comm.finalizeTick !== null) this.endAllAt(ops, this.context.time(comm.finalizeTick), at);
    }
    return ops;
  }

  private endAllAt(ops: CommOps, finalized: TraceNs, now: TraceNs): void {
    if (finalized < now) {
      ops.isFinalized = true;
      return;
    }
    this.dueEnds.schedule(finalized, (at) => {
      ops.isFinalized = true;
      if (ops.open > 0) this.changes.add(this.proxyOps, -ops.open, at);
    });
  }

  private describe({ name, rank, detail, description }: typeof WORKS, first: TraceNs, interval: number) {
    const { sink, names } = this.context;
    const title = titleOf(names.own, name);
    const track = sink.describe({ kind: 'counter', name: title, rank, unit: 'count', detail, description });
    sink.counter(track, first, 0);
    return new SampledCounter(sink, track, interval);
  }
}

const WORKS: { name: string; rank: number; detail: Detail; description: string } = {
  detail: 'coll',
  name: 'operations in flight',
  rank: RANK_ORDER.works,
  description:
    'Collectives, sends and receives that were enqueued and had not ended. If the counter is above 0 at the ' +
    'right edge, they hung, or the recording ended. If NCCL reports no end, they count until the end of the ' +
    'enqueueing.',
};

const PROXY_OPS: typeof WORKS = {
  detail: 'op',
  name: 'proxy operations in flight',
  rank: RANK_ORDER.proxyOps,
  description:
    'Proxy operations (one per channel, direction and peer of a collective) that were appended to the proxy thread and had ' +
    'not stopped. Sampled, each value exact for its time.',
};
