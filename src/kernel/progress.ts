/**
 * How many announced blocks of a collective or send/receive the GPU began and ended, by KernelCh events. Within a node there is no other
 * source. A work is complete if every channel has stamps of its own. This is claimed only if NCCL reported all finished works of the
 * communicator in full. It is claimed only for works after which none began, because NCCL runs a communicator's work in order.
 */

import { Block, Link, Op, Progress, Work } from './event';
import { Comm } from './comm';

/** How many works are kept for a communicator without kernels, or whose kernels stopped coming. */
const FEW: i32 = 64;
const MANY: i32 = 4096;

/** A communicator's works whose blocks are counted. */
export class Tally {
  readonly waiting: Progress[] = [];
  /** The ring with its kernels; -1: none came. */
  ring: i32 = -1;
  /** Earlier works that were reported in full, and other earlier works. If there are others, announced channels prove nothing. */
  full: i32 = 0;
  short: i32 = 0;
}

export class BlockProgress {
  /** In the order of their first work. */
  readonly tallies: Tally[] = [];
  private readonly places: Map<i32, Tally> = new Map<i32, Tally>();
  /** Rows that are used again. */
  private readonly free: Progress[] = [];

  workStart(work: Work): void {
    const comm = work.comm;
    const nChannels = work.nChannels;
    const peer = work.peer;
    if (!comm.isKnown || nChannels <= 0) return;
    if (!work.isColl && peer == comm.rank) return; // NCCL reports no kernel of a send to oneself
    const tally = this.tallyOf(comm);
    const one = this.of(work);
    work.progress = one;
    tally.waiting.push(one);
    const waiting = tally.waiting;
    if (waiting.length <= (tally.ring < 0 ? FEW : MANY)) return;
    if (tally.ring >= 0) tally.short++;
    const gone = waiting.length - FEW / 2;
    for (let i = 0; i < gone; i++) this.forget(waiting[i]);
    for (let i = gone; i < waiting.length; i++) waiting[i - gone] = waiting[i];
    waiting.length -= gone;
  }

  opStart(op: Op): void {
    const work = op.work;
    if (work === null) return;
    const progress = work.progress;
    if (progress !== null) progress.hasOps = 1;
  }

  blockStart(block: Block): void {
    const one = progressOf(block);
    if (one === null) return;
    const tally = this.tallyOf(one.work.comm);
    tally.ring = block.ring;
    if (block.isOfOther) one.ofOther += 1;
    else {
      one.begun += 1;
      this.passed(tally, one);
    }
  }

  blockStop(block: Block): void {
    if (block.isOfOther) return;
    const one = progressOf(block);
    if (one !== null) one.ended += 1;
  }

  /** Drops the works that were enqueued before, except those of the same launch. */
  private passed(tally: Tally, progress: Progress): void {
    const work = progress.work;
    const waiting = tally.waiting;
    if (waiting.length == 0 || waiting[0].work === work) return;
    let kept = 0;
    for (let i = 0; i < waiting.length; i++) {
      const one = waiting[i];
      if (one.work.row >= work.row || isSameLaunch(one.work, work)) {
        waiting[kept++] = one;
        continue;
      }
      if (isFull(one)) tally.full++;
      else if (one.hasOps == 0) tally.short++;
      this.forget(one);
    }
    waiting.length = kept;
  }

  private of(work: Work): Progress {
    const one = this.free.length == 0 ? new Progress(work) : this.free.pop();
    one.work = work;
    one.workRow = work.row;
    one.channels = work.nChannels;
    one.begun = one.ended = one.ofOther = one.hasOps = 0;
    return one;
  }

  private forget(one: Progress): void {
    one.work.progress = null;
    this.free.push(one);
  }

  /** The newest works of each communicator whose earlier ones were reported in full. Call it after the last record. */
  proven(): Progress[] {
    const found: Progress[] = [];
    for (let i = 0; i < this.tallies.length; i++) {
      const tally = this.tallies[i];
      const waiting = tally.waiting;
      if (tally.short > 0 || (tally.full == 0 && !waiting.some((one) => isFull(one)))) continue;
      for (let n = 0; n < waiting.length; n++) {
        waiting[n].ring = tally.ring;
        found.push(waiting[n]);
      }
    }
    return found;
  }

  private tallyOf(comm: Comm): Tally {
    if (this.places.has(comm.number)) return this.places.get(comm.number);
    const made = new Tally();
    this.places.set(comm.number, made);
    this.tallies.push(made);
    return made;
  }
}

function isFull(progress: Progress): bool {
  const begun = progress.begun;
  return begun + progress.ofOther >= progress.channels;
}

function progressOf(block: Block): Progress | null {
  const work = block.work;
  const link = block.link;
  const isPhase = block.isPhase;
  return work !== null && !isPhase && link == Link.Known ? work.progress : null;
}

/** One group is one launch, as far as calls show. */
function isSameLaunch(a: Work, b: Work): bool {
  return !isNaN(a.apiStart) && a.apiParent == b.apiParent;
}
