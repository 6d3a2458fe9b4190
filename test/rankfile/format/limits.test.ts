/** The table of limits in schemas/rank-file.md names every field whose range the reader checks. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

import { HEADER_RANGES, TABLE_RANGES } from '../../../src/rankfile/format/ranges.js';

const text = readFileSync(fileURLToPath(new URL('../../../schemas/rank-file.md', import.meta.url)), 'utf8');
const section = text.slice(text.indexOf('\n## Limits\n'), text.indexOf('\n## Rules for writers\n'));
const named = section
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| what'))
  .map((line) => line.split(' | ')[0]!.slice(2))
  .join(', ');

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** "communicators_lost to io_errors" are these five. */
const BETWEEN = ['stringsLost', 'leasesLost', 'threadsOverflowed'];

it.each(Object.keys(HEADER_RANGES).filter((name) => !BETWEEN.includes(name)))('header: %s', (name) => {
  expect(named).toMatch(new RegExp(`\\b${snakeCase(name)}\\b`));
});

it.each([...TABLE_RANGES.values()].flatMap((ranges) => Object.keys(ranges)))('tables: %s', (name) => {
  expect(named).toMatch(new RegExp(`\\b${name}\\b`));
});
