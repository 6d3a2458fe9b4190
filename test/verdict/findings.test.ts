/** All that was found is kept, and one order chooses the headline. */

import { describe, expect, it } from 'vitest';
import { judge } from '../../src/verdict/judge.js';
import { evidence, type MadeUpCall } from './evidence.js';

const done = (seq: number, at: number, more: Partial<MadeUpCall> = {}): MadeUpCall => ({
  seq,
  at,
  end: at + 0.1,
  ...more,
});
const stuck = (seq: number, at: number, more: Partial<MadeUpCall> = {}): MadeUpCall => ({
  ...done(seq, at, more),
  end: null,
});

const comms = {
  world: { id: 1n, members: [0, 1, 2] },
  pair: { id: 2n, members: [0, 1] },
};

const told = (facts: Parameters<typeof judge>[0]) =>
  judge(facts).findings.map(({ rule, kind, who: { degree, files }, because }) => ({
    rule,
    kind,
    [degree]: files,
    because,
  }));

describe('findings', () => {
  it('of a hang are the stall with the missing rank, and the one that waits behind it as its victim', () => {
    const before = [done(0, 1), done(0, 2, { comm: 'pair' })];
    const behind = stuck(1, 11, { comm: 'pair' });
    const facts = evidence(
      [
        { calls: [...before, stuck(1, 10), behind] },
        { calls: [...before, stuck(1, 10), behind] },
        { calls: [done(0, 1)] },
      ],
      { comms },
    );
    expect(told(facts)).toEqual([
      { rule: 'stuck', kind: 'hung', this: [2], because: null },
      { rule: 'stuck', kind: 'hung', 'nobody known': [], because: 0 },
    ]);
  });

  it('of a hang say since when, where, and which records show it', () => {
    const facts = evidence([{ calls: [done(0, 1), stuck(1, 10)] }, { calls: [done(0, 1)] }]);
    const [first] = judge(facts).findings;
    expect(first).toMatchObject({
      stands: true,
      isSure: true,
      since: 10e9,
      until: null,
      cost: 90e9,
      where: { comm: 'world', func: 'AllReduce', seq: 1 },
      records: [{ file: 0, at: 10e9 }],
    });
  });

  it('keep the slow rank of a job that hangs later', () => {
    const late = Array.from({ length: 40 }, (_, seq) => seq);
    const [early, slow] = [0, 0.5].map((lag) =>
      late.map((seq) => ({ seq, at: seq + lag, end: seq + 0.6 }) satisfies MadeUpCall),
    ) as [MadeUpCall[], MadeUpCall[]];
    const facts = evidence([{ calls: [...early, stuck(40, 50)] }, { calls: slow }]);
    expect(told(facts)).toEqual([
      { rule: 'stuck', kind: 'hung', this: [1], because: null },
      { rule: 'late', kind: 'slow', this: [1], because: null },
    ]);
  });

  it('of different calls in a job that goes on come before a slow rank', () => {
    const late = Array.from({ length: 40 }, (_, seq) => seq);
    const [early, slow] = [0, 0.5].map((lag) =>
      late.map((seq) => ({
        seq,
        at: seq + lag,
        end: seq + 0.6,
        count: seq === 7 && lag > 0 ? 5 : 4,
      })),
    ) as [MadeUpCall[], MadeUpCall[]];
    const facts = evidence([
      { calls: early, closed: true },
      { calls: slow, closed: true },
    ]);
    expect(told(facts).map(({ kind }) => kind)).toEqual(['mismatch', 'slow']);
  });

  it('are none in a healthy run', () => {
    const calls = [done(0, 1), done(1, 2)];
    expect(
      told(
        evidence([
          { calls, closed: true },
          { calls, closed: true },
        ]),
      ),
    ).toEqual([]);
  });
});

it('a communicator that all but one rank left for a smaller one is given up, before the last one counts as silent', () => {
  const goesOn = Array.from({ length: 5 }, (_, seq) => done(seq, 10.5 + seq / 4, { comm: 'pair' }));
  const left = { calls: [stuck(0, 10), ...goesOn], closed: true } as const;
  // The last heartbeat of the second came before, too, but it is in the smaller one.
  const judged = (alive: number) =>
    judge(
      evidence([left, { ...left, alive: 10.2 }, { calls: [stuck(0, 10)], alive, isAlive: true }], {
        ...{ end: 12, hungAfter: 1, comms, setUp: [10.3, 10.3, 10.3] },
      }),
    );
  const { kind, states, findings } = judged(10.1);
  expect([states[2], kind, findings.map(({ rule }) => rule)]).toEqual(['alive', 'healthy', ['given up']]);
  // It still lived when they had left, so it may wait for them.
  expect(judged(11.5).kind).toBe('hung');
});

it('what is over does not hide that the job is still at work', () => {
  const goesOn = [done(0, 10.5, { comm: 'pair' }), stuck(1, 11.9, { comm: 'pair' })];
  const rank = { calls: [stuck(0, 10), ...goesOn], isAlive: true } as const;
  const facts = evidence([rank, rank, { calls: [stuck(0, 10)], alive: 10.1 }], {
    ...{ end: 12, comms, setUp: [10.3, 10.3, 10.3] },
  });
  const { kind, findings } = judge(facts);
  expect([kind, ...findings.map(({ rule }) => rule)]).toEqual(['working', 'at work', 'given up']);
});
