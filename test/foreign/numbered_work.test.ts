/** PyTorch's numbers of operations against what the times of kernels say. */

import { expect, it } from 'vitest';
import { checkNumbers, remember, type Operations } from '../../src/foreign/beside/numbered_work.js';

/** Works of one communicator, by the time when they ended. */
const worksAt = (...times: number[]) =>
  times.map((at, i) => ({
    ...{ func: 'AllGather', type: null, at, called: at - 1000, comm: 0 },
    ...{ row: i, correlation: 100 + i, arrow: null },
  }));
const kernel = (id: string | null, seq: number | null) => ({
  func: 'AllGather',
  numbered: { group: '0', id, seq },
});

it('coalesced calls have one Comms Id, and a rank may match any of them', () => {
  // The first three ran in one kernel.
  const works = worksAt(1e6, 1e6 + 10, 1e6 + 20, 9e6);
  const operations: Operations = new Map();
  const kernels = [kernel('a', 0), kernel('b', 1)];
  remember(kernels, [0, 3], works, operations);
  expect(checkNumbers(kernels, [2, 3], works, operations)).toMatchObject({ numbered: 2, contradicted: 0 });
});

it('one Comms Id is not two collectives that end at other times', () => {
  const works = worksAt(1e6, 5e6, 9e6);
  const operations: Operations = new Map();
  const kernels = [kernel('a', null), kernel('b', null)];
  remember(kernels, [0, 1], works, operations);
  expect(checkNumbers(kernels, [1, 2], works, operations)).toEqual({
    ...{ works: [null, null], numbered: 2, contradicted: 2 },
  });
});

it('Seq ascends with the calls: as few as possible are wrong', () => {
  const works = worksAt(1e6, 2e6, 3e6, 4e6);
  const kernels = [5, 6, 2, 8].map((seq) => kernel(null, seq));
  expect(checkNumbers(kernels, [0, 1, 2, 3], works, new Map()).works).toEqual([0, 1, null, 3]);
});
