/**
 * Launches of kernels that bound the GPU's clock from the side that notices do not: a stamp was taken after the call. Kept are those
 * on the envelope, however long the run; and the steps that the timer counts in.
 */

import type { Ticks } from '../base/time.js';
import { lowerHull } from '../clocks/lower_hull.js';
import type { GpuNs } from '../model/types.js';

export interface GpuLaunch {
  readonly launched: Ticks;
  readonly gpu: GpuNs;
}

/** Launches between two reductions to their envelope. */
const BATCH = 4096;

export class GpuLaunches {
  private kept: { readonly x: number; readonly launch: GpuLaunch }[] = [];
  private limit = BATCH;
  private first: number | undefined;
  /** What all stamps are multiples of, from one another, ns. */
  step = 0;

  /** Any stamp. */
  seen(gpu: number): void {
    this.first ??= gpu;
    let [a, b] = [Math.abs(gpu - this.first), this.step];
    while (b > 0) [a, b] = [b, a % b];
    this.step = a;
  }

  /** `x`: when it was called, ns; in any order. */
  add(launched: Ticks, x: number, gpu: number): void {
    this.kept.push({ x, launch: { launched, gpu: gpu as GpuNs } });
    if (this.kept.length >= this.limit) this.reduce();
  }

  all(): GpuLaunch[] {
    this.reduce();
    return this.kept.map(({ launch }) => launch);
  }

  private reduce(): void {
    const least = new Map<number, (typeof this.kept)[number]>();
    for (const entry of this.kept) {
      const known = least.get(entry.x);
      if (!known || entry.launch.gpu < known.launch.gpu) least.set(entry.x, entry);
    }
    const hull = lowerHull([...least.values()].flatMap(({ x, launch }) => [x, launch.gpu - x]));
    this.kept = [];
    for (let i = 0; i < hull.length; i += 2) this.kept.push(least.get(hull[i]!)!);
    this.limit = this.kept.length + BATCH;
  }
}
