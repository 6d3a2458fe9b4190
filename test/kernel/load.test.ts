/** Tests run the kernel's debug build (vitest.config.ts). */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { BugError } from '../../src/base/assert.js';
import { giveBack, lendKernel, newKernel } from '../../src/kernel/host/load.js';

const source = readFileSync(
  path.join(fileURLToPath(new URL('../..', import.meta.url)), 'src/kernel/checks.ts'),
  'utf8',
);

it('lends an instance to one file at a time, and the same one again', () => {
  const [one, other] = [lendKernel(), lendKernel()];
  expect(one).not.toBe(other);
  giveBack(other);
  expect(lendKernel()).toBe(other);
});

it('lets a true assertion pass', () => {
  newKernel().exports.checkIndex(2, 3);
});

it.each([
  [3, 3],
  [-1, 3],
])('names file, line and message if an assertion fails: index %i of %i', (index, length) => {
  const line = source.split('\n').findIndex((text) => text.includes('assert(')) + 1;
  const check = () => {
    newKernel().exports.checkIndex(index, length);
  };
  expect(check).toThrow(BugError);
  expect(check).toThrow(new RegExp(`src/kernel/checks\\.ts:${line}:\\d+: index outside of the table$`));
});
