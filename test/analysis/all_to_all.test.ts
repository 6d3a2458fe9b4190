/** AlltoAlls of sends and receives: which communicators have them, and which rank has more than the others. */

import { describe, expect, it } from 'vitest';
import { allToAlls, type AllToAll } from '../../src/analysis/all_to_all.js';
import { narrow } from '../../src/base/columns.js';
import type { Run } from '../../src/runs/run.js';

const CALLS = 5;
const KIB = 1024;

/** `bytes`: that `from` sends to `to` in each call. `seen`: ranks with a file. */
function run(size: number, bytes: (from: number, to: number) => number, seen = size): readonly AllToAll[] {
  const ranks = Array.from({ length: size }, (_, rank) => rank);
  const members = ranks.slice(0, seen).map((rank) => {
    const rows = Array.from({ length: CALLS }, () =>
      ranks.flatMap((peer) => [
        { func: 0, peer, count: bytes(rank, peer) / 4 },
        { func: 1, peer, count: bytes(peer, rank) / 4 },
      ]),
    )
      .flat()
      .filter(({ count }) => count > 0);
    const column = (of: (row: (typeof rows)[number]) => number) => narrow(rows.map(of));
    const works = {
      ...{ funcs: ['Send', 'Recv'], datatypes: ['ncclFloat32'] },
      ...{ seq: column(() => -1), comm: column(() => 7), datatype: column(() => 0) },
      ...{
        func: column(({ func }) => func),
        peer: column(({ peer }) => peer),
        count: column(({ count }) => count),
      },
    };
    return { scan: { works, communicators: [{ number: 7, commId: 9n, name: 'world', rank, nRanks: size }] } };
  });
  return allToAlls({ members } as unknown as Run, { ofFile: (file) => file, inComm: (_, rank) => rank });
}

describe('allToAlls', () => {
  it('counts what each rank sends and receives in a call, without what it keeps', () => {
    const [found] = run(4, (from) => (from === 1 ? 2 : 1) * KIB);
    expect(found).toMatchObject({ comm: 'world', commId: '0x0000000000000009', commSize: 4 });
    expect(found!.ranks[1]).toEqual({ rank: 1, calls: CALLS, sent: 6 * KIB, received: 3 * KIB });
  });

  it('finds the rank that receives or sends most, if it is twice as much', () => {
    const receives = run(4, (_, to) => (to === 2 ? 6 : 1) * KIB)[0]!.most;
    expect(receives).toEqual({ rank: 2, receives: true, bytes: 18 * KIB, usual: 3 * KIB, calls: CALLS });
    const sends = run(4, (from) => (from === 3 ? 3 : 1) * KIB)[0]!.most;
    expect(sends).toMatchObject({ rank: 3, receives: false, bytes: 9 * KIB, usual: 3 * KIB });
    expect(run(4, (from) => (from === 3 ? 1.9 : 1) * KIB)[0]!.most).toBeNull();
  });

  it('is none of neighbours, of two ranks, nor where a rank has no file', () => {
    expect(run(6, (from, to) => ((from + 1) % 6 === to ? KIB : 0))).toEqual([]);
    expect(run(2, () => KIB)).toEqual([]);
    expect(run(4, () => KIB, 3)).toEqual([]);
  });

  it('is one although some ranks have nothing for others', () => {
    expect(run(5, (from, to) => (from === 0 && to > 2 ? 0 : KIB))).toHaveLength(1);
  });
});
