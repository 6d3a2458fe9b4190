/**
 * Launches of kernels bound the GPU's clock from one side, because a stamp is taken after the call that launched the kernel. Notices bound
 * the clock from the other side. Only the launches on the envelope and the steps of the timer are kept, so memory does not grow with the
 * run.
 */

import type { Ticks } from '../base/time.js';
import { lowerHull } from '../clocks/lower_hull.js';
import type { GpuNs } from '../model/work_end.js';

export interface GpuLaunch {
  readonly launched: Ticks;
  readonly gpu: GpuNs;
}

/** Launches between two reductions to their envelope. */
const BATCH = 4096;
/** Stamps whose common step is computed. By chance, one group in a thousand shows a larger step. */
const GROUP = 12;
/** Most steps to keep: a timer shows a few. */
const MOST_STEPS = 1024;

export class GpuLaunches {
  private kept: { readonly x: number; readonly launch: GpuLaunch }[] = [];
  private limit = BATCH;
  /** Number of groups of successive stamps per common step, ns. */
  private readonly steps = new Map<number, number>();
  private group: number[] = [];

  /** Call it for every plausible stamp. */
  seen(gpu: number): void {
    this.group.push(gpu);
    if (this.group.length === GROUP) this.finishGroup();
  }

  /**
   * Step of the timer, ns. 0: one stamp, or none. Half of the groups must show the step, because a wrong stamp shares no step with its
   * group. It does not affect other groups.
   */
  step(): number {
    // The last few stamps only count if there are no others.
    if (this.steps.size === 0) return commonStep(this.group);
    const steps = [...this.steps].sort(([a], [b]) => a - b);
    let rest = steps.reduce((sum, [, count]) => sum + count, 0) / 2;
    return steps.find(([, count]) => (rest -= count) < 0)![0];
  }

  private finishGroup(): void {
    const step = commonStep(this.group);
    if (step > 0 && (this.steps.size < MOST_STEPS || this.steps.has(step)))
      this.steps.set(step, (this.steps.get(step) ?? 0) + 1);
    this.group = [];
  }

  /** `x`: time of the call, ns; in any order. */
  add(launched: Ticks, x: number, gpu: number): void {
    const last = this.kept.at(-1);
    // The blocks of one launch come one after the other. The earliest one counts.
    if (last?.x === x && gpu >= last.launch.gpu) return;
    if (last?.x === x) this.kept.pop();
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

/** Common step of all stamps; 0: they are equal. */
function commonStep(stamps: readonly number[]): number {
  return stamps.reduce((step, stamp) => {
    let [a, b] = [Math.abs(stamp - stamps[0]!), step];
    while (b > 0) [a, b] = [b, a % b];
    return a;
  }, 0);
}
