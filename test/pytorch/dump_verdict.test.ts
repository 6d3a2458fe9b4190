/** The verdict on PyTorch's dumps alone, on scenarios that are made up as real ones look: which ranks, at which collective. */

import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDumps } from '../../src/pytorch/dump_files.js';
import { judgeJobs, type DumpVerdict } from '../../src/pytorch/dump_verdict.js';
import { flightReport } from '../../src/pytorch/flight_report.js';
import { dumpVerdictText } from '../../src/report/flight_text.js';
import { writeDumps, type MadeUpCall, type MadeUpDumps } from '../support/made_up/flight_dumps.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();
let count = 0;

function judged(made: MadeUpDumps): DumpVerdict {
  return judgeJobs(readDumps(writeDumps(path.join(folder, String(count++)), made, null)));
}

const call = (group: string, seq: number, op = 'all_reduce', more: Partial<MadeUpCall> = {}): MadeUpCall => ({
  ...{ group, seq, op, at: seq * 1000 },
  ...more,
});
const done = (group: string, seq: number, op?: string): MadeUpCall =>
  call(group, seq, op, { state: 'completed' });
const culpritsOf = ({ findings }: DumpVerdict): unknown[] =>
  findings.flatMap(({ rule, about: { named, group, seq, op } }) =>
    named.map(({ rank }) => [rank, rule, group, seq, op]),
  );

const TP_AND_DP = { TP0: [0, 1], TP1: [2, 3], DP0: [0, 2], DP1: [1, 3] };

describe('the verdict on dumps', () => {
  it('a rank that is stuck in Python: the others wait for its call, in two groups', () => {
    const verdict = judged({
      groups: TP_AND_DP,
      calls: [
        [call('TP0', 41), call('DP0', 12)],
        [call('TP0', 41), call('DP1', 12)],
        [call('TP1', 41), call('DP0', 12)],
        [],
      ],
    });
    expect(verdict.kind).toBe('hung');
    expect(culpritsOf(verdict)).toEqual([[3, 'not called', 'DP1', 12, 'all_reduce']]);
  });

  it('a rank whose GPU stopped: the others finished what it did not, and wait for it later', () => {
    const made = {
      groups: TP_AND_DP,
      calls: [
        [call('DP0', 12)],
        [call('TP0', 42, '_all_gather_base'), call('DP1', 12)],
        [call('DP0', 12), call('TP1', 43)],
        [call('TP1', 43), call('DP1', 12)],
      ].map((calls, rank) =>
        rank === 0
          ? [call('TP0', 40), call('TP0', 41), call('TP0', 42, '_all_gather_base'), ...calls]
          : calls,
      ),
      completed: [{ TP0: 39 }, { TP0: 41 }, {}, {}],
    };
    const verdict = judged(made);
    expect(culpritsOf(verdict)).toEqual([[0, 'not finished', 'TP0', 40, 'all_reduce']]);
  });

  it('a pipeline: victims down the line are not named, though others wait for them', () => {
    const p2p = (op: string): MadeUpCall => call('PP', 0, op, { isP2p: true });
    const verdict = judged({
      groups: { PP: [0, 1, 2], DP: [2, 3] },
      calls: [[], [p2p('recv 1<-0')], [p2p('recv 2<-1')], [call('DP', 5)]],
    });
    // Rank 2 did not call what 3 waits for, but waits itself for rank 1, and that for rank 0.
    expect(verdict.kind).toBe('hung');
    expect(culpritsOf(verdict)).toEqual([[0, 'half not called', 'PP', 0, 'recv 1<-0']]);
    const whole = judged({
      groups: { PP: [0, 1, 2], DP: [2, 3], EP: [0, 3] },
      calls: [[], [p2p('recv 1<-0')], [p2p('recv 2<-1')], [call('EP', 9), call('DP', 5)]],
    });
    expect(culpritsOf(whole)).toEqual([[0, 'not called', 'EP', 9, 'all_reduce']]);
  });

  it.each([
    ['op', { op: 'broadcast' }, { op: 'broadcast' }],
    ['size', { sizes: [[512]] }, { elements: 512 }],
    ['dtype', { dtype: 'BFloat16' }, { dtype: 'BFloat16' }],
  ])('a rank that called with another %s', (_, more, expected) => {
    const calls = [0, 1, 2].map((rank) => [
      done('TP', 6),
      call('TP', 7, 'all_reduce', rank === 1 ? more : {}),
    ]);
    const verdict = judged({ groups: { TP: [0, 1, 2] }, calls });
    expect(verdict.kind).toBe('mismatch');
    expect(verdict.findings).toMatchObject([
      { where: { seq: 7 }, about: { group: 'TP', ways: [{ ranks: [0, 2] }, { ranks: [1], ...expected }] } },
    ]);
  });

  it('names nobody where sizes may differ, or a reshaped tensor has as many elements', () => {
    const sized = (rank: number): MadeUpCall[] => [
      call('TP', 1, 'all_to_all', { sizes: [[100 + rank]] }),
      call('TP', 2, 'all_reduce', { sizes: rank === 0 ? [[64, 2]] : [[128]] }),
    ];
    expect(judged({ groups: { TP: [0, 1] }, calls: [sized(0), sized(1)] }).kind).toBe('pending');
  });

  it('a rank without a dump: it is the first place to look, and nobody is blamed', () => {
    const verdict = judged({
      groups: { TP: [0, 1, 2] },
      calls: [[call('TP', 7)], [call('TP', 7)], null],
    });
    expect(verdict).toMatchObject({ kind: 'pending', withoutDump: [2] });
    expect(culpritsOf(verdict)).toEqual([[2, 'no dump', 'TP', 7, 'all_reduce']]);
  });

  it('a healthy job: nothing is pending', () => {
    const calls = [[done('TP', 1)], [done('TP', 1)]];
    expect(judged({ groups: { TP: [0, 1] }, calls })).toMatchObject({ kind: 'quiet', findings: [] });
  });

  it('a root that left a broadcast early is not called missing', () => {
    const calls = [[], [call('TP', 4, 'broadcast')], [call('TP', 4, 'broadcast')]];
    const verdict = judged({ groups: { TP: [0, 1, 2] }, calls });
    expect(verdict.kind).toBe('pending');
    expect(culpritsOf(verdict)).toEqual([]);
  });

  it('in words: who, where, from which line, and since when', () => {
    const frames = [
      { name: 'all_reduce', filename: '/py/site-packages/torch/distributed/c10d.py', line: 2500 },
      { name: 'train_step', filename: '/job/train.py', line: 88 },
    ];
    const found = readDumps(
      writeDumps(path.join(folder, 'words'), {
        groups: { DP: [0, 1, 2, 3] },
        calls: [
          [call('DP', 41, 'all_reduce', { frames })],
          [call('DP', 41)],
          [done('DP', 39), call('DP', 40, 'all_reduce', { state: 'completed', frames })],
          [call('DP', 41)],
        ],
      }),
    );
    expect(dumpVerdictText(flightReport(found, null))).toEqual([
      'HUNG  rank 2 never called all_reduce 41 of group DP DP_GROUP',
      '  rank 2 last:    all_reduce 40, from train_step train.py:88',
      '  waiting:        3 ranks (0-1,3) in all_reduce 41 of group DP DP_GROUP',
      '  since:          2026-11-22 03:00:00 UTC; dumps do not say until when',
      '  called from:    rank 0: train_step train.py:88',
      "  read:           4 dumps of PyTorch's Flight Recorder",
    ]);
  });
});
