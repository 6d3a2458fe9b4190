/**
 * When the next look at the records is due. A look costs as much as `inspect`, so ordinary looks keep to a share of a core per rank,
 * whatever the rings hold. A look that can say something new comes earlier: something stands still, a process ended, or a stall is about to
 * become a hang.
 */

import { minOf } from '../base/extremes.js';

/** Of one core, for each rank. */
const SHARE = 0.01;
/** For looks that something calls for. They are few. */
const URGENT_SHARE = 10 * SHARE;
/** ms: nothing moved for so long, so the verdict may be another one. Most jobs pause for less between two steps. */
const STILL = 15_000;
/** ms: heartbeats come once a second, so the end of the records may be so much older than the look. */
const BEAT = 1_000;

export interface Scene {
  readonly ranks: number;
  /** A process began or ended since the last look. */
  readonly isOther: boolean;
  /** ms, by member that is not over: when it was last seen to move. */
  readonly movedAt: readonly number[];
  /** While nothing moves, the last verdict stays. */
  readonly isSettled: boolean;
}

export class Pace {
  private last = { began: -Infinity, ended: -Infinity, cpu: 0 };
  private promised: number | null = null;

  /** `hungAfter`: ms, as the user gave it. */
  constructor(private readonly hungAfter: number | undefined) {}

  /** `cpu`: ms of CPU time. `in`: ms until the verdict may change by itself; null: it does not. */
  looked(
    look: { readonly began: number; readonly ended: number; readonly cpu: number },
    until: number | null,
  ): void {
    this.last = look;
    this.promised = until === null ? null : look.began + until + BEAT;
  }

  /** ms: the time of the next look if nothing changes; it may be over. Infinity: not before something does. */
  due(scene: Scene): number {
    const { began, ended, cpu } = this.last;
    const [ordinary, urgent] = [SHARE, URGENT_SHARE].map((share) => ended + cpu / (share * scene.ranks)) as [
      number,
      number,
    ];
    const times = [this.promised ?? Infinity];
    if (scene.isOther) times.push(urgent);
    const hasMoved = scene.movedAt.some((at) => at > began);
    if (scene.isSettled && hasMoved) times.push(urgent);
    if (!scene.isSettled || hasMoved) times.push(ordinary);
    const stillFor = Math.min(this.hungAfter ?? Infinity, STILL);
    const still = minOf(scene.movedAt.filter((at) => at + stillFor > began)) + stillFor;
    times.push(Math.max(urgent, still));
    return minOf(times);
  }
}
