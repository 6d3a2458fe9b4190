/**
 * How many announced blocks of a collective or send/receive the GPU began and ended, by KernelCh events. Within a node there is no other
 * source. A work is complete if every channel has stamps of its own. This is claimed only if NCCL reported all finished works of the
 * communicator in full. It is claimed only for works after which none began, because NCCL runs a communicator's work in order.
 */

import type { Kernel, Op, Work } from './types.js';

export interface BlocksSeen {
  /** Announced blocks, one per channel. */
  readonly channels: number;
  /** With stamps of their own. */
  readonly begun: number;
  readonly ended: number;
}

export interface KernelsOf extends BlocksSeen {
  readonly work: Work;
  /** The ring with its kernels. */
  readonly ring: number;
  /** 'unknown': all stamps are of other work. */
  readonly state: 'ended' | 'unfinished' | 'unknown';
}

interface Row {
  readonly work: Work;
  begun: number;
  ended: number;
  /** With stamps of other work. */
  ofOther: number;
  hasOps: boolean;
}

interface Tally {
  waiting: Row[];
  ring: number;
  /** Earlier works that were reported in full, and other earlier works. If there are others, announced channels prove nothing. */
  full: number;
  short: number;
}

/** How many works are kept for a communicator without kernels, or whose kernels stopped coming. */
const FEW = 64;
const MANY = 4096;

export class KernelProgress {
  private readonly comms = new Map<number, Tally>();
  private readonly rows = new Map<Work, Row>();

  workStart(work: Work): void {
    const { comm, nChannels, peer } = work;
    if (!comm || nChannels <= 0 || peer === comm.rank) return; // NCCL reports no kernel of a send to oneself
    const tally = this.tallyOf(comm.number);
    const row: Row = { work, begun: 0, ended: 0, ofOther: 0, hasOps: false };
    tally.waiting.push(row);
    this.rows.set(work, row);
    if (tally.waiting.length <= (tally.ring < 0 ? FEW : MANY)) return;
    if (tally.ring >= 0) tally.short++;
    for (const { work: old } of tally.waiting.splice(0, tally.waiting.length - FEW / 2))
      this.rows.delete(old);
  }

  opStart({ work }: Op): void {
    const row = work && this.rows.get(work);
    if (row) row.hasOps = true;
  }

  kernelStart({ work, parent, phase, isOfOther, ring }: Kernel): void {
    const row = work && phase === null && parent === 'known' ? this.rows.get(work) : undefined;
    if (!row) return;
    const tally = this.tallyOf(work!.comm!.number);
    tally.ring = ring;
    if (isOfOther) row.ofOther++;
    else {
      row.begun++;
      this.passed(tally, row);
    }
  }

  kernelStop({ work, parent, phase, isOfOther }: Kernel): void {
    const row = work && phase === null && parent === 'known' && !isOfOther ? this.rows.get(work) : undefined;
    if (row) row.ended++;
  }

  /** The newest works of each communicator, after which none began. */
  finish(): KernelsOf[] {
    return [...this.comms.values()].flatMap(({ waiting, ring, full, short }) =>
      full + waiting.filter(isFull).length === 0 || short > 0
        ? []
        : waiting.map((row) => ({
            work: row.work,
            ring,
            channels: row.work.nChannels,
            begun: row.begun,
            ended: row.ended,
            state: stateOf(row),
          })),
    );
  }

  /** Drops the works that were enqueued before, except those of the same launch. */
  private passed(tally: Tally, { work }: Row): void {
    const [first] = tally.waiting;
    if (!first || first.work === work) return;
    tally.waiting = tally.waiting.filter((row) => {
      if (row.work.row >= work.row || isSameLaunch(row.work, work)) return true;
      this.rows.delete(row.work);
      if (isFull(row)) tally.full++;
      else if (!row.hasOps) tally.short++;
      return false;
    });
  }

  private tallyOf(comm: number): Tally {
    let tally = this.comms.get(comm);
    if (!tally) this.comms.set(comm, (tally = { waiting: [], ring: -1, full: 0, short: 0 }));
    return tally;
  }
}

const isFull = ({ begun, ofOther, work }: Row): boolean => begun + ofOther >= work.nChannels;

/** Operations on the network have records of their own. */
function stateOf({ work, begun, ended, ofOther, hasOps }: Row): KernelsOf['state'] {
  if (hasOps) return 'ended';
  if (begun + ofOther < work.nChannels || ended < begun) return 'unfinished';
  return begun === 0 ? 'unknown' : 'ended';
}

/** One group is one launch, as far as calls show. */
const isSameLaunch = (a: Work, b: Work): boolean =>
  a.api !== null && a.api.parent === (b.api?.parent ?? null);
