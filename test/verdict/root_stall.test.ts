/** Several stalls at once: which are causes, which only wait for one, and who is the odd one. */

import { describe, expect, it } from 'vitest';
import { Wait } from '../../src/model/waits.js';
import { verdictText } from '../../src/report/verdict_text.js';
import { suspects } from '../../src/verdict/facts/suspects.js';
import { judge } from '../../src/verdict/judge.js';
import { done, evidence, open, waitingFor, type MadeUpCall, type MadeUpRank } from './evidence.js';
import { report } from './report.js';

/** Each stall: its communicator, the files that it names, and by which finding it is explained. */
const findings = (...made: Parameters<typeof evidence>) =>
  judge(evidence(...made)).findings.flatMap(({ rule, where, who, because }) =>
    rule === 'stuck' ? [[where?.comm, who.files, because]] : [],
  );

describe('circles of sends and receives', () => {
  const first = (func: 'Send' | 'Recv', peer: number, at = 10): MadeUpCall => {
    const name = func === 'Send' ? Wait.Peer : Wait.Recv;
    const ops = [waitingFor(peer, { isSend: func === 'Send', wait: { step: 0, name, since: 10 as never } })];
    return open(0, at, { func, seq: null, peer, group: 0, ops });
  };
  const receivesFirst = (peer: number): MadeUpRank => ({
    calls: [first('Recv', peer), open(0, 10.1, { func: 'Send', seq: null, peer, group: 1 })],
  });
  const pairs = [1, 0, 3, 2, 5, 4].map(receivesFirst);

  it('are all told, each with its ranks', () => {
    const verdict = judge(evidence(pairs));
    expect(verdictText(report(verdict, 6), [{ command: 'next' }]).slice(0, 9)).toEqual([
      'HUNG  Recv/Send on world (6 ranks): look at rank 0 or 1',
      '  stuck:          since 03:00:10 UTC (89.9 s)',
      '  in a circle:    rank 0: Recv from 1, then Send to 1',
      '                  rank 1: Recv from 0, then Send to 0',
      '  not finished:   2 ranks (0-1)',
      '  operations:     2 recv wait',
      '  look at:        rank 0 ch 0 recv from 1, step 0 of 12 in recv wait',
      '  stuck too:      Recv/Send on world: look at rank 2 or 3',
      '                  Recv/Send on world: look at rank 4 or 5',
    ]);
  });

  it('are told without the ranks that wait for one of them', () => {
    const sendsTo4 = open(0, 10.2, { func: 'Send', seq: null, peer: 4, group: 2 });
    const ranks = pairs.slice(0, 4).with(2, { calls: [...pairs[2]!.calls, sendsTo4] });
    expect(findings([...ranks, { calls: [first('Recv', 2)] }])).toEqual([
      ['world', [0, 1], null],
      ['world', [2, 3], null],
    ]);
  });
});

describe('of several stalls', () => {
  const comms = {
    a: { id: 1n, members: [0, 1, 2, 3] },
    b: { id: 2n, members: [0, 1, 2, 3] },
    c: { id: 3n, members: [2, 3] },
  };
  const stuck = (comm: string, at: number): MadeUpCall => open(1, at, { comm });
  const before = ['a', 'b', 'c'].map((comm, i) => done(0, 1 + i, { comm }));
  const there: MadeUpRank['calls'] = [...before.slice(0, 2)];

  it('one that lacks another rank, too, is a finding of its own', () => {
    const ranks = [
      { calls: [...there, stuck('a', 10), stuck('b', 10.1)] },
      { calls: there },
      { calls: [...before, stuck('a', 10)] },
      { calls: [...before, stuck('a', 10), stuck('b', 10.1)] },
    ];
    expect(findings(ranks, { comms })).toEqual([
      ['a', [1], null],
      // Rank 2 is stuck in `a`, and rank 1 is missing in both.
      ['b', [1, 2], 0],
    ]);
    const alsoWithout2 = ranks.with(2, { calls: [...before] });
    expect(findings(alsoWithout2, { comms: { ...comms, a: { id: 1n, members: [0, 1, null, 3] } } })).toEqual([
      ['a', [1], null],
      ['b', [1, 2], null],
    ]);
  });

  it('each of two that lack different ranks is a finding, though a third one lacks both', () => {
    const pairs = { a: { id: 1n, members: [0, 1] }, c: { id: 3n, members: [2, 3] } };
    const all = { b: { id: 2n, members: [0, 1, 2, 3] }, ...pairs };
    const calls = (comm: string, isStuck: boolean): MadeUpRank => ({
      calls: [
        done(0, 1, { comm }),
        done(0, 2, { comm: 'b' }),
        ...(isStuck ? [stuck(comm, 10), stuck('b', 11)] : []),
      ],
    });
    const ranks = [calls('a', true), calls('a', false), calls('c', true), calls('c', false)];
    expect(findings(ranks, { comms: all })).toEqual([
      ['a', [1], null],
      ['c', [3], null],
      ['b', [1, 3], null],
    ]);
  });

  it('the one that was called first is the cause where only calls are recorded', () => {
    // Within one node without KernelCh no end is known.
    const called = (comm: string, seq: number, at: number): MadeUpCall =>
      done(seq, at, { comm, noEnd: true });
    const two = { a: { id: 1n, members: [0, 1, 2] }, pair: { id: 2n, members: [1, 3] } };
    const all = [called('a', 0, 1), called('pair', 0, 2)];
    const ranks = [
      { calls: [called('a', 0, 1), called('a', 1, 10)] },
      { calls: [...all, called('a', 1, 10)] },
      { calls: [called('a', 0, 1)] },
      { calls: [called('pair', 0, 2), called('pair', 1, 9)] },
    ];
    expect(findings(ranks, { comms: two })).toEqual([
      ['a', [2], null],
      ['pair', [1], 0],
    ]);
  });
});

describe('a rank that called alone what nobody else called', () => {
  const comms = { world: { id: 1n, members: [0, 1, 2, 3] }, dp: { id: 2n, members: [0, 1, 3] } };
  const works = (from: number, to: number): MadeUpCall[] =>
    Array.from({ length: to - from }, (_, i) => done(from + i, 2 + from + i, { comm: 'dp' }));
  const goesOn: MadeUpRank = { calls: [done(0, 1), ...works(0, 97)], isAlive: true };
  const alone: MadeUpRank = { calls: [done(0, 1), open(1, 10)], isAlive: true };

  it('is named, not those that go on', () => {
    const verdict = judge(evidence([goesOn, goesOn, alone, goesOn], { comms }));
    expect(verdict.kind).toBe('waiting');
    expect(suspects(verdict)).toEqual([2]);
    expect(verdictText(report(verdict, 4))[0]).toBe(
      'WAITING  AllReduce seq 1 on world (4 ranks): rank 2 called it alone',
    );
  });

  it('is named if the others left the communicator', () => {
    const left: MadeUpRank = { calls: [done(0, 1, { finalized: 12 })], alive: 12, closed: true };
    expect(suspects(judge(evidence([left, left, { ...alone }, left])))).toEqual([2]);
  });

  it('is not named if the others exited without ncclCommDestroy, perhaps by an error', () => {
    const ended: MadeUpRank = { calls: [done(0, 1)], alive: 12, closed: true };
    expect(suspects(judge(evidence([ended, ended, { ...alone }, ended])))).toEqual([0, 1, 3]);
  });

  it('is named in a hang if the others have nothing to do, not before', () => {
    const stands: MadeUpRank = { calls: [done(0, 1), ...works(0, 8)] };
    const ranks = [stands, stands, alone, stands];
    expect(suspects(judge(evidence(ranks, { comms })))).toEqual([2]);
    const early = judge(
      evidence(
        ranks.map((rank) => ({ ...rank, isAlive: true })),
        { comms, end: 20 },
      ),
    );
    expect([early.kind, ...suspects(early)]).toEqual(['waiting', 0, 1, 3]);
  });

  it('is not named if half of the ranks called', () => {
    expect(suspects(judge(evidence([goesOn, alone, alone, goesOn], { comms }))).slice(0, 2)).toEqual([0, 3]);
  });
});
