/** What `watch` tells of one verdict after another: changes alone, slowness only if it stays, and no end that somebody asked for. */

import { beforeAll, expect, it } from 'vitest';
import { projectFile } from '../../src/base/project.js';
import { alarmOf, Alarms } from '../../src/live/alarm.js';
import type { RankProgress } from '../../src/live/rank_progress.js';
import { diagnose, type Diagnosis } from '../../src/report/diagnosis.js';

const found: Record<string, Diagnosis> = {};
beforeAll(async () => {
  for (const name of ['hang', 'healthy', 'straggler', 'mismatch'])
    found[name] = await diagnose([projectFile(`samples/${name}`)], { jobs: 1 });
});

/** So many collectives have ended. */
const ended = (finished: number): RankProgress[] => [
  {
    ...{ rank: '0', comm: '1', commName: 'world', nRanks: 4, lastProgress: finished, open: 0 },
    ...{ functions: [{ func: 'AllReduce', entered: finished, finished }], oldestOpen: null, current: null },
  },
];

/** Verdicts and their times in s, when the job has done a collective per second if not said otherwise → what was told. */
const told = (verdicts: readonly (readonly [name: string, at: number, finished?: number])[]): string[] => {
  const alarms = new Alarms();
  return verdicts.flatMap(
    ([name, at, finished = at]) =>
      alarms.take(found[name]!, ended(finished), at * 1000)?.headline.slice(0, 50) ?? [],
  );
};

const HUNG = 'HUNG: AllReduce seq 2 on world (4 ranks): rank 3 f';

it('a hang once, and that it is over', () => {
  const verdicts = [
    ['healthy', 0],
    ['hang', 10],
    ['hang', 20],
    ['healthy', 30],
    ['healthy', 40],
    ['hang', 50],
  ] as const;
  expect(told(verdicts)).toEqual([HUNG, `RECOVERED: no longer ${HUNG.slice(0, 29)}`, HUNG]);
});

it('no recovery while nothing moves, whatever the verdict is meanwhile, so the hang is told once', () => {
  expect(
    told([
      ['hang', 10, 7],
      ['healthy', 20, 7],
      ['hang', 30, 7],
    ]),
  ).toEqual([HUNG]);
});

it('slowness if it is seen for half a minute, and is away for as long', () => {
  const slow = /^SLOW: rank 2 /;
  expect(
    told([
      ['straggler', 0],
      ['straggler', 20],
      ['healthy', 25],
      ['straggler', 30],
    ]),
  ).toEqual([]);
  expect(
    told([
      ['straggler', 0],
      ['straggler', 20],
      ['straggler', 30],
      ['straggler', 60],
    ]),
  ).toEqual([expect.stringMatching(slow)]);
  const again = [
    ['straggler', 0],
    ['straggler', 30],
    ['healthy', 40],
    ['straggler', 50],
  ] as const;
  expect(told(again)).toEqual([expect.stringMatching(slow)]);
  expect(told([...again, ['healthy', 60], ['healthy', 95]])).toEqual([
    expect.stringMatching(slow),
    expect.stringMatching(/^RECOVERED: no longer SLOW/),
  ]);
});

it('a worse verdict goes before slowness at once', () => {
  expect(
    told([
      ['straggler', 0],
      ['hang', 5],
    ]),
  ).toEqual([HUNG]);
  expect(
    told([
      ['mismatch', 0],
      ['hang', 5],
    ]),
  ).toEqual([expect.stringMatching(/^(HUNG|MISMATCH)/), HUNG]);
});

it('a job that was ended while it worked is none, unless it stood still before', () => {
  const { verdict } = found.hang!;
  const over = (stands: boolean): Diagnosis => ({
    ...found.hang!,
    verdict: { ...verdict, findings: [{ ...verdict.findings[0]!, rule: 'job ended', stands }] },
  });
  expect(alarmOf(over(false))).toBeNull();
  expect(alarmOf(over(true))).not.toBeNull();
});
