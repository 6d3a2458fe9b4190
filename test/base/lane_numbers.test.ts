import { expect, it } from 'vitest';

import { LaneNumbers } from '../../src/base/lane_numbers.js';
import { randomOf } from '../support/forged/forged_values.js';

it('the lowest lane that is free is taken, as a search from the first one finds it', () => {
  const random = randomOf(5);
  for (let run = 0; run < 50; run++) {
    const lanes = new LaneNumbers();
    const freeAt: number[] = [];
    for (let i = 0; i < 100; i++) {
      const at = random(50);
      const free = freeAt.findIndex((time) => time <= at);
      const lane = lanes.acquire(at);
      expect(lane).toBe(free < 0 ? freeAt.length : free);
      freeAt[lane] = Infinity;
      const ended = random(freeAt.length);
      freeAt[ended] = at + random(30);
      lanes.release(ended, freeAt[ended]);
      expect(lanes.count).toBe(freeAt.length);
    }
  }
});

it('a lane without a time takes any that was released', () => {
  const lanes = new LaneNumbers();
  expect([lanes.acquire(), lanes.acquire(), lanes.acquire()]).toEqual([0, 1, 2]);
  lanes.release(1);
  expect([lanes.acquire(), lanes.acquire()]).toEqual([1, 3]);
});
