/** The steps of an operation that have not stopped: few at a time, and mostly stopped in the order they began. */

import type { Op, Step } from './types.js';

/** So many of the newest may be meant by a repeated start; NCCL has 8 in flight. */
const RECENT_STEPS = 16;

/** The newest of that number. */
export function openStepOf({ openSteps }: Op, number: number): Step | undefined {
  const oldest = Math.max(0, openSteps.length - RECENT_STEPS);
  for (let i = openSteps.length - 1; i >= oldest; i--)
    if (openSteps[i]!.number === number) return openSteps[i];
  return undefined;
}

/** Nearly always the oldest; `splice` would make an array of it. */
export function removeStep(steps: Step[], step: Step): void {
  let at = steps.indexOf(step);
  for (; at < steps.length - 1; at++) steps[at] = steps[at + 1]!;
  steps.pop();
}
