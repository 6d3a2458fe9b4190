/** From the options of a person to the selected files and times, and the errors for an impossible selection. */

import { commKey } from '../../src/model/identity.js';
import { describe, expect, it } from 'vitest';
import { checkRequest, selectScope, type Selectable } from '../../src/trace/selection.js';
import { parseRanks, parseTime } from '../../src/trace/asked_times.js';

const DP = { commId: 0x5cb6n, name: 'dp' };
const TP0 = { commId: 0x10n, name: 'tp' };
const TP1 = { commId: 0x11n, name: 'tp' };
const NO_ID = { commId: 0n, name: 'old' };

/** Four files of ranks 0, 1, 2 and 5; 100 s from 23:59:00 on. */
const RUN: Selectable = {
  ranks: [[0], [1], [2], [5]],
  communicators: [
    [DP, TP0],
    [DP, TP0],
    [DP, TP1],
    [DP, TP1, NO_ID],
  ],
  traceStart: BigInt(Date.UTC(2026, 2, 1, 23, 59)) * 1_000_000n,
  durationNs: 100e9,
};

const time = (text: string) => parseTime(text)!;
const ranks = (text: string) => parseRanks(text)!;

it('without options everything is drawn', () => {
  expect(selectScope(RUN, {})).toEqual({
    files: [0, 1, 2, 3],
    absentRanks: [],
    isAllRanks: true,
    comms: null,
    window: { from: -Infinity, to: Infinity },
  });
});

describe('ranks', () => {
  it('each rank of a process with several GPUs means its file', () => {
    const several = { ...RUN, ranks: [[0, 1], [2, 3], [4, 5], []] };
    expect(selectScope(several, { ranks: ranks('3-4,7') })).toMatchObject({
      files: [1, 2],
      absentRanks: [[7, 7]],
    });
  });

  it('that have no file are named', () => {
    expect(selectScope(RUN, { ranks: ranks('1-4,8') })).toMatchObject({
      files: [1, 2],
      absentRanks: [
        [3, 4],
        [8, 8],
      ],
    });
  });

  it('is refused if none of the ranks has a file', () => {
    expect(() => selectScope(RUN, { ranks: ranks('7') })).toThrow(
      '--ranks: none of these has a file here; there are ranks 0-2,5',
    );
  });
});

describe('communicators', () => {
  it.each([
    ['dp', [DP], [0, 1, 2, 3]],
    ['tp', [TP0, TP1], [0, 1, 2, 3]],
    ['0x11', [TP1], [2, 3]],
    ['0x0000000000000011', [TP1], [2, 3]],
    ['old', [NO_ID], [3]],
  ])('%s', (word, comms, files) => {
    expect(selectScope(RUN, { comms: [word] })).toMatchObject({
      files,
      comms: new Set(comms.map(commKey)),
    });
  });

  it('several', () => {
    expect(selectScope(RUN, { comms: ['0x10', 'old'] }).files).toEqual([0, 1, 3]);
  });

  it.each([
    ['dpp', '--comm dpp: there is no such communicator; there are dp, tp, '],
    ['0x12', 'there are 0x0000000000000010, 0x0000000000000011, '],
    ['0x0', 'there is no such communicator'],
  ])('%s is unknown: the error lists the nearest names first', (word, message) => {
    expect(() => selectScope(RUN, { comms: [word] })).toThrow(message);
  });

  it('is refused if none of the ranks belongs to it', () => {
    expect(() => selectScope(RUN, { comms: ['0x11'], ranks: ranks('0-1') })).toThrow(
      '--ranks and --comm together select nothing',
    );
  });
});

describe('time', () => {
  it.each([
    ['since the start', { from: time('10s'), to: time('20') }, [10e9, 20e9]],
    ['from the start on', { from: time('0') }, [-Infinity, Infinity]],
    ['absolute', { from: time('2026-03-01T23:59:10Z') }, [10e9, Infinity]],
    ['of day', { to: time('23:59:30') }, [-Infinity, 30e9]],
    ['of the next day', { from: time('00:00:10') }, [70e9, Infinity]],
    ['of day, a little before', { from: time('23:58'), to: time('23:59:10') }, [-Infinity, 10e9]],
    ['around', { around: { at: time('00:00:00'), halfNs: 1e9 } }, [59e9, 61e9]],
    ['the end', { last: 30e9 }, [70e9, Infinity]],
    ['more than there is', { last: 3000e9 }, [-Infinity, Infinity]],
    ['mixed', { from: time('10s'), to: time('23:59:20') }, [10e9, 20e9]],
  ])('%s', (_, request, [from, to]) => {
    expect(selectScope(RUN, request).window).toEqual({ from, to });
  });

  it.each([
    ['nothing between', { from: time('20s'), to: time('20s') }, '--from is not before --to'],
    ['nothing between, by clock', { from: time('23:59:20'), to: time('10s') }, '--from is not before --to'],
    [
      'after the run',
      { from: time('200s') },
      'lies outside the run: it lasts 100.0 s, from 2026-03-01 23:59:00.000 UTC to 2026-03-02 00:00:40.000 UTC',
    ],
    ['before the run', { to: time('2026-02-01T00:00:00Z') }, 'lies outside the run'],
    ['nothing at all', { last: 0 }, '--last 0 selects nothing'],
    ['two ways', { last: 1e9, from: time('1s') }, '--from and --last exclude each other'],
    ['two other ways', { last: 1e9, around: { at: time('1s'), halfNs: 1 } }, '--around and --last exclude'],
  ])('%s', (_, request, message) => {
    expect(() => selectScope(RUN, request)).toThrow(message);
  });

  it('a time of day needs a date in a run of several days', () => {
    const long = { ...RUN, durationNs: 3 * 86_400e9 };
    expect(() => selectScope(long, { from: time('12:00') })).toThrow(
      'comes 3 times in the run, give the date',
    );
    expect(selectScope(long, { from: time('2026-03-03T12:00:00Z') }).window.from).toBeGreaterThan(0);
  });

  it('contradictions are seen before a file is read', () => {
    expect(() => {
      checkRequest({ from: time('2s'), to: time('1s') });
    }).toThrow('--from is not before --to');
  });
});
