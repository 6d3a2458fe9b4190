/**
 * What other files know of this one's operations: the owners of those that it executed for others (PXN, src/model/pxn.ts), and the
 * connections on which NCCL never reports an end.
 */

import { connectionKey, mayBeEndless, userOf } from '../endless';
import { Op } from '../event';
import { Comm } from '../comm';
import { Sink } from './sink';
import { Text } from './text';
import { Texts } from './texts';

/** The owner of a foreign context. */
class Originator {
  constructor(
    readonly comm: Comm,
    /** "rank 0003". */
    readonly process: Text,
  ) {}
}

class OriginWork {
  constructor(
    readonly func: Text,
    /** NaN: it is no collective. */
    readonly seq: f64,
    readonly correlation: f64,
  ) {}
}

export class Origins {
  private readonly contexts: Map<u64, Originator> = new Map<u64, Originator>();
  private readonly works: Map<u64, OriginWork> = new Map<u64, OriginWork>();
  private readonly endless: Set<u64> = new Set<u64>();

  addContext(context: u64, comm: Comm, process: Text): void {
    this.contexts.set(context, new Originator(comm, process));
  }

  /** `parent`: as NCCL passed it with the operations. */
  addWork(parent: u64, func: Text, seq: f64, correlation: f64): void {
    this.works.set(parent, new OriginWork(func, seq, correlation));
  }

  addEndless(comm: i32, channel: i32, peer: i32, user: i32): void {
    this.endless.add(connectionKey(comm, channel, peer, user));
  }

  neverEnds(op: Op): bool {
    if (this.endless.size == 0 || !mayBeEndless(op)) return false;
    return this.endless.has(connectionKey(op.comm.number, op.channel, op.peer, userOf(op) as i32));
  }

  /** The communicator of a foreign operation; null: its owner's file is missing. */
  commOf(op: Op): Comm | null {
    return this.contexts.has(op.context) ? this.contexts.get(op.context).comm : null;
  }

  funcOf(op: Op, texts: Texts): Text {
    const work = this.workOf(op);
    return work === null ? texts.fixed('unknown') : work.func;
  }

  correlationOf(op: Op): f64 {
    const work = this.workOf(op);
    return work === null ? 0 : work.correlation;
  }

  addArgs(sink: Sink, op: Op): void {
    const texts = sink.texts;
    const process = this.contexts.has(op.context)
      ? this.contexts.get(op.context).process
      : texts.of('pid ' + op.pid.toString() + ', whose file is not here');
    sink.text(texts.fixed('for'), process);
    const work = this.workOf(op);
    if (work !== null && !isNaN(work.seq)) sink.number(texts.fixed('seq'), work.seq);
  }

  private workOf(op: Op): OriginWork | null {
    return this.works.has(op.foreignParent) ? this.works.get(op.foreignParent) : null;
  }
}
