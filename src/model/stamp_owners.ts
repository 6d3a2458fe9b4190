/**
 * Finds the work to which a KernelCh's stamps belong. NCCL's host counts the works of a channel to find a kernel's stamps. If its count
 * lags behind the device (self-sends, Broadcast groups, replays), it reads the previous work's stamps from then on. The sign is a start
 * stamp from before the work's call, by more than the clock's bound. Then all later stamps of the channel are wrong, too. This needs no
 * solved clock, so both passes agree.
 */

import type { Ticks } from '../base/time.js';
import type { Kernel, Work } from './types.js';

/** ns: possible error of the bound, without the drift. */
const SLACK = 1e5;
/** How far a GPU's clock may drift against the host's. */
const MAX_DRIFT = 200e-6;

/**
 * Bounds a GPU's clock. GPU time plus offset is not before the host time at which a kernel was noticed. The two least offsets (ns) are
 * kept, from different works, because one stamp from the future must not decide about all others.
 */
class CommStamps {
  /** Channels whose counter lags. */
  readonly lagging = new Set<number>();
  private known = 0;
  private leastOffset = 0;
  private leastAt = 0;
  private leastWork: Work | null = null;
  private nextOffset = 0;
  private nextAt = 0;
  private nextWork: Work | null = null;

  /** The larger of the two offsets. Infinity while there are fewer than two. */
  bound(now: number): number {
    if (this.known < 2) return Infinity;
    return Math.max(aged(this.leastOffset, this.leastAt, now), aged(this.nextOffset, this.nextAt, now));
  }

  notice(offset: number, at: number, work: Work | null): void {
    this.sort(at);
    if (this.known > 0 && this.leastWork === work) {
      if (offset < aged(this.leastOffset, this.leastAt, at)) this.setLeast(offset, at, work);
    } else if (this.known > 1 && this.nextWork === work) {
      if (offset < aged(this.nextOffset, this.nextAt, at)) this.setNext(offset, at, work);
    } else if (this.known === 0) {
      this.setLeast(offset, at, work);
      this.known = 1;
    } else if (this.known === 1 || offset < aged(this.nextOffset, this.nextAt, at)) {
      this.setNext(offset, at, work);
      this.known = 2;
    }
    this.sort(at);
  }

  private setLeast(offset: number, at: number, work: Work | null): void {
    this.leastOffset = offset;
    this.leastAt = at;
    this.leastWork = work;
  }

  private setNext(offset: number, at: number, work: Work | null): void {
    this.nextOffset = offset;
    this.nextAt = at;
    this.nextWork = work;
  }

  /** The older offset has drifted more, so the two may swap. */
  private sort(now: number): void {
    const { nextOffset, nextAt, nextWork, known } = this;
    if (known < 2 || aged(nextOffset, nextAt, now) >= aged(this.leastOffset, this.leastAt, now)) return;
    this.setNext(this.leastOffset, this.leastAt, this.leastWork);
    this.setLeast(nextOffset, nextAt, nextWork);
  }
}

export class StampOwners {
  private readonly comms = new Map<number, CommStamps>();
  private readonly nsPerTick: number;

  constructor(tickHz: number) {
    this.nsPerTick = 1e9 / tickHz;
  }

  /** Called at the kernel's start. `noticed`: when the host saw it. */
  judge(kernel: Kernel, noticed: Ticks): void {
    const { comm, channel, timerStart, work, phase } = kernel;
    if (timerStart === null) return;
    const stamps = this.stampsOf(comm?.number ?? -1);
    const at = noticed * this.nsPerTick;
    if (phase === null && work !== null) {
      const latest = timerStart + stamps.bound(at) + SLACK;
      // A stamp from before the recording is torn, so it proves nothing.
      if (latest > 0 && latest < work.earliest * this.nsPerTick) stamps.lagging.add(channel);
    }
    kernel.isOfOther = stamps.lagging.size > 0 && stamps.lagging.has(channel);
    stamps.notice(at - timerStart, at, work);
  }

  private stampsOf(comm: number): CommStamps {
    let stamps = this.comms.get(comm);
    if (!stamps) this.comms.set(comm, (stamps = new CommStamps()));
    return stamps;
  }
}

const aged = (offset: number, at: number, now: number): number => offset + MAX_DRIFT * Math.max(0, now - at);
