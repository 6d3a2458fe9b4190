/** Stand-ins for operations whose start was overwritten: they end. */

import { describe, expect, it } from 'vitest';
import { draw, type Picture } from '../../support/traces/picture.js';
import { argOf, outline, recording } from '../../support/made_up/recording.js';

type Made = ReturnType<typeof recording>;

/** Steps of an operation whose start was overwritten, [start, stop]; null: never stopped. */
function stepsOf(
  { comm, ops, steps }: Made,
  position: number,
  times: readonly [number, number | null][],
): void {
  const parent = ops.handleAt(position);
  times.forEach(([from, to], step) => {
    const handle = steps.startProxyStep(from, { comm, parent, step });
    steps.state(from + 1, handle, 10);
    if (to !== null) steps.stop(to, handle);
  });
}

const lines = ({ sink }: Picture): string[] => outline(sink.of(/before the window[^/]*$/));
const inFlight = ({ sink }: Picture): string[] =>
  sink.of(/proxy operations in flight/).map((line) => line.replace(/\[.*\] /, ''));

describe('a stand-in', () => {
  it('ends with its last step, which is marked as no recorded end, and frees its lane', () => {
    const made = recording();
    stepsOf(made, 7, [[300, 400], [450, 500]]); // prettier-ignore
    stepsOf(made, 8, [[600, 700]]);
    const picture = draw(made.file);
    expect(lines(picture)).toEqual([
      '300 [operations that began before the window] begin began before the window',
      '500 [operations that began before the window] end began before the window',
      '600 [operations that began before the window] begin began before the window',
      '700 [operations that began before the window] end began before the window',
    ]);
    for (const line of picture.sink.of(/before the window$/).filter((one) => one.includes(' end ')))
      expect(argOf(line, 'end')).toBe('not recorded, as its last step');
    expect(picture.sink.openSlices()).toEqual([]);
    expect(inFlight(picture).at(-1)).toBe('700 = 0');
  });

  it('ends with its own stop if it has one', () => {
    const made = recording();
    stepsOf(made, 7, [[300, 400]]);
    made.ops.stop(450, made.ops.handleAt(7));
    const picture = draw(made.file);
    const [, end, ...more] = picture.sink.of(/before the window$/);
    expect(more).toEqual([]);
    expect(outline([end!])).toEqual([
      '450 [operations that began before the window] end began before the window',
    ]);
    expect(argOf(end, 'end')).toBeUndefined();
    expect(inFlight(picture).at(-1)).toBe('450 = 0');
  });

  it('that goes on while another one runs keeps its lane in between', () => {
    const made = recording();
    stepsOf(made, 7, [[300, 400]]);
    stepsOf(made, 8, [[410, 490]]);
    const parent = made.ops.handleAt(7);
    made.steps.stop(600, made.steps.startProxyStep(500, { comm: made.comm, parent, step: 1 }));
    const picture = draw(made.file);
    expect(lines(picture)).toEqual([
      '300 [operations that began before the window] begin began before the window',
      '410 [operations that began before the window ·2] begin began before the window',
      '490 [operations that began before the window ·2] end began before the window',
      '600 [operations that began before the window] end began before the window',
    ]);
  });

  it('is open if one of its steps is', () => {
    const made = recording();
    stepsOf(made, 7, [[300, 400], [410, null]]); // prettier-ignore
    const picture = draw(made.file);
    expect(picture.sink.openSlices().map((line) => line.replace(/\[.*\] /, ''))).toEqual([
      'began before the window',
      'step',
      'recv wait',
    ]);
    expect(inFlight(picture).at(-1)).toBe('300 = 1');
  });

  it('was aborted if a step was under way when its communicator was finalized', () => {
    const made = recording({ finalizeTick: 500 });
    stepsOf(made, 7, [[300, null]]);
    const picture = draw(made.file);
    expect(picture.sink.openSlices()).toEqual([]);
    const end = picture.sink.of(/before the window$/).at(-1);
    expect(outline([end!])).toEqual([
      '500 [operations that began before the window] end began before the window',
    ]);
    expect(argOf(end, 'end')).toBe('communicator finalized');
    expect(inFlight(picture).at(-1)).toBe('500 = 0');
  });

  it('in hundreds, one after the other, takes one lane', () => {
    const made = recording();
    const steps = made.file.ring('steps', 2048, { threadName: 'NCCL Progress 1', tid: 13 });
    for (let i = 0; i < 300; i++) stepsOf({ ...made, steps }, i, [[1000 + 10 * i, 1008 + 10 * i]]);
    const picture = draw(made.file);
    expect(new Set(lines(picture).map((line) => /\[(.*)\]/.exec(line)![1])).size).toBe(1);
    expect(picture.scan.size.comms.map(({ counts }) => counts.op.total)).toContain(300);
  });
});
