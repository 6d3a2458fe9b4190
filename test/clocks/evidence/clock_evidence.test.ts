/** How many windows of evidence are kept. */

import { expect, it } from 'vitest';
import { windowsPerEdge } from '../../../src/clocks/evidence/clock_evidence.js';

it('gives windows to the transfers of two hosts, with any number of ranks on each', () => {
  const links = Array.from({ length: 4096 }, (_, i) => ({ sender: i, receiver: 4096 + i }));
  const twoHosts = Array.from({ length: 8192 }, (_, file) => (file < 4096 ? 0 : 1));
  expect(windowsPerEdge(links, twoHosts)).toBe(512);
  // Enough for an hour in windows of less than a minute, also with thousands of hosts.
  const manyHosts = Array.from({ length: 8192 }, (_, file) => file >> 1);
  expect(windowsPerEdge(links, manyHosts)).toBeGreaterThanOrEqual(3600 / 32);
  expect(windowsPerEdge([], [])).toBe(512);
});
