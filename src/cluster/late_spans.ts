/** How long all others waited: for one rank alone, the last on the GPU and the last caller, or for several together. */

import { maxOf } from '../base/extremes.js';
import type { Late, LateTogether, Spell } from './collective_types.js';
import type { Collective } from './collective_view.js';

export interface LateSpan extends Spell {
  readonly late: Late;
}

/** The time in which all others waited for it alone, less `bound` ns for the error of the clocks. */
export function lateSpans({ late: { onGpu, onHost } }: Pick<Collective, 'late'>, bound: number): LateSpan[] {
  return [onHost, onGpu].flatMap((late) => {
    const from = Math.max(late.others + bound, late.idle.from);
    const to = Math.min(late.to, late.idle.to);
    return late.others + bound < late.to && to > from ? [{ late, from, to }] : [];
  });
}

/** The same for several ranks that came later than all others. `bound`: of a rank's clock against those of all others. */
export function spansTogether(
  one: Collective,
  size: number,
  bound: (one: Collective, file: number) => number,
): (Spell & Pick<LateTogether, 'ranks'> & Pick<LoneWait, 'called' | 'basis'>)[] {
  const spans = (late: readonly LateTogether[], isCall: boolean): ReturnType<typeof spansTogether> =>
    late.flatMap(({ ranks, others, idle, to }) => {
      const error = maxOf(
        ranks.map(({ file }) => bound(one, file)),
        0,
      );
      const from = Math.max(others + error, idle);
      const found = {
        ranks,
        from,
        to,
        called: isCall ? to : -Infinity,
        basis: isCall ? 'call' : 'step',
      } as const;
      return from < to ? [found] : [];
    });
  const { onHost, onGpu } = one.together(size);
  return [...spans(onHost, true), ...spans(onGpu, false)];
}

/** All others had arrived and waited for one rank alone, or for these. */
export interface LoneWait extends Spell, Pick<Late, 'file' | 'rank' | 'basis'> {
  /** When the late rank called it. */
  readonly called: number;
  readonly one: Collective;
  /** Several ranks that were late together. */
  readonly ranks?: LateTogether['ranks'];
  readonly bound: number;
}

/** Ranks wait for collectives that were called together at the same time. That time counts once. */
export function together(waits: readonly Spell[]): Spell[] {
  const spells: { from: number; to: number }[] = [];
  for (const { from, to } of [...waits].sort((a, b) => a.from - b.from)) {
    const last = spells.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else if (to > from) spells.push({ from, to });
  }
  return spells;
}
