/** How long a rank's way out was busy with a send: alone, beside others, and after others. */

import { expect, it } from 'vitest';
import { SharedWire } from '../../src/scan/shared_wire.js';

/** Own times of sends, in order of their ends. `[rank, from, to]`; each rank has one channel. */
function ownTimes(...sends: [rank: number, from: number, to: number][]): number[] {
  const wire = new SharedWire();
  const connections = [1, 2, 3].map((rank) => wire.connection(rank));
  const since = new Map<unknown, number>();
  const own: number[] = [];
  const moments = sends.flatMap((send) => [
    { at: send[1], send, ends: false },
    { at: send[2], send, ends: true },
  ]);
  moments.sort((a, b) => a.at - b.at || Number(b.ends) - Number(a.ends));
  for (const { at, send, ends } of moments) {
    const connection = connections[send[0] - 1]!;
    if (ends) own.push(wire.ends(connection, since.get(send)!, at));
    else since.set(send, wire.begins(connection, at, at));
  }
  return own;
}

it('one send after the other: all of their time', () => {
  expect(ownTimes([1, 0, 10], [1, 12, 20], [2, 30, 35])).toEqual([10, 8, 5]);
});

it('three at the same rate to three ranks: a third each', () => {
  expect(ownTimes([1, 0, 30], [2, 0, 30], [3, 0, 30])[0]).toBe(10);
});

it('one rank is served after the other: since the other ended', () => {
  expect(ownTimes([1, 0, 10], [2, 0, 20])).toEqual([5, 10]);
});

it('sends of one connection in a row: since the one before ended', () => {
  expect(ownTimes([1, 0, 10], [1, 0, 20], [1, 0, 30])).toEqual([10, 10, 10]);
});

it('a slow link beside a quick one: nearly all of its time', () => {
  expect(ownTimes([1, 0, 1], [2, 0, 100])).toEqual([0.5, 99]);
});
