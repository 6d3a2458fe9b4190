/**
 * Counters of pending work: collectives and sends/receives that are enqueued and not ended, and proxy operations that are appended and not
 * stopped. A counter that stays up at the end of a recording shows a hang. A counter that stays at its maximum shows that the network sets
 * the pace, not the application.
 */

import { Op } from '../event';
import { Comm } from '../comm';
import { Clock } from './clock';
import { CommOps } from './comm_ops';
import { Changes, Counting, SampledCounter } from './counters';
import { DueEnds } from './due_ends';
import { Sink } from './sink';
import { TrackKind, What } from './tracks';
import { Detail } from './windows';

/** Works are few: each change is drawn. */
const EVERY_CHANGE: f64 = 0;

class Ops extends Counting {
  counter: SampledCounter | null = null;

  constructor(
    private readonly sink: Sink,
    private readonly sampleNs: f64,
  ) {
    super();
  }

  add(amount: f64, at: f64): void {
    if (this.counter === null)
      this.counter = newCounter(this.sink, What.OpsInFlight, Detail.Op, at, this.sampleNs);
    this.counter!.add(amount, at);
  }
}

export class InFlight {
  private works: SampledCounter | null = null;
  private readonly ops: Ops;

  constructor(
    private readonly sink: Sink,
    private readonly clock: Clock,
    private readonly dueEnds: DueEnds,
    private readonly changes: Changes,
    sampleNs: f64,
  ) {
    this.ops = new Ops(sink, sampleNs);
  }

  workStarted(at: f64): void {
    if (this.works === null)
      this.works = newCounter(this.sink, What.WorksInFlight, Detail.Coll, at, EVERY_CHANGE);
    this.works!.add(1, at);
  }

  workEnded(at: f64): void {
    const works = this.works;
    if (works !== null) works.add(-1, at);
  }

  opStarted(op: Op, at: f64): void {
    this.change(op, 1, at);
  }

  opEnded(op: Op, at: f64): void {
    this.change(op, -1, at);
  }

  finish(): void {
    const works = this.works;
    if (works !== null) works.finish();
    const ops = this.ops.counter;
    if (ops !== null) ops.finish();
  }

  private change(op: Op, amount: f64, at: f64): void {
    // The communicator may belong to another process, or is not known.
    if (op.comm.isKnown && !op.isForeign) {
      const ops = this.commOps(op.comm, at);
      if (ops.isFinalized) return;
      ops.open += amount;
    }
    this.changes.add(this.ops, amount, at);
  }

  private commOps(comm: Comm, now: f64): CommOps {
    const known = comm.opsInFlight;
    if (known !== null) return known;
    const made = new CommOps(this.changes, this.ops);
    comm.opsInFlight = made;
    if (isNaN(comm.finalized)) return made;
    const finalized = this.clock.time(comm.finalized);
    if (finalized < now) made.isFinalized = true;
    else this.dueEnds.schedule(finalized, made);
    return made;
  }
}

function newCounter(sink: Sink, what: What, detail: Detail, first: f64, interval: f64): SampledCounter {
  return new SampledCounter(sink, sink.newTrack(null, TrackKind.Counter, detail, what), interval, first);
}
