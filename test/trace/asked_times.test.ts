/** Times, durations and ranks as people write them, and back into commands. */

import { describe, expect, it } from 'vitest';
import { besides, mergeCommandLine, timeText } from '../../src/trace/commands.js';
import {
  parseAround,
  parseDuration,
  parseRanks,
  parseTime,
  rangesOf,
  rangesText,
} from '../../src/trace/asked_times.js';

it.each([
  ['60', 60e9],
  ['60s', 60e9],
  ['1.5m', 90e9],
  ['2 h', 7200e9],
  ['250ms', 250e6],
  ['10us', 10e3],
  ['0', 0],
  ['-1s', null],
  ['1d', null],
  ['', null],
  ['s', null],
  ['1e9', null],
])('duration %s', (text, ns) => {
  expect(parseDuration(text)).toBe(ns);
});

describe('times', () => {
  const march = BigInt(Date.UTC(2026, 2, 1, 3, 2, 11)) * 1_000_000n;
  it.each([
    ['90s', { kind: 'since-start', ns: 90e9 }],
    ['2026-03-01T03:02:11Z', { kind: 'utc', ns: march }],
    ['2026-03-01 03:02:11.5', { kind: 'utc', ns: march + 500_000_000n }],
    ['2026-03-01 03:02:11.000000001 UTC', { kind: 'utc', ns: march + 1n }],
    ['2026-03-01T05:02:11+02:00', { kind: 'utc', ns: march }],
    ['03:02:11', { kind: 'time-of-day', ns: ((3 * 60 + 2) * 60 + 11) * 1e9 }],
    ['03:02', { kind: 'time-of-day', ns: (3 * 60 + 2) * 60e9 }],
    ['03:02:11.25 UTC', { kind: 'time-of-day', ns: ((3 * 60 + 2) * 60 + 11.25) * 1e9 }],
  ])('%s', (text, word) => {
    expect(parseTime(text)).toEqual(word);
    expect(parseTime(timeText(parseTime(text)!))).toEqual(word);
  });

  it.each(['yesterday', '25:00', '2026-13-01T00:00:00Z', '2026-03-01', '', '03:02:11 CET'])(
    '%s is no time',
    (text) => {
      expect(parseTime(text)).toBeNull();
    },
  );

  it.each([
    ['90s', 5e9],
    ['90s,2s', 2e9],
    ['90s,±2s', 2e9],
    ['90s, +-250ms', 250e6],
  ])('around %s', (text, halfNs) => {
    expect(parseAround(text)).toEqual({ at: { kind: 'since-start', ns: 90e9 }, halfNs });
  });

  it.each(['x', '90s,', '90s,0', '90s,1s,1s'])('around %s is no time', (text) => {
    expect(parseAround(text)).toBeNull();
  });
});

it('ranks', () => {
  expect(parseRanks('0-7,42')).toEqual([
    [0, 7],
    [42, 42],
  ]);
  for (const text of ['', '7-0', 'a', '1,', '-1', '1-2-3']) expect(parseRanks(text)).toBeNull();
  expect(rangesText(rangesOf([3, 1, 2, 9, 9]))).toBe('1-3,9');
});

describe('commands', () => {
  it('are the words a person would type', () => {
    const request = {
      comms: ['dp'],
      ranks: parseRanks('36-38')!,
      last: 60e9,
    };
    expect(mergeCommandLine({ inputs: ['RUN'], request })).toBe(
      'nccl-trace merge RUN --comm dp --ranks 36-38 --last 60s',
    );
    const window = { from: parseTime('90s')!, to: parseTime('03:02:11.5')!, detail: 'op' } as const;
    expect(mergeCommandLine({ inputs: ['a', 'b'], output: 'x.pftrace', request: window })).toBe(
      'nccl-trace merge a b --from 90s --to 03:02:11.5 --detail op -o x.pftrace',
    );
  });

  it('name a directory instead of its many files, and quote for a shell', () => {
    const files = ['r/0.bin', 'r/1.bin', 'r/2.bin', 'r/3.bin'];
    expect(mergeCommandLine({ inputs: files, request: {} })).toBe('nccl-trace merge r');
    expect(mergeCommandLine({ inputs: ["it's $HOME"], request: {} })).toBe(
      `nccl-trace merge 'it'\\''s $HOME'`,
    );
  });

  it('write beside the earlier output', () => {
    expect(besides('run.pftrace', 'full')).toBe('run-full.pftrace');
    expect(besides('a.b/run.pftrace.gz', 'full')).toBe('a.b/run-full.pftrace.gz');
    expect(besides('run', 'full')).toBe('run-full');
    expect(besides('-', 'full')).toBe('-');
  });
});
