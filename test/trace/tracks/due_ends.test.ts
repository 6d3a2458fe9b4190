/** Ends known in advance are written in the order of time, and those of one time in the order they were scheduled. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TraceNs } from '../../../src/base/time.js';
import { DueEnds } from '../../../src/trace/tracks/due_ends.js';

it('writes everything due, in time, and nothing early', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { maxLength: 30 }), fc.nat(20), (times, until) => {
      const due = new DueEnds();
      const written: [number, number][] = [];
      times.forEach((at, i) => {
        due.schedule(at as TraceNs, (end) => written.push([end, i]));
      });
      due.flush(until);
      const early = [...written];
      due.flush(Infinity);
      expect(early.every(([at]) => at <= until)).toBe(true);
      expect(written.slice(early.length).every(([at]) => at > until)).toBe(true);
      expect(written).toEqual(times.map((at, i) => [at, i]).sort(([a, i], [b, j]) => a! - b! || i! - j!));
    }),
  );
});
