/** The kernel's numbers are those of the format, of NCCL, and of the host. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { DETAIL, TRACK_KIND } from '../../src/kernel/host/drawing.js';
import { WORK_ENDS } from '../../src/kernel/host/drawn_rows.js';
import { Wait } from '../../src/model/waits.js';
import { WORK_OUTCOMES } from '../../src/model/work_end.js';
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

describe('the drawing', () => {
  const sourceOf = (name: string): string =>
    readFileSync(path.join(PROJECT, 'src/kernel/draw', `${name}.ts`), 'utf8');
  /** Names in the order in which they are declared, in lower case. */
  const declared = (name: string, what: string): string[] => {
    const body = new RegExp(`${what} \\{([^}]*)\\}`).exec(sourceOf(name))![1]!;
    return [...body.matchAll(/^ {2}(\w+)[,:;]/gm)].map(([, member]) => member!.toLowerCase());
  };

  it('kinds of tracks, and depths of detail', () => {
    expect(declared('tracks', 'enum TrackKind')).toEqual(Object.keys(TRACK_KIND));
    expect(Object.values(TRACK_KIND)).toEqual([0, 1, 2, 3]);
    expect(declared('windows', 'enum Detail')).toEqual(Object.keys(DETAIL));
    expect(Object.values(DETAIL)).toEqual([0, 1, 2, 3, 4]);
  });

  it('rows for the host', () => {
    expect(sourceOf('work_ends')).toContain(`WORK_ENDS: i32 = ${WORK_ENDS};`);
  });

  it('outcomes of works, and waits of transfers', () => {
    const outcomes = WORK_OUTCOMES.map((name) => name.replace(/-/g, ''));
    expect(declared('work_ends', 'enum Outcome')).toEqual(outcomes);
    for (const wait of Object.values(Wait).filter((name) => name !== Wait.Posted))
      expect(sourceOf('steps')).toContain(`'${wait}'`);
  });
});
