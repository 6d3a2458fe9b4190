/** The step of a GPU's timer, by its stamps. */

/** Stamps whose common step is computed. By chance, one group in a thousand shows a larger step. */
const GROUP = 12;
/** Most steps to keep: a timer shows a few. */
const MOST_STEPS = 1024;

export class TimerSteps {
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
