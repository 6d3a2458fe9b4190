/** The kernel's numbers are those of the format and of NCCL. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as format from '../../src/rankfile/format/constants.js';
import { State } from '../../src/rankfile/format/nccl.js';
import { PROJECT } from '../support/jobs/native.js';

const source = readFileSync(path.join(PROJECT, 'src/kernel/numbers.ts'), 'utf8');

/** The members of an enum in src/kernel/numbers.ts. */
function membersOf(name: string): Record<string, number> {
  const body = new RegExp(`enum ${name} \\{([^}]*)\\}`).exec(source)![1]!;
  const members = [...body.matchAll(/^ *(\w+) = (\w+),$/gm)].map(([, member, value]) => [
    member,
    Number(value),
  ]);
  expect(members.length).toBeGreaterThan(3);
  return Object.fromEntries(members) as Record<string, number>;
}

const constant = (name: string): number =>
  Number(new RegExp(`const ${name}: \\w+ = (\\w+);`).exec(source)?.[1] ?? NaN);

it('kinds of records', () => {
  expect(format.Kind).toMatchObject(membersOf('Kind'));
});

it('classes of rings', () => {
  for (const [name, value] of Object.entries(membersOf('RingClass')))
    expect(format.AreaClass[`Ring${name}` as keyof typeof format.AreaClass]).toBe(value);
});

it('states', () => {
  expect(State).toMatchObject(membersOf('State'));
});

it.each(['SLOT_BYTES', 'MAX_PARTS', 'MAX_RINGS', 'CONTEXT_RING', 'COMM_FOREIGN', 'FOLD_OF_START'] as const)(
  '%s',
  (name) => {
    expect(constant(name)).toBe(format[name]);
  },
);

it('NO_VALUE', () => {
  expect(source).toContain('NO_VALUE: u64 = (1 << 48) - 1;');
  expect(format.NO_VALUE).toBe(2 ** 48 - 1);
});
