/** Communicators of a run with their ranks, and what text calls one without a name. */

import { describe, expect, it } from 'vitest';
import { commName } from '../../src/report/verdict_phrases.js';
import { communicatorsOf, type RunCommunicator } from '../../src/runs/communicators.js';
import type { RunMember } from '../../src/runs/run.js';

type Made = readonly [commId: bigint, nRanks: number, name?: string];

const member = (ranks: readonly number[], ...comms: readonly Made[]): RunMember =>
  ({
    ranks,
    scan: { communicators: comms.map(([commId, nRanks, name = '']) => ({ commId, nRanks, name })) },
  }) as unknown as RunMember;

describe('the communicators of a run', () => {
  it('have the ranks of all files that know them, and the name that any file has', () => {
    const members = [
      member([2], [7n, 2], [9n, 4, 'world']),
      member([0], [7n, 2, 'dp'], [9n, 4], [0n, 4]),
      member([11], [9n, 4]),
    ];
    expect(communicatorsOf(members)).toEqual([
      { commId: '0x0000000000000007', comm: 'dp', nRanks: 2, ranks: [0, 2] },
      { commId: '0x0000000000000009', comm: 'world', nRanks: 4, ranks: [0, 2, 11] },
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

describe('text calls a communicator', () => {
  const id = '0x0000000000000007';
  const named = (comm: string, ranks: readonly number[], nRanks: number, others: RunCommunicator[] = []) =>
    commName({ comm, commId: id }, { communicators: [{ commId: id, comm, nRanks, ranks }, ...others] });

  it('by its ranks if it has no name', () => {
    expect(named('', [0, 4], 2)).toBe('ranks 0,4');
    expect(named('', [4, 5, 6, 7], 4)).toBe('ranks 4-7');
    expect(named('dp', [0, 4], 2)).toBe('dp');
  });

  it('by its id if not all ranks are known, or they are too many', () => {
    expect(named('', [0], 2)).toBe(id);
    expect(named('', [], 0)).toBe(id);
    const many = Array.from({ length: 64 }, (_, i) => 3 * i);
    expect(named('', many, 64)).toBe(id);
    expect(commName({ comm: '', commId: null }, { communicators: [] })).toBe('a communicator without id');
  });

  it('by its id if another one has the same ranks', () => {
    const other = { commId: '0x0000000000000008', comm: '', nRanks: 2 };
    expect(named('', [0, 4], 2, [{ ...other, ranks: [0, 4] }])).toBe(id);
    expect(named('', [0, 4], 2, [{ ...other, ranks: [1, 5] }])).toBe('ranks 0,4');
  });
});
