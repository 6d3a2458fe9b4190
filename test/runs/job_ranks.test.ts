/** Which rank of the job a communicator's rank is, as far as the files say it. */

import { expect, it } from 'vitest';
import { inJob, jobRanks } from '../../src/runs/job_ranks.js';
import type { Run } from '../../src/runs/run.js';
import { peerName, rankName } from '../../src/trace/tracks/rank_names.js';

type Member = readonly [
  ranks: readonly number[],
  comms: readonly (readonly [id: bigint, rank: number, size: number])[],
];

function namesIn(worldSize: number, members: readonly Member[]) {
  const run = {
    worldSize,
    members: members.map(([ranks, comms]) => ({
      ranks,
      rank: ranks[0] ?? null,
      scan: { communicators: comms.map(([commId, rank, nRanks]) => ({ commId, rank, nRanks })) },
    })),
  } as unknown as Pick<Run, 'members' | 'worldSize'>;
  return { own: 'rank of the process', inJob: inJob(jobRanks(run)) };
}

const TP = { commId: 2n };

it('a rank is named by its number in the job, not by its number in the communicator', () => {
  const names = namesIn(8, [
    [
      [6],
      [
        [1n, 6, 8],
        [2n, 2, 4],
      ],
    ],
    [
      [7],
      [
        [1n, 7, 8],
        [2n, 3, 4],
      ],
    ],
  ]);
  expect(rankName(names, { ...TP, rank: 2 })).toBe('rank 6');
  expect(peerName(names, TP, 3)).toBe('7');
});

it('a rank without a file is named by its number in the communicator, which says so', () => {
  const names = namesIn(8, [
    [
      [6],
      [
        [1n, 6, 8],
        [2n, 2, 4],
      ],
    ],
  ]);
  expect(peerName(names, TP, 3)).toBe('comm rank 3');
  // All of the job: the number is the same in both.
  expect(peerName(names, { commId: 1n }, 3)).toBe('3');
});

it('the ranks of a process with several GPUs are only known in a communicator of the whole job', () => {
  const names = namesIn(4, [
    [
      [0, 1, 2, 3],
      [
        [1n, 0, 4],
        [1n, 1, 4],
        [2n, 0, 2],
        [2n, 1, 2],
      ],
    ],
  ]);
  expect(rankName(names, { commId: 1n, rank: 3 })).toBe('rank 3');
  expect(rankName(names, { ...TP, rank: 1 })).toBe('comm rank 1');
});

it('a communicator without a reported id, or no communicator, names no rank', () => {
  const names = namesIn(2, [[[0], [[0n, 0, 0]]]]);
  expect(peerName(names, { commId: 0n }, 1)).toBe('comm rank 1');
  expect(rankName(names, null)).toBe('rank of the process');
  expect(peerName(names, null, 1)).toBe('comm rank 1');
});
