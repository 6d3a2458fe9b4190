/**
 * Finds the work to which a KernelCh's stamps belong. NCCL's host counts the works of a channel to find a kernel's stamps. If its count
 * lags behind the device (self-sends, Broadcast groups, replays), it reads the previous work's stamps from then on. The sign is a start
 * stamp from before the work's call, by more than the clock's bound. Then all later stamps of the channel are wrong, too. This needs no
 * solved clock, so both passes agree.
 */

import { Block, Work } from './event';
import { file } from './file';

/** ns: possible error of the bound, without the drift. */
const SLACK: f64 = 1e5;
/** How far a GPU's clock may drift against the host's. */
const MAX_DRIFT: f64 = 200e-6;

/**
 * Bounds a GPU's clock. GPU time plus offset is not before the host time at which a kernel was noticed. The two least offsets (ns) are
 * kept, from different works, because one stamp from the future must not decide about all others.
 */
class CommStamps {
  /** Channels whose counter lags. */
  private readonly lagging: StaticArray<bool> = new StaticArray<bool>(256);
  private known: i32 = 0;
  private leastOffset: f64 = 0;
  private leastAt: f64 = 0;
  private leastWork: Work | null = null;
  private nextOffset: f64 = 0;
  private nextAt: f64 = 0;
  private nextWork: Work | null = null;

  lags(channel: i32): void {
    this.lagging[channel] = true;
  }

  isLagging(channel: i32): bool {
    return this.lagging[channel];
  }

  /** The larger of the two offsets. Infinity while there are fewer than two. */
  bound(now: f64): f64 {
    if (this.known < 2) return Infinity;
    return max(aged(this.leastOffset, this.leastAt, now), aged(this.nextOffset, this.nextAt, now));
  }

  notice(offset: f64, at: f64, work: Work | null): void {
    this.sort(at);
    if (this.known > 0 && this.leastWork === work) {
      if (offset < aged(this.leastOffset, this.leastAt, at)) this.setLeast(offset, at, work);
    } else if (this.known > 1 && this.nextWork === work) {
      if (offset < aged(this.nextOffset, this.nextAt, at)) this.setNext(offset, at, work);
    } else if (this.known == 0) {
      this.setLeast(offset, at, work);
      this.known = 1;
    } else if (this.known == 1 || offset < aged(this.nextOffset, this.nextAt, at)) {
      this.setNext(offset, at, work);
      this.known = 2;
    }
    this.sort(at);
  }

  private setLeast(offset: f64, at: f64, work: Work | null): void {
    this.leastOffset = offset;
    this.leastAt = at;
    this.leastWork = work;
  }

  private setNext(offset: f64, at: f64, work: Work | null): void {
    this.nextOffset = offset;
    this.nextAt = at;
    this.nextWork = work;
  }

  /** The older offset has drifted more, so the two may swap. */
  private sort(now: f64): void {
    const nextOffset = this.nextOffset;
    const nextAt = this.nextAt;
    const nextWork = this.nextWork;
    if (this.known < 2 || aged(nextOffset, nextAt, now) >= aged(this.leastOffset, this.leastAt, now)) return;
    this.setNext(this.leastOffset, this.leastAt, this.leastWork);
    this.setLeast(nextOffset, nextAt, nextWork);
  }
}

export class StampOwners {
  private readonly comms: Map<i32, CommStamps> = new Map<i32, CommStamps>();

  /** Called at the block's start. `noticed`: when the host saw it. */
  judge(block: Block, noticed: f64): void {
    const timerStart = block.timerStart;
    const work = block.work;
    const channel = block.channel;
    if (isNaN(timerStart)) return;
    const nsPerTick = file().nsPerTick;
    const stamps = this.stampsOf(block.comm.number);
    const at = noticed * nsPerTick;
    if (!block.isPhase && work !== null) {
      const latest = timerStart + stamps.bound(at) + SLACK;
      // A stamp from before the recording is torn, so it proves nothing.
      if (latest > 0 && latest < work.earliest * nsPerTick) stamps.lags(channel);
    }
    block.isOfOther = stamps.isLagging(channel);
    stamps.notice(at - timerStart, at, work);
  }

  private stampsOf(comm: i32): CommStamps {
    if (this.comms.has(comm)) return this.comms.get(comm);
    const made = new CommStamps();
    this.comms.set(comm, made);
    return made;
  }
}

function aged(offset: f64, at: f64, now: f64): f64 {
  return offset + MAX_DRIFT * max<f64>(0, now - at);
}
