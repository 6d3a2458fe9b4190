/** A receive that was never posted, while its peer waits for the room that it would give. */

import { expect, it } from 'vitest';
import type { PendingOp } from '../../src/model/pending.js';
import { Wait } from '../../src/model/waits.js';
import { verdictText } from '../../src/report/verdict_text.js';
import { suspects } from '../../src/verdict/facts/suspects.js';
import { judge } from '../../src/verdict/judge.js';
import { done, evidence, open, waitingFor, type MadeUpRank } from './evidence.js';
import { report } from './report.js';

const at = (step: number, name: Wait): PendingOp['wait'] => ({ step, name, since: 10 as never });
const recv = (peer: number, wait: PendingOp['wait'], steps = 3): PendingOp =>
  waitingFor(peer, { wait, done: steps });
const send = (peer: number, wait: PendingOp['wait'], steps = 3): PendingOp =>
  waitingFor(peer, { isSend: true, wait, done: steps });

/** A ring of four in which rank 2 has `ops`: rank 1 waits for room there, all others for data. */
const ring = (...ops: readonly PendingOp[]): MadeUpRank[] =>
  [
    [recv(3, at(3, Wait.Recv)), send(1, at(3, Wait.Gpu))],
    [recv(0, at(3, Wait.Recv)), send(2, at(5, Wait.Peer), 4)],
    ops,
    [recv(2, at(3, Wait.Recv)), send(0, at(3, Wait.Gpu))],
  ].map((own) => ({ calls: [done(0, 1), open(1, 10, { ops: own })] }));

const said = (ranks: readonly MadeUpRank[]) => {
  const verdict = judge(evidence(ranks));
  const [first, ...rest] = verdictText(report(verdict, ranks.length));
  return {
    first,
    look: rest.filter((line) => line.includes('wait for') || line.includes('posted')),
    suspects: suspects(verdict),
  };
};

it('names the rank that did not post it, and says so', () => {
  expect(said(ring(recv(1, null), send(3, at(3, Wait.Gpu))))).toEqual({
    first: 'HUNG  AllReduce seq 1 on world (4 ranks): look at rank 2',
    look: [
      '  all wait for:   rank 2 ch 0 recv from 1, 3 of 12 steps',
      '                  it is not posted, and the peer waits for room',
    ],
    suspects: [2],
  });
});

it('names it, too, if NCCL never made the operation', () => {
  expect(said(ring(send(3, at(3, Wait.Gpu))))).toMatchObject({ suspects: [2] });
});

it('of a Recv names its rank, not that of the Send', () => {
  const transfer = (func: string, peer: number, one: PendingOp): MadeUpRank => ({
    calls: [done(0, 1), { ...open(0, 10), func, seq: null, peer, ops: [one] }],
  });
  const ranks = [transfer('Send', 1, send(1, at(5, Wait.Peer), 4)), transfer('Recv', 0, recv(0, null))];
  expect(said(ranks).suspects).toEqual([1]);
});
