/** In which node the data of a ring stayed: by the times at which they came in and went out, and by what its wires did. */

import { describe, expect, it } from 'vitest';
import type { ClusterComm, Collective } from '../../src/cluster/collective_view.js';
import type { Case } from '../../src/verdict/case.js';
import type { Passage } from '../../src/verdict/file_facts.js';
import { takenLate } from '../../src/verdict/slow_taker.js';

const MS = 1e6;
const COMM = 7n;

/** What one node of two ranks shows: its first rank receives, its second one sends. Times in ms after the begin of the collective. */
interface Passed {
  readonly arrived: number;
  readonly filled: number;
  readonly onWire?: number;
  readonly steps?: number;
}

const NOTHING = { sends: 0, sentSteps: 0, sentAt: NaN, onWire: NaN, receivedSteps: 0, receivedAt: NaN };

/** The ring of 4 ranks on 2 nodes, LL, 6 steps in each operation: one collective of 60 ms. */
function waitOf(nodes: readonly [Passed, Passed], seq = 0) {
  const call = {
    ...{ func: 'AllReduce', seq, ordinal: 0, plan: 'RING/LL', isTree: false },
    ...{ heldFrom: NaN, heldTo: NaN, heldChannel: NaN, freeFrom: 0, begins: NaN, data: NaN, noRoom: 0 },
  };
  const ranks = nodes.flatMap(({ arrived, filled, onWire = 0, steps = 6 }, node) => {
    const comes = { ...call, ...NOTHING, receivedSteps: 6, receivedAt: arrived * MS };
    const goes = {
      ...{ ...call, ...NOTHING, sends: 1, sentSteps: steps },
      ...{ sentAt: filled * MS, onWire: onWire * MS },
    };
    return [comes, goes].map((passage: Passage, i) => ({
      node: { id: `n${node}`, name: `n${node}`, machine: `m${node}` },
      communicators: new Map([[0, { commId: COMM, rank: 2 * node + i, nRanks: 4, nNodes: 2 }]]),
      calls: {
        eachPassage: (_: bigint, visit: (one: Passage) => void) => {
          visit(passage);
        },
      },
    }));
  }) as unknown as Case['ranks'];
  const one = { func: 'AllReduce', seq: 0, ordinal: 0, lastArrival: 0, end: 60 * MS } as Collective;
  const comm = { commId: COMM, files: [0, 1, 2, 3], collectives: [one] } as unknown as ClusterComm;
  const found = takenLate(comm, [one], 4, { ranks } as Case);
  return found && [...found.byNode].map(([first, [wait]]) => [first, (wait!.to - wait!.from) / MS]);
}

describe('the node in which data stayed', () => {
  it('costs the share of a lap that they queued there', () => {
    // 6 steps stay 10 ms longer: 1 of the 4 slices under way queues, a quarter of 60 ms. Its first file is 2.
    expect(
      waitOf([
        { arrived: 30, filled: 15 },
        { arrived: 30, filled: 25 },
      ]),
    ).toEqual([[2, 15]]);
  });

  it('costs no more than the GPUs of the other node were idle', () => {
    // As much stays in the other node, but for 1 ms: 6 slices of 20 ms through 2 GPUs are its 60 ms.
    expect(
      waitOf([
        { arrived: 20, filled: 20 },
        { arrived: 20, filled: 21 },
      ]),
    ).toEqual([]);
  });

  it('is not one whose wire was busy, and the other one has nothing to compare with', () => {
    expect(
      waitOf([
        { arrived: 30, filled: 15 },
        { arrived: 30, filled: 25, onWire: 6 },
      ]),
    ).toEqual([]);
  });

  it('is not known if steps are missing, or the collective is another one', () => {
    expect(
      waitOf([
        { arrived: 30, filled: 15 },
        { arrived: 30, filled: 25, steps: 5 },
      ]),
    ).toEqual([]);
    expect(
      waitOf(
        [
          { arrived: 30, filled: 15 },
          { arrived: 30, filled: 25 },
        ],
        1,
      ),
    ).toBeNull();
  });
});
