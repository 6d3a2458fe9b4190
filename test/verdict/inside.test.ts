/** Ranks inside a call of NCCL: it makes connections at first use, and waits there for its peers. */

import { describe, expect, it } from 'vitest';
import { judge } from '../../src/verdict/judge.js';
import { suspects } from '../../src/verdict/facts/suspects.js';
import { done, evidence, s, type MadeUpRank } from './evidence.js';

/** Inside the AllReduce that it calls first, or after others. */
const inside = (at: number, more: Partial<MadeUpRank> = {}): MadeUpRank => ({
  calls: [],
  asked: [{ at }],
  inside: [{ at }],
  ...more,
});
const outside: MadeUpRank = { calls: [], asked: [] };

describe('ranks inside their first call', () => {
  it('hang after a long time, and the rank that never called is named', () => {
    const verdict = judge(evidence([inside(10), inside(11), outside]));
    expect(verdict).toMatchObject({
      kind: 'hung',
      hang: {
        func: 'AllReduce',
        seq: null,
        since: s(11),
        age: s(89),
        neverEntered: [{ file: 2 }],
        inside: [{ file: 0 }, { file: 1 }],
      },
    });
    expect(suspects(verdict)[0]).toBe(2);
  });

  it('wait for a short time first', () => {
    expect(judge(evidence([inside(10), inside(11), outside], { end: 30 })).kind).toBe('waiting');
  });

  it('have no culprit if all ranks are inside', () => {
    expect(judge(evidence([inside(10), inside(11)]))).toMatchObject({
      kind: 'hung',
      hang: { neverEntered: [], inside: [{ file: 0 }, { file: 1 }] },
    });
  });

  it('name the rank that never called, too, if only the set-up of the communicator relates the clocks', () => {
    // Its clock is 1000 s ahead.
    const ranks = [inside(10), inside(11), { ...outside, alive: 1100 }];
    const unrelated = (setUp?: readonly number[]) =>
      judge(evidence(ranks, { comparable: false, ...(setUp && { setUp }) }));
    expect(unrelated([5, 5.1, 1005])).toMatchObject({ kind: 'hung', hang: { neverEntered: [{ file: 2 }] } });
    // Its file ends before the others called.
    expect(unrelated([5, 5.1, 1095])).toMatchObject({ hang: { neverEntered: [] } });
    expect(unrelated()).toMatchObject({ hang: { neverEntered: [] } });
  });

  it('wait for a rank that is stuck in another communicator', () => {
    const comms = { world: { id: 1n, members: [0, 1, 2] }, dp: { id: 2n, members: [2, null] } };
    const stuck: MadeUpRank = { calls: [{ comm: 'dp', seq: 0, at: 5, end: null }], asked: [] };
    const verdict = judge(evidence([inside(10), inside(11), stuck], { comms }));
    expect(verdict).toMatchObject({
      kind: 'hung',
      hang: { comm: 'dp' },
      findings: [{ because: null }, { where: { comm: 'world' }, because: 0 }],
    });
  });
});

describe('a rank inside ncclSend', () => {
  const calls = [done(0, 1)];
  const sends: MadeUpRank = { calls, inside: [{ func: 'Send', at: 10 }] };

  it('is reported with the only rank that lives outside of it', () => {
    const verdict = judge(evidence([sends, { calls }, { calls, alive: 12, closed: true }]));
    expect(verdict).toMatchObject({ kind: 'hung', hang: { func: 'Send', neverEntered: [{ file: 1 }] } });
    expect(suspects(verdict)).toEqual([1, 0]);
  });

  it('is reported alone if several ranks may be its peer', () => {
    const verdict = judge(evidence([sends, { calls }, { calls }]));
    expect(verdict).toMatchObject({ kind: 'hung', hang: { neverEntered: [], inside: [{ file: 0 }] } });
    expect(suspects(verdict)).toEqual([0]);
  });

  it('comes before a collective that misses it, if fewer ranks are missed', () => {
    const sending: MadeUpRank = { calls: [], asked: [], inside: [{ func: 'Send', at: 12 }] };
    const exchanged = { seq: null, peer: 3, at: 1, end: 2, func: 'Recv' };
    const gone: MadeUpRank = { calls: [exchanged], asked: [{ at: 11 }], inside: [{ at: 11 }] };
    const skipped: MadeUpRank = { ...gone, calls: [], asked: [{ at: 10 }], inside: [{ at: 10 }] };
    const verdict = judge(evidence([skipped, sending, sending, gone, gone]));
    expect(verdict).toMatchObject({ hang: { func: 'Send', neverEntered: [{ file: 0 }] } });
    expect(suspects(verdict)[0]).toBe(0);
  });

  it('is reported with the only rank that never sent or received, if the others went on to a collective', () => {
    const exchanged = { seq: null, peer: 3, at: 1, end: 2 };
    const goesOn = (more: Partial<MadeUpRank>): MadeUpRank => ({
      calls: [],
      asked: [{ at: 11 }],
      inside: [{ at: 11 }],
      ...more,
    });
    const others = [
      { calls: [{ ...exchanged, func: 'Recv' }] },
      { calls: [{ ...exchanged, func: 'Send', peer: 2 }] },
    ];
    const waits: MadeUpRank = { calls: [], asked: [], inside: [{ func: 'Send', at: 10 }] };
    const verdict = judge(evidence([waits, goesOn({}), ...others.map(goesOn)]));
    expect(verdict).toMatchObject({
      kind: 'hung',
      hang: {
        func: 'Send',
        inside: [{ file: 0 }],
        neverEntered: [{ file: 1, isIn: { func: 'AllReduce' } }],
      },
      findings: [{}, { where: { func: 'AllReduce' } }],
    });
    expect(suspects(verdict)[0]).toBe(1);
    // What it did before is not known.
    const partly = judge(evidence([waits, goesOn({ knownFrom: 5 }), ...others.map(goesOn)]));
    expect(partly).toMatchObject({ kind: 'hung', hang: { func: 'Send', neverEntered: [] } });
  });
});
