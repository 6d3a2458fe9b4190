/** Communicators of a run with their ranks, and names for those without one. */

import { describe, expect, it } from 'vitest';
import { communicatorsOf, namedApart } from '../../src/runs/communicators.js';
import type { RunMember } from '../../src/runs/run.js';

type Made = readonly [commId: bigint, nRanks: number, name?: string, rank?: number];

const member = (ranks: readonly number[], ...comms: readonly Made[]): RunMember =>
  ({
    ranks,
    scan: {
      communicators: comms.map(([commId, nRanks, name = '', rank = 0]) => ({ commId, nRanks, name, rank })),
    },
  }) as unknown as RunMember;

describe('the communicators of a run', () => {
  it('have the ranks of all files that know them, the name that any file has, and whose place is which', () => {
    const members = [
      member([2], [7n, 2, '', 1], [9n, 4, 'world', 2]),
      member([0], [7n, 2, 'dp', 0], [9n, 4, '', 0], [0n, 4]),
      member([11], [9n, 4, '', 3]),
    ];
    expect(communicatorsOf(members)).toEqual([
      { commId: '0x0000000000000007', comm: 'dp', nRanks: 2, ranks: [0, 2] },
      {
        commId: '0x0000000000000009',
        comm: 'world',
        nRanks: 4,
        ranks: [0, 2, 11],
        inComm: { 0: 0, 2: 2, 3: 11 },
      },
    ]);
  });

  it('have no ranks of a process of which some ranks are in them', () => {
    const members = [member([0, 1], [5n, 2], [6n, 2]), member([2, 3], [6n, 4])];
    expect(communicatorsOf(members).map(({ ranks }) => ranks)).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });
});

it('communicators of one name are told apart by their ranks, or else by their ids', () => {
  const comms: readonly (readonly [
    commId: bigint,
    name: string,
    nRanks: number,
    ranks: readonly number[],
  ])[] = [
    [1n, 'world', 8, [0, 1, 2, 3, 4, 5, 6, 7]],
    [2n, 'tp', 4, [0, 1, 2, 3]],
    [3n, 'tp', 4, [4, 5, 6, 7]],
    [4n, 'dp', 4, [0, 2, 4, 6]],
    [5n, 'dp', 4, [1]],
    [6n, 'again', 2, [0, 1]],
    [7n, 'again', 2, [0, 1]],
  ];
  const members = Array.from({ length: 8 }, (_, rank) =>
    member(
      [rank],
      ...comms.flatMap(([commId, name, nRanks, ranks]): Made[] =>
        ranks.includes(rank) ? [[commId, nRanks, name, ranks.indexOf(rank)]] : [],
      ),
    ),
  );
  expect(communicatorsOf(namedApart(members)).map(({ comm, kind }) => [comm, kind])).toEqual([
    ['world', undefined],
    ['tp ranks 0-3', 'tp'],
    ['tp ranks 4-7', 'tp'],
    ['dp ranks 0,2,4,6', 'dp'],
    ['dp 0x0000000000000005', 'dp'],
    ['again 0x0000000000000006', 'again'],
    ['again 0x0000000000000007', 'again'],
  ]);
});

describe('a communicator without a name', () => {
  const namesOf = (...members: readonly RunMember[]): readonly string[] =>
    communicatorsOf(namedApart(members)).map(({ comm }) => comm);

  it('is named by its ranks', () => {
    expect(namesOf(member([0], [7n, 2]), member([4], [7n, 2]))).toEqual(['ranks 0,4']);
    expect(namesOf(...[4, 5, 6, 7].map((rank) => member([rank], [7n, 4])))).toEqual(['ranks 4-7']);
    expect(namesOf(member([0, 1], [7n, 2]))).toEqual(['ranks 0-1']);
    expect(namesOf(...[3, 67, 131].map((rank) => member([rank], [7n, 3])))).toEqual(['ranks 3,67,131']);
    const even = Array.from({ length: 16 }, (_, i) => member([3 + 64 * i], [7n, 16]));
    expect(namesOf(...even)).toEqual(['ranks 3,67..963']);
  });

  it('keeps the name that NCCL reports', () => {
    expect(namesOf(member([0], [7n, 2, 'dp']), member([4], [7n, 2, 'dp']))).toEqual(['dp']);
  });

  it('stays without one if a rank is not known, or they are too many', () => {
    expect(namesOf(member([0], [7n, 2]))).toEqual(['']);
    expect(namesOf(member([0], [7n, 0]), member([4], [7n, 0]))).toEqual(['']);
    expect(namesOf(member([0], [7n, 1]))).toEqual(['']);
    const many = Array.from({ length: 32 }, (_, i) => member([i * i], [7n, 32]));
    expect(namesOf(...many)).toEqual(['']);
  });

  it('stays without one if another one has the same ranks', () => {
    const both: readonly Made[] = [
      [7n, 2],
      [8n, 2],
    ];
    expect(namesOf(member([0], ...both), member([4], ...both))).toEqual(['', '']);
    const named: readonly Made[] = [
      [7n, 2],
      [8n, 2, 'dp'],
    ];
    expect(namesOf(member([0], ...named), member([4], ...named))).toEqual(['', 'dp']);
    const ids = [member([0], [7n, 2], [0n, 2]), member([4], [7n, 2], [0n, 2])];
    expect(namedApart(ids)[0]!.scan.communicators.map(({ name }) => name)).toEqual(['ranks 0,4', '']);
  });
});
