/** The training steps of `--with` for people: those with the most exposed time, and whole files where no step has a name. */

import type { ExposedStep } from '../foreign/beside/training_steps.js';

/** How exposed time is counted, for a heading. */
export const EXPOSED = "NCCL's time that no other kernel of its process covers";

/** `all`: file by file, each as a whole first. */
export function worstSteps(
  all: readonly ExposedStep[],
  most: number,
): { readonly worst: readonly ExposedStep[]; readonly of: number } {
  const rows = all.filter(({ step }, i) => step !== null || (all[i + 1]?.step ?? null) === null);
  const worst = [...rows].sort((a, b) => b.exposed - a.exposed).slice(0, most);
  return { worst, of: rows.length };
}
