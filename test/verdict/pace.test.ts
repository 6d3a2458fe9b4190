/** What a rank that lags behind costs the others: each time, if their hosts wait for the collective, else once. */

import { expect, it } from 'vitest';
import type { Collective } from '../../src/cluster/collective_view.js';
import { heldUp } from '../../src/verdict/pace.js';

/** ms: how late it came to each collective. The machine holds up all ranks once. */
const LAGS = Array.from({ length: 30 }, (_, i) => (i < 10 ? 0 : i < 20 ? 5 : 9));
const STOP = { before: 15, for: 400 };
const PERIOD = 20;

function heldUpIn(doHostsWait: boolean, lags: readonly number[] = LAGS): number {
  let from = 0;
  const collectives: Pick<Collective, 'firstCalled' | 'firstArrival' | 'lastArrival' | 'end'>[] = [];
  lags.forEach((lag, i) => {
    if (i === STOP.before) from += STOP.for;
    const to = from + lag;
    collectives.push({ firstCalled: from, firstArrival: from, lastArrival: to, end: to + 1 } as never);
    // A little uneven, so that no two periods are the same.
    from += PERIOD + (i % 3) * 0.2 + (doHostsWait ? lag : 0);
  });
  return heldUp(collectives as Collective[], 140);
}

it('is the sum of all waits if the others went on later after a longer wait', () => {
  expect(heldUpIn(true)).toBe(140);
});

it('is the last lag if the others kept their pace', () => {
  expect(heldUpIn(false)).toBe(9);
});

it('is not judged by waits that are all alike', () => {
  expect(
    heldUpIn(
      false,
      LAGS.map((_, i) => 50 + (i % 5)),
    ),
  ).toBe(140);
});
