/** Whether ranks that are alike may differ so much by chance. */

import { describe, expect, it } from 'vitest';
import { logChance } from '../../src/verdict/chance.js';
import { seeded } from '../support/clocks/simulated_links.js';

const waits = (count: number, each: number): number[] => Array.from({ length: count }, () => each);

describe('the chance of so large a share', () => {
  it('equals that of a die for waits of one length', () => {
    expect(Math.exp(logChance(waits(6, 20), [], 4))).toBeCloseTo(4 * 4 ** -6, 8);
  });

  it('is not small for one long wait, however long', () => {
    expect(logChance([1e9], waits(30, 1), 32)).toBeGreaterThan(Math.log(0.5));
  });

  it('is small for a rank that is late in every tenth collective and costs most', () => {
    expect(logChance(waits(10, 70), waits(90, 0.3), 4)).toBeLessThan(Math.log(1e-4));
  });

  it('is rarely below the threshold if two ranks jitter alike', () => {
    const random = seeded(7);
    let low = 0;
    for (let run = 0; run < 400; run++) {
      const own: number[][] = [[], []];
      for (let i = 0; i < 40; i++) own[random() < 0.5 ? 0 : 1]!.push(-Math.log(random()));
      const [a, b] = own as [number[], number[]];
      if (Math.min(logChance(a, b, 2), logChance(b, a, 2)) < Math.log(1 / 200)) low++;
    }
    expect(low).toBeLessThanOrEqual(2);
  });
});
