/** Collectives whose ends are not recorded, as within a node by default. A rank that disappeared must not look like a healthy one. */

import { describe, expect, it } from 'vitest';
import { judge } from '../../src/verdict/judge.js';
import type { Verdict } from '../../src/verdict/types.js';
import { done, evidence, s, type MadeUpCall, type MadeUpRank } from './evidence.js';

const noEnd = (seq: number, at: number): MadeUpCall => ({ seq, at, end: at, noEnd: true });
const until = (newest: number): MadeUpCall[] =>
  Array.from({ length: newest + 1 }, (_, seq) => noEnd(seq, 1 + seq / 10));

/** It reached seq 6 at 1.6 s, long before the end of the others. */
const dead: MadeUpRank = { calls: until(6), alive: 1.65 };
const alive: MadeUpRank = { calls: until(7), alive: 38 };
const judged = (ranks: readonly MadeUpRank[], more = {}): Verdict =>
  judge(evidence(ranks, { end: 38, ...more }));
const unclearFor = (...files: number[]) => ({
  kind: 'unclear',
  unclear: { work: null, silent: files.map((file) => ({ file })) },
});

/** No rank is suspect, but the files do not say whether the last work ended. */
const mayBeUnfinished = (...files: number[]) => ({
  kind: 'working',
  working: { files, isUnfinished: false, silent: [] },
});

describe('a rank that disappeared before a collective', () => {
  it('is named as never entered, because the others are stuck in it', () => {
    expect(judged([alive, dead, alive])).toMatchObject({
      kind: 'hung',
      hang: {
        seq: 7,
        since: s(1.7),
        neverEntered: [{ file: 1, stuckIn: null, newest: { seq: 6 } }],
        waiting: [],
        silent: [{ file: 1, mayBeCopy: false }],
      },
    });
  });

  it('is named also if the others left the collective in the end', () => {
    const left: MadeUpRank = { ...alive, closed: true };
    expect(judged([left, dead, left])).toMatchObject({ kind: 'hung', hang: { neverEntered: [{ file: 1 }] } });
  });

  it('is named with the first of several collectives that the others began', () => {
    const ahead: MadeUpRank = { calls: until(9), alive: 38 };
    expect(judged([ahead, dead, alive])).toMatchObject({ kind: 'hung', hang: { seq: 7, since: s(1.9) } });
  });

  it('is not named as never entered while the others move on', () => {
    const moving: MadeUpRank = { calls: [...until(7), noEnd(8, 37.5)], alive: 38 };
    expect(judged([moving, dead, moving])).toMatchObject(unclearFor(1));
  });

  it('is not named so if its file may be an earlier copy: the others went on long after its last sign', () => {
    const later: MadeUpRank = { calls: [...until(7), noEnd(8, 4)], alive: 8 };
    expect(judged([later, dead, later])).toMatchObject({
      kind: 'unclear',
      unclear: { silent: [{ file: 1, mayBeCopy: true }] },
    });
    // A file that is recent or closed does not show when the others were copied.
    for (const more of [{ isAlive: true }, { closed: true }] as const)
      expect(judged([later, dead, { ...later, ...more }])).toMatchObject(unclearFor(1));
    expect(judged([later, { ...dead, isNoEarlierCopy: true }, later])).toMatchObject({ kind: 'hung' });
  });

  it('is not named so if its records end before its last sign or begin too late, or if its clock is not related', () => {
    for (const more of [
      { knownUntil: 1.2 },
      { knownFrom: 1.68 },
      { damaged: true, knownFrom: Infinity },
    ] as const)
      expect(judged([alive, { ...dead, ...more }, alive]).kind).toBe('unclear');
    expect(judged([alive, dead, alive], { comparable: false }).kind).not.toBe('hung');
  });

  it('is silent also if no clock relates the hosts, but both set up a communicator', () => {
    const unrelated = (...ends: number[]) =>
      judged(
        ends.map((end) => ({ calls: until(7), alive: end })),
        { comparable: false, setUp: [0.5, 0.7, 1000] },
      );
    expect(unrelated(20, 1.9, 1019.4)).toMatchObject(unclearFor(1));
    // The set-ups may be a second apart, and a heartbeat may be due.
    expect(unrelated(20, 18, 1019.4)).toMatchObject(mayBeUnfinished(0, 1, 2));
  });

  it('is named at once if its process has certainly ended while others live', () => {
    const live: MadeUpRank = { calls: until(7), alive: 1.8, isAlive: true };
    const gone: MadeUpRank = { ...dead, isGone: true };
    expect(judged([live, gone, live], { end: 1.8 })).toMatchObject({
      ...unclearFor(1),
      unclear: { silent: [{ file: 1, isGone: true, mayBeCopy: false }] },
    });
    // Also if the others are in the middle of work, and not for long.
    const inWork: MadeUpRank = {
      calls: [...until(6), { seq: 7, at: 1.7, end: null }],
      alive: 1.8,
      isAlive: true,
    };
    expect(judged([inWork, gone, inWork], { end: 1.8 })).toMatchObject(unclearFor(1));
    // If all have ended, it may only be the first.
    const over: MadeUpRank = { ...live, isGone: true };
    delete (over as { isAlive?: true }).isAlive;
    expect(judged([over, gone, over], { end: 1.8 })).toMatchObject(mayBeUnfinished(0, 1, 2));
  });
});

/** A training step each 0.4 s up to 12 s, with a collective in the middle. Then it writes a checkpoint up to `end`. */
const job = (end: number): MadeUpCall[] =>
  Array.from({ length: 30 }, (_, seq) => noEnd(seq, 0.2 + seq * 0.4)).filter(({ at }) => at <= end);
/** Its file, as it was at `at`: heartbeats come once a second. */
const copiedAt = (at: number): MadeUpRank => {
  const calls = job(at);
  const newest = calls.at(-1)!.at;
  return { calls, alive: Math.max(newest, Math.floor(at)) };
};
const copyTimes = Array.from({ length: 60 }, (_, i) => 3 + i * 0.2);

describe('a healthy job that was copied file by file', () => {
  const kinds = (others: MadeUpRank): string[] =>
    copyTimes.map((at) => judge(evidence([others, copiedAt(at), others], { end: 17 })).kind);
  const of = ['healthy', 'unclear'];

  it('is not called hung, whenever one of its files was copied', () => {
    for (const at of copyTimes) {
      const later = copiedAt(at + 4);
      expect(of).toContain(judge(evidence([later, copiedAt(at), later])).kind);
    }
    for (const kind of kinds({ calls: job(17), alive: 17 })) expect(of).toContain(kind);
  });

  it('is not called hung if the newest copy is so recent that its rank was seen alive', () => {
    for (const kind of kinds({ calls: job(17), alive: 17, isAlive: true })) expect(of).toContain(kind);
  });

  it('is not called hung if the others were closed by then, after a checkpoint', () => {
    for (const kind of kinds({ calls: job(17), alive: 17, closed: true })) expect(of).toContain(kind);
  });

  it('is not called hung if an earlier pause was as long', () => {
    const calls = [...until(5), noEnd(6, 40), noEnd(7, 41)];
    const later: MadeUpRank = { calls, alive: 100 };
    const early: MadeUpRank = { calls: calls.slice(0, -1), alive: 40.5 };
    expect(judge(evidence([later, early, later])).kind).toBe('unclear');
    const muchLater = { ...later, alive: 130 };
    expect(judge(evidence([muchLater, early, muchLater], { end: 130 })).kind).toBe('hung');
  });
});

describe('a rank that fell silent when it had entered all that the others did', () => {
  const same: MadeUpRank = { calls: until(7), alive: 1.9 };

  it('may have left them in it, or have ended', () => {
    expect(judged([alive, same, alive])).toMatchObject(unclearFor(1));
    expect(judged([alive, same, { ...alive, closed: true }])).toMatchObject(unclearFor(1));
  });

  it('has left nobody in a collective that surely ended', () => {
    const ended = until(7).map((call): MadeUpCall => done(call.seq!, call.at));
    const verdict = judged([
      { calls: ended, alive: 8, closed: true },
      { ...same, calls: ended },
    ]);
    expect(verdict).toMatchObject({ kind: 'healthy', silent: [{ file: 1 }] });
  });

  it('may have left them in a collective that was not recorded', () => {
    const calls = [done(0, 1), done(4, 1.4)];
    const sampleEvery = 4;
    const lives: MadeUpRank = { calls, alive: 8, sampleEvery };
    expect(judged([lives, { calls, alive: 1.9, sampleEvery }, lives])).toMatchObject({
      ...unclearFor(1),
      sampled: [{ every: 4, files: [0, 1, 2] }],
    });
    const muted: MadeUpRank = { calls, alive: 8, isMuted: true };
    expect(judged([muted, { calls, alive: 1.9 }, muted])).toMatchObject({ ...unclearFor(1), muted: [0, 2] });
  });

  it('has left nobody in a collective before one that ended', () => {
    const ended = [...until(6), done(7, 1.7)];
    expect(
      judged([
        { calls: ended, alive: 8 },
        { calls: ended, alive: 1.9 },
      ]).kind,
    ).toBe('healthy');
  });

  it('is not silent beside others that ended at the same time', () => {
    const files = [same, same, { ...same, alive: 2.5 }];
    expect(judged(files)).toMatchObject(mayBeUnfinished(0, 1, 2));
    expect(judged(files.map((file) => ({ ...file, isAlive: true }))).kind).toBe('healthy');
  });

  it('is not silent while all ranks pause for a while', () => {
    const briefly = { ...alive, alive: 31 };
    expect(judged([briefly, briefly, briefly])).toMatchObject(mayBeUnfinished(0, 1, 2));
    expect(judged([alive, alive, alive])).toMatchObject({
      kind: 'unclear',
      unclear: { idle: { files: [0, 1, 2] } },
    });
  });

  it('leaves nobody in a communicator of others', () => {
    const comms = { world: { id: 1n, members: [0, 1, 2] }, tp: { id: 2n, members: [0, 2] } };
    const calls: MadeUpCall[] = [done(0, 1), { ...noEnd(0, 2), comm: 'tp' }];
    const other: MadeUpRank = { calls, alive: 8 };
    const verdict = judged([other, { calls: [done(0, 1)], alive: 1.5 }, other], { comms });
    expect(verdict).toMatchObject({ kind: 'working', working: { files: [0, 2], isUnfinished: false } });
  });

  it('may have left a send or receive', () => {
    const send: MadeUpCall = { func: 'Send', seq: null, peer: 1, at: 1.8, end: 1.8, noEnd: true };
    const receive: MadeUpCall = { ...send, func: 'Recv', peer: 0 };
    const [sends, receives] = [
      [done(0, 1), send],
      [done(0, 1), receive],
    ];
    expect(
      judged([
        { calls: sends, alive: 8 },
        { calls: receives, alive: 1.9 },
      ]),
    ).toMatchObject(unclearFor(1));
  });
});
