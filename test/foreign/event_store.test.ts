/** Events between reading and drawing: each text comes back, of any length, in any order. */

import path from 'node:path';
import { expect, it } from 'vitest';
import { EventStore } from '../../src/foreign/beside/event_store.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();

it('gives back what it was given', () => {
  const store = new EventStore(path.join(folder, 'side'));
  // Short ones, some around the size of a page, and some of several pages; 5 MB, so more pages than are kept.
  const lengths = Array.from({ length: 3000 }, (_, i) =>
    i % 100 === 0 ? 32_760 + (i % 23) : i % 601 === 7 ? 300_000 : (i * 37) % 900,
  );
  const texts = lengths.map((length, i) => `${i} ü€`.padEnd(length, `${i}.`));
  texts.forEach((text, i) => store.add(i % 3, i % 50, i % 7, text));
  store.finish(3);
  for (const track of [2, 0, 1])
    for (const row of store.ordered(track)) expect(store.text(row) === texts[row], `row ${row}`).toBe(true);
  for (let i = 0; i < texts.length; i++) {
    const row = (i * 1117) % texts.length;
    expect(store.text(row) === texts[row], `row ${row}`).toBe(true);
  }
  store.close();
});

it('orders a track by start, the longer first', () => {
  const store = new EventStore(path.join(folder, 'ordered'));
  for (const [start, duration] of [
    [5, 1],
    [1, 2],
    [5, 9],
    [1, NaN],
  ] as const)
    store.add(0, start, duration, '');
  store.finish(1);
  expect([...store.ordered(0)]).toEqual([1, 3, 2, 0]);
  store.close();
});
