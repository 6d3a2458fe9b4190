/** Counters change in the order of time, in whatever order their rings are read. */

import { expect, it } from 'vitest';
import { traceNsFromClockMap } from '../../../src/base/time.js';
import { Changes } from '../../../src/trace/tracks/changes.js';

it('the changes of two rings are sorted, and none is lost when the columns grow', () => {
  const changes = new Changes();
  const counted: number[][] = [];
  const counter = { add: (amount: number, at: number) => void counted.push([amount, at]) };
  for (const amount of [1, 2])
    for (let at = 0; at < 300; at++) changes.add(counter, amount, traceNsFromClockMap(at));
  changes.settle();
  expect(counted).toEqual(Array.from({ length: 600 }, (_, i) => [1 + (i % 2), Math.floor(i / 2)]));
});

it('a change that comes too late is counted at the time of the newest one', () => {
  const changes = new Changes();
  const counted: number[][] = [];
  const counter = { add: (amount: number, at: number) => void counted.push([amount, at]) };
  changes.add(counter, 1, traceNsFromClockMap(50));
  changes.settle();
  changes.add(counter, 2, traceNsFromClockMap(40));
  changes.add(counter, 3, traceNsFromClockMap(60));
  changes.settle();
  expect(counted).toEqual([
    [1, 50],
    [2, 50],
    [3, 60],
  ]);
});
