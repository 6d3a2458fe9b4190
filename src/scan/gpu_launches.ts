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
  /** Launches that may be on the envelope, in columns: time of the call (ns, ticks), and the earliest stamp. */
  private x = new Float64Array(BATCH);
  private launched = new Float64Array(BATCH);
  private gpu = new Float64Array(BATCH);
  private size = 0;
  /** Number of groups of successive stamps per common step, ns. */
  private readonly steps = new Map<number, number>();
  private readonly group = new Float64Array(GROUP);
  private inGroup = 0;

  /** Call it for every plausible stamp. */
  seen(gpu: number): void {
    this.group[this.inGroup++] = gpu;
    if (this.inGroup === GROUP) this.finishGroup();
  }

  /**
   * Step of the timer, ns. 0: one stamp, or none. Half of the groups must show the step, because a wrong stamp shares no step with its
   * group. It does not affect other groups.
   */
  step(): number {
    // The last few stamps only count if there are no others.
    if (this.steps.size === 0) return commonStep(this.group, this.inGroup);
    const steps = [...this.steps].sort(([a], [b]) => a - b);
    let rest = steps.reduce((sum, [, count]) => sum + count, 0) / 2;
    return steps.find(([, count]) => (rest -= count) < 0)![0];
  }

  private finishGroup(): void {
    const step = commonStep(this.group, GROUP);
    if (step > 0 && (this.steps.size < MOST_STEPS || this.steps.has(step)))
      this.steps.set(step, (this.steps.get(step) ?? 0) + 1);
    this.inGroup = 0;
  }

  /** `x`: time of the call, ns; in any order. */
  add(launched: Ticks, x: number, gpu: number): void {
    const last = this.size - 1;
    // The blocks of one launch come one after the other. The earliest one counts.
    if (last >= 0 && this.x[last] === x) {
      if (gpu < this.gpu[last]!) this.put(last, x, launched, gpu);
      return;
    }
    this.put(this.size++, x, launched, gpu);
    if (this.size === this.x.length) this.reduce();
  }

  all(): GpuLaunch[] {
    this.reduce();
    return Array.from({ length: this.size }, (_, i) => ({
      launched: this.launched[i] as Ticks,
      gpu: this.gpu[i] as GpuNs,
    }));
  }

  private put(at: number, x: number, launched: number, gpu: number): void {
    this.x[at] = x;
    this.launched[at] = launched;
    this.gpu[at] = gpu;
  }

  private reduce(): void {
    const { x, launched, gpu, size } = this;
    /** Time of the call → the place of its earliest stamp. */
    const least = new Map<number, number>();
    for (let i = 0; i < size; i++) {
      const known = least.get(x[i]!);
      if (known === undefined || gpu[i]! < gpu[known]!) least.set(x[i]!, i);
    }
    const points = new Float64Array(2 * least.size);
    let to = 0;
    for (const i of least.values()) {
      points[to++] = x[i]!;
      points[to++] = gpu[i]! - x[i]!;
    }
    const hull = lowerHull(points);
    this.size = hull.length / 2;
    const room = this.size + BATCH;
    this.x = new Float64Array(room);
    this.launched = new Float64Array(room);
    this.gpu = new Float64Array(room);
    for (let i = 0; i < this.size; i++) {
      const from = least.get(hull[2 * i]!)!;
      this.put(i, x[from]!, launched[from]!, gpu[from]!);
    }
  }
}

/** Common step of the first stamps; 0: they are equal. */
function commonStep(stamps: Float64Array, length: number): number {
  let step = 0;
  for (let i = 1; i < length; i++) {
    let a = Math.abs(stamps[i]! - stamps[0]!);
    let b = step;
    while (b > 0) {
      const rest = a % b;
      a = b;
      b = rest;
    }
    step = a;
  }
  return step;
}
