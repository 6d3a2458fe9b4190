/** When `watch` looks at the records: rarely while a job works, and in time when it may have stopped. Days pass in a simulation. */

import { expect, it } from 'vitest';
import { Pace, type Scene } from '../../src/live/pace.js';

const HOUR = 3_600_000;
const RANKS = 8;
/** ms of CPU time that a look takes. */
const CPU = 2_000;

interface Job {
  /** Whether it recorded anything just before this time. */
  readonly moves?: (now: number) => boolean;
  /** When processes began or ended. */
  readonly others?: readonly number[];
  /** ms until a stall is a hang, as the verdict says it. */
  readonly hungIn?: (now: number) => number | null;
}

/** Looks in [0, until), as `watch` takes them in windows of 5 s. */
function looks(pace: Pace, until: number, job: Job = {}): number[] {
  const { moves = () => true, others = [], hungIn = () => null } = job;
  const taken: number[] = [];
  const movedAt = Array.from({ length: RANKS }, () => 0);
  let isOther = false;
  let now = 0;
  for (let before = -1; now < until;) {
    if (moves(now)) movedAt.fill(now);
    isOther ||= others.some((at) => at <= now && at > before);
    before = now;
    const scene: Scene = { ranks: RANKS, isOther, isSettled: false, movedAt };
    if (pace.due(scene) <= now) {
      pace.looked({ began: now, ended: now + CPU, cpu: CPU }, hungIn(now));
      taken.push(now);
      isOther = false;
      now += CPU;
    }
    now = Math.max(now + 1, Math.min(now + 5_000, pace.due({ ...scene, isOther })));
  }
  return taken;
}

it('of a job that works it keeps to a hundredth of a core per rank, for a day', () => {
  const taken = looks(new Pace(undefined), 24 * HOUR);
  const share = (taken.length * CPU) / (24 * HOUR) / RANKS;
  expect(share).toBeLessThan(0.01);
  expect(share).toBeGreaterThan(0.007);
});

it('also of a job that pauses for half a minute all the time, or is started again every minute', () => {
  const day = 24 * HOUR;
  const pauses = looks(new Pace(undefined), day, { moves: (now) => now % 60_000 < 30_000 });
  expect((pauses.length * CPU) / day / RANKS).toBeLessThan(0.02);
  const others = Array.from({ length: 24 * 60 }, (_, minute) => minute * 60_000);
  const starts = looks(new Pace(undefined), day, { others });
  expect((starts.length * CPU) / day / RANKS).toBeLessThan(0.02);
});

it('a stall is looked at soon, and again when it becomes a hang', () => {
  const stops = 10 * 60_000;
  for (const hungAfter of [10, 30, 300]) {
    const due = stops + hungAfter * 1000;
    // As a verdict says it: WAITING, and for how long still.
    const hungIn = (now: number): number | null => (now > stops && now < due ? due - now : null);
    const taken = looks(new Pace(hungAfter * 1000), due + 60_000, { moves: (now) => now < stops, hungIn });
    const first = taken.find((at) => at >= due)!;
    expect(first - due).toBeLessThan(2_000);
  }
});

it('a process that ends is looked at within a window, unless the look before was just over', () => {
  const others = [600_000, 900_000];
  const taken = looks(new Pace(undefined), HOUR, { others });
  for (const at of others) expect(Math.min(...taken.filter((one) => one >= at)) - at).toBeLessThan(10_000);
});
