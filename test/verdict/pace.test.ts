/** What a rank that lags behind costs the others: each time, if their hosts wait for the collective, else once. */

import { expect, it } from 'vitest';
import type { Spell } from '../../src/cluster/late.js';
import type { Collective } from '../../src/cluster/types.js';
import { heldUp } from '../../src/verdict/pace.js';

/** ms: how late it came to each collective. The machine holds up all ranks once. */
const LAGS = Array.from({ length: 30 }, (_, i) => (i < 10 ? 0 : i < 20 ? 5 : 9));
const STOP = { before: 15, for: 400 };
const PERIOD = 20;

function heldUpIn(doHostsWait: boolean): number {
  let from = 0;
  const collectives: Pick<Collective, 'firstCalled' | 'firstArrival' | 'lastArrival' | 'end'>[] = [];
  const spells: Spell[] = [];
  LAGS.forEach((lag, i) => {
    if (i === STOP.before) from += STOP.for;
    const to = from + lag;
    collectives.push({ firstCalled: from, firstArrival: from, lastArrival: to, end: to + 1 } as never);
    if (lag > 0) spells.push({ from, to });
    // A little uneven, so that no two periods are the same.
    from += PERIOD + (i % 3) * 0.2 + (doHostsWait ? lag : 0);
  });
  return heldUp(collectives as Collective[], spells, 140);
}

it('is the sum of all waits if the others went on later after a longer wait', () => {
  expect(heldUpIn(true)).toBe(140);
});

it('is the last lag if the others kept their pace', () => {
  expect(heldUpIn(false)).toBe(9);
});
