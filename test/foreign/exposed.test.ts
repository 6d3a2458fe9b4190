/** Exposed communication: by hand, and against counting tick by tick. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exposedSpans, exposureOf, isStep } from '../../src/foreign/beside/exposed.js';

describe('exposed communication', () => {
  // NCCL runs 10 to 30 on one stream and 20 to 40 on another, then 60 to 70. Two kernels cover 0 to 15 and 25 to 28, one begins at the end of another.
  const by = exposureOf([60, 70, 10, 30, 20, 40], [25, 28, 0, 10, 10, 15, 68, 90]);

  it('is the time of NCCL that no other kernel covers', () => {
    expect(by(0, 100)).toEqual({ nccl: 40, overlapped: 5 + 3 + 2, exposed: 30 });
  });

  it.each([
    [0, 10, 0, 0],
    [10, 15, 5, 5],
    [12, 27, 15, 3 + 2],
    [40, 60, 0, 0],
    [28, 65, 12 + 5, 0],
    [69, 200, 1, 1],
  ])('from %i to %i counts what runs there', (from, to, nccl, overlapped) => {
    expect(by(from, to)).toEqual({ nccl, overlapped, exposed: nccl - overlapped });
  });

  it('of steps that follow each other adds up', () => {
    const parts = [0, 7, 22, 41, 100].map((to, i, all) => (i === 0 ? null : by(all[i - 1]!, to)));
    const sum = (name: 'nccl' | 'exposed'): number => parts.reduce((so, one) => so + (one?.[name] ?? 0), 0);
    expect([sum('nccl'), sum('exposed')]).toEqual([40, 30]);
  });

  it('lies where NCCL runs and no other kernel does', () => {
    const [nccl, compute] = [
      [60, 70, 10, 30, 20, 40],
      [25, 28, 0, 10, 10, 15, 68, 90],
    ];
    expect(exposedSpans(nccl, compute, 0, 100)).toEqual([15, 25, 28, 40, 60, 68]);
    expect(exposedSpans(nccl, compute, 20, 65)).toEqual([20, 25, 28, 40, 60, 65]);
    expect(exposedSpans([], compute, 0, 100)).toEqual([]);
  });

  it('of nothing is nothing', () => {
    expect(exposureOf([], [1, 2])(0, 9)).toEqual({ nccl: 0, overlapped: 0, exposed: 0 });
  });

  it('is what counting each tick says', () => {
    const spans = fc.array(fc.tuple(fc.nat(90), fc.nat(9)), { maxLength: 12 });
    fc.assert(
      fc.property(spans, spans, fc.nat(100), fc.nat(100), (a, b, one, other) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const flat = (list: typeof a): number[] => list.flatMap(([start, length]) => [start, start + length]);
        const isIn = (list: typeof a, tick: number): boolean =>
          list.some(([start, length]) => tick >= start && tick < start + length);
        const ticks = Array.from({ length: to - from }, (_, i) => from + i).filter((tick) => isIn(a, tick));
        const overlapped = ticks.filter((tick) => isIn(b, tick)).length;
        const exposed = ticks.filter((tick) => !isIn(b, tick));
        const ends = exposedSpans(flat(a), flat(b), from, to);
        const isExposed = (tick: number): boolean =>
          ends.some((start, i) => i % 2 === 0 && tick >= start && tick < ends[i + 1]!);
        expect(ticks.filter(isExposed)).toEqual(exposed);
        expect(ends.reduce((sum, end, i) => sum + (i % 2 === 0 ? -end : end), 0)).toBe(exposed.length);
        expect(exposureOf(flat(a), flat(b))(from, to)).toEqual({
          ...{ nccl: ticks.length, overlapped, exposed: ticks.length - overlapped },
        });
      }),
    );
  });
});

describe('a training step', () => {
  it.each(['ProfilerStep#551', 'step 7', 'Step_12', 'iteration 3', 'iter#4', 'train_step_9', 'step:1'])(
    'is %s',
    (name) => {
      expect(isStep(name)).toBe(true);
    },
  );

  it.each(['Optimizer.step#AdamW.step', 'step', 'steps 7', 'aten::mm', 'ProfilerStep*', 'warm up step 7 a'])(
    'is not %s',
    (name) => {
      expect(isStep(name)).toBe(false);
    },
  );
});
