/** The verdict on a terminal, line by line. */

import { describe, expect, it } from 'vitest';
import { commandLines, inspectNext, mergeNext } from '../../src/report/next_command.js';
import { verdictText, type VerdictReport } from '../../src/report/verdict_text.js';
import { suspects } from '../../src/verdict/facts/suspects.js';
import { judge } from '../../src/verdict/judge.js';
import type { Verdict } from '../../src/verdict/types.js';
import { done, evidence, open, waitingFor, type MadeUpRank } from './evidence.js';
import { report } from './report.js';

const CLOCK: VerdictReport['clocks'][number] = {
  domain: 'node0',
  host: 'node0',
  ranks: [0],
  source: 'own-counter',
  group: 'node0',
  hardBound: 0,
  bound99: 0,
  driftPpm: 0,
  wanderPpmPerMinute: null,
  pieces: 1,
  oneSided: null,
  evidence: {},
  violations: 0,
  realtimeResidualNs: 0,
  flags: [],
};

const all = (rank: number): MadeUpRank => ({ calls: [done(0, 1), open(1, 10, { ops: [waitingFor(rank)] })] });

const NEXT = [{ command: 'nccl-trace merge RUN' }];
const SIZE = { slices: 1000, tracks: 10, bytes: 3e6 };
/** Without what is the same everywhere: losses, clocks, the next command. */
const body = (reported: VerdictReport): string[] => verdictText(reported, NEXT).slice(0, -3);

describe('a hang of 512 ranks', () => {
  const ranks = Array.from({ length: 512 }, (_, file) => (file === 37 ? { calls: [done(0, 1)] } : all(37)));

  it('is reported in few lines, with ranks folded and the next command last', () => {
    const reported = report(judge(evidence(ranks)), 512, { clocks: [CLOCK] });
    const suggestion = { command: 'nccl-trace merge run --comm world --ranks 36-38', size: SIZE };
    expect(verdictText(reported, [mergeNext({ suggestion }, ['run'])])).toEqual([
      'HUNG  AllReduce seq 1 on world (512 ranks): rank 37 never entered it',
      '  stuck:          since 03:00:10 UTC (90.0 s)',
      '  never entered:  rank 37 (node4 gpu5), alive to the end',
      '                  last there: AllReduce seq 0, 03:00:01 UTC',
      '  not finished:   511 ranks (0-36,38-511)',
      '  operations:     511 recv wait',
      '  all wait for:   rank 0 ch 0 recv from 37, step 0 of 12 in recv wait',
      '  lost records:   none',
      '  clocks:         one counter for all ranks, exact',
      'next (about 3 MB): nccl-trace merge run --comm world --ranks 36-38',
    ]);
  });

  it('says so when the hosts are on clocks of unknown error', () => {
    const verdict = judge(evidence(ranks, { comparable: false }));
    const clocks = [CLOCK, { ...CLOCK, source: 'realtime' }];
    expect(verdictText(report(verdict, 512, { clocks }), NEXT)).toContain(
      '  clocks:         2 hosts, 2 by wall clock only: error unknown',
    );
  });
});

describe('the next command', () => {
  it('is one word for a shell, whatever the path', () => {
    const next = mergeNext({ suggestion: null }, ["my run's/$(x)"]);
    expect(next.command).toBe("nccl-trace merge 'my run'\\''s/$(x)'");
    expect(commandLines('next', next, 40)).toEqual([
      'next: nccl-trace merge \\',
      "      'my run'\\''s/$(x)'",
    ]);
  });

  it('goes on in the next line where it is long', () => {
    const lines = commandLines('next', { command: `nccl-trace merge ${'a'.repeat(60)} --comm dp` }, 80);
    expect(lines).toEqual([`next: nccl-trace merge \\`, `      ${'a'.repeat(60)} --comm dp`]);
  });

  it('is there for every verdict', () => {
    const calls = [done(0, 1), done(1, 2)];
    for (const run of [evidence([{ calls }, { calls }]), evidence([{ calls: [] }, { calls: [] }])]) {
      const reported = report(judge(run), 2);
      expect(verdictText(reported, [mergeNext({ suggestion: null }, ['RUN'])]).at(-1)).toBe(
        'next: nccl-trace merge RUN',
      );
    }
  });
});

it('a file that cannot be used is in the verdict, with the reason', () => {
  const sentence =
    'run/1.bin: the file ends inside its header at byte 100 (expected 4096, found 100), perhaps the copy was cut short; copy it again';
  const why = [
    '  not usable:     1.bin: the file ends inside its header at byte 100, perhaps',
    '                  the copy was cut short; copy it again',
  ];
  const lines = (ranks: readonly MadeUpRank[]) =>
    verdictText(report(judge(evidence(ranks)), 2, { unusable: [sentence] }));
  expect(lines([{ calls: [done(0, 1), done(1, 2)], closed: true }]).slice(0, 3)).toEqual([
    'HEALTHY  nothing unfinished was seen, but 1 file cannot be used',
    ...why,
  ]);
  // The culprit of a hang comes first.
  const hung = lines([{ calls: [done(0, 1), open(1, 10)] }, { calls: [done(0, 1)] }]);
  expect(hung[2]).toContain('never entered:  rank 1');
  expect(hung).toEqual(expect.arrayContaining(why));
});

it('a stall says which ranks are alive by the kernel alone, because their heartbeats are late', () => {
  const calls = [done(0, 1), open(1, 10)];
  const verdict = judge(
    evidence(
      [
        { calls, isAlive: true },
        { calls, isAlive: true, isLate: true },
      ],
      { end: 11.3 },
    ),
  );
  expect(verdictText(report(verdict, 2))).toContain(
    '  no hang yet:    all ranks live, rank 1 by /proc; --hung-after is 30.0 s',
  );
});

describe('a stall within a node, where only kernels show the progress', () => {
  const inKernel = (ended: number): MadeUpRank => ({
    calls: [done(0, 1), open(1, 10, { blocks: { channels: 2, begun: 2, ended } })],
  });
  const lines = (ranks: readonly MadeUpRank[]) => verdictText(report(judge(evidence(ranks)), ranks.length));

  it('names the GPU whose kernel runs when all others have finished', () => {
    const finished = { calls: [done(0, 1), done(1, 10)] };
    expect(lines([finished, inKernel(1), finished])).toContain(
      '  look at:        rank 1: kernel began on 2 of 2 channels, ended on 1',
    );
  });

  it('says that it is not known which GPU is stuck when all began', () => {
    expect(lines([inKernel(0), inKernel(0)])).toEqual(
      expect.arrayContaining([
        '  on the GPU:     2 ranks (0-1): kernel began on 2 of 2 channels, ended on 0',
        '  which GPU:      not known: all began; within a node no record says more',
      ]),
    );
  });
});

it('a stall of live ranks is no alarm: the report says when it becomes one, and to look again', () => {
  const live = { isAlive: true } as const;
  const waits = { calls: [done(0, 1), open(1, 10, { ops: [waitingFor(1)] })], ...live };
  const verdict = judge(evidence([waits, { calls: [done(0, 1)], ...live }], { end: 11.3 }));
  const reported = report(verdict, 2, { clocks: [CLOCK] });
  const found = { verdict, suggestion: { command: 'nccl-trace merge RUN', size: SIZE } };
  expect(verdictText(reported, inspectNext(found, ['RUN'], { run: 'job' }))).toEqual([
    'WAITING  AllReduce seq 1 on world (2 ranks): rank 1 did not enter it yet',
    '  stuck:          since 03:00:10 UTC (1.3 s)',
    '  no hang yet:    all ranks live, by heartbeats; --hung-after is 30.0 s',
    '  not entered:    rank 1 (node0 gpu1), alive',
    '                  last there: AllReduce seq 0, 03:00:01 UTC',
    '  not finished:   rank 0',
    '  operations:     1 recv wait',
    '  look at:        rank 0 ch 0 recv from 1, step 0 of 12 in recv wait',
    '  lost records:   none',
    '  clocks:         one counter for all ranks, exact',
    'next (look again): nccl-trace inspect RUN --run job',
  ]);
});

it('the report of a run that broke off says which rank disappeared and what the others did then', () => {
  const left: MadeUpRank = {
    calls: [done(0, 1), open(1, 10, { finalized: 10.3, ops: [waitingFor(1)] })],
    alive: 10.3,
    closed: true,
  };
  const gone: MadeUpRank = { calls: [done(0, 1), open(1, 10, { ops: [waitingFor(0)] })], alive: 10.1 };
  const verdict = judge(evidence([left, gone, left], { end: 10.3 }));
  expect(verdictText(report(verdict, 3, { clocks: [CLOCK] }), NEXT)).toEqual([
    'BROKEN OFF  AllReduce seq 1 on world (3 ranks): rank 1 disappeared',
    '  stuck:          since 03:00:10 UTC (300.0 ms)',
    '  never closed:   rank 1 (node0 gpu1), last sign of life 03:00:10 UTC',
    '  left NCCL:      2 ranks (0,2), not finished',
    '  which first:    not known, heartbeats come once a second',
    '  not finished:   rank 1',
    '  aborted:        2 ranks (0,2), not finished',
    '  operations:     3 recv wait',
    '  most wait for:  rank 0 ch 0 recv from 1, step 0 of 12 in recv wait',
    '  lost records:   none',
    '  clocks:         one counter for all ranks, exact',
    'next: nccl-trace merge RUN',
  ]);
});

describe('a rank that did not close its file, while others did', () => {
  const noEnd = { ...done(1, 9), noEnd: true as const };
  const head = (ranks: readonly MadeUpRank[]): string[] =>
    verdictText(report(judge(evidence(ranks, { end: 10 })), ranks.length), NEXT).slice(0, 5);

  it('says no heartbeat only where it missed one', () => {
    const closed: MadeUpRank = { calls: [done(0, 1), noEnd], alive: 10, closed: true };
    const near = head([closed, { calls: [done(0, 1), noEnd], alive: 9.5 }]);
    expect(near[0]).toBe('UNCLEAR  whether anything is stuck: a rank did not close its file');
    expect(near[2]).toBe('  never closed:   rank 1 (node0 gpu1), last sign of life 03:00:09 UTC');
    const silent = { calls: [done(0, 1), noEnd], alive: 8 };
    const both = head([closed, silent, { ...silent, calls: [done(0, 1), noEnd], alive: 9.5 }]);
    expect(both[0]).toContain('ranks fell silent');
    expect(both.slice(2, 4)).toEqual([
      expect.stringMatching(/^ {2}no heartbeat: {3}rank 1 /),
      expect.stringMatching(/^ {2}never closed: {3}rank 2 /),
    ]);
  });

  it('does not say that all ended, and says nothing about it if no file is closed', () => {
    const closed: MadeUpRank = { calls: [done(0, 1)], alive: 10, closed: true };
    const silent: MadeUpRank = { calls: [done(0, 1)], alive: 3 };
    const lines = head([closed, silent]);
    expect(lines[0]).toBe('HEALTHY  nothing unfinished was seen, as far as is recorded');
    expect(lines[4]).toMatch(/^ {2}never closed: {3}rank 1 /);
    const living: MadeUpRank = { calls: [done(0, 1)], alive: 10, isAlive: true };
    const lines2 = head([living, silent]);
    expect(lines2[0]).toBe('UNCLEAR  whether the job goes on: a rank fell silent');
    expect(lines2[2]).toMatch(/^ {2}no heartbeat: {3}rank 1 /);
    expect(lines2.join()).not.toContain('never closed');
  });
});

describe('live ranks that do nothing', () => {
  const calls = [done(0, 1), done(1, 2)];
  const asked = (count: number) => ({ asked: Array.from({ length: count }, (_, at) => ({ at: at + 1 })) });

  it('says since when, the earlier pause, and who called less', () => {
    const rank = (count: number): MadeUpRank => ({
      calls,
      ...asked(count),
      sampleEvery: 100,
      longestQuiet: 2,
    });
    expect(body(report(judge(evidence([rank(5), rank(5), rank(4)])), 3))).toEqual([
      'UNCLEAR  whether the job goes on: nothing was recorded for 95.0 s',
      '  seen:           2 collectives on 1 communicator, by 3 ranks',
      '  last recorded:  03:00:05 UTC; the longest pause before: 2.0 s',
      '  fewer calls:    rank 2: 1 less on world than others',
      '                  then: AllReduce (1024 ncclFloat32), 03:00:05 UTC',
      '  alive to end:   3 ranks (0-2): in no call that NCCL reports, or not recorded',
      '                  (the application, or ncclCommInit, -Destroy, -Split)',
      '  looked at:      1 of 100 collectives alone',
    ]);
  });

  it('says that they are alive only if each of them was alive when its file was read', () => {
    const last = (...isAlive: readonly (true | undefined)[]): string | undefined =>
      body(
        report(judge(evidence(isAlive.map((alive) => ({ calls, ...(alive && { isAlive: alive }) })))), 2),
      ).at(-2);
    expect(last(true, true)).toBe('  alive:          2 ranks (0-1): in no call that NCCL reports');
    expect(last(true, undefined)).toBe('  alive to end:   2 ranks (0-1): in no call that NCCL reports');
  });

  it('says that a longer pause may be among the lost records', () => {
    const rank: MadeUpRank = { calls, longestQuiet: 2, watched: 3600 };
    expect(body(report(judge(evidence([rank, rank])), 2))).toContain(
      '  last recorded:  03:00:02 UTC; longest pause in what is recorded: 2.0 s',
    );
  });

  it('says that they are in no call that NCCL reports if all calls are recorded, and which rank disappeared', () => {
    const live: MadeUpRank = { calls, isAlive: true };
    expect(
      body(report(judge(evidence([live, { calls, alive: 10 }, { calls, closed: true }, live])), 4)),
    ).toEqual([
      'UNCLEAR  whether the job goes on: a rank is silent, nothing recorded for 98.0 s',
      '  seen:           2 collectives on 1 communicator, by 4 ranks',
      '  last recorded:  03:00:02 UTC',
      '  left NCCL:      rank 2',
      '  no heartbeat:   rank 1 (node0 gpu1) since 03:00:10 UTC (90.0 s before the end)',
      '  alive:          2 ranks (0,3): in no call that NCCL reports',
      '                  (the application, or ncclCommInit, -Destroy, -Split)',
    ]);
  });
});

it('the report of a collective that the others finished says that the file may be a copy', () => {
  const finished: MadeUpRank = { calls: [done(0, 1), done(1, 10)], alive: 60, closed: true };
  const gone: MadeUpRank = { calls: [done(0, 1), open(1, 10, { ops: [waitingFor(0)] })], alive: 10.1 };
  expect(body(report(judge(evidence([finished, gone, finished], { end: 60 })), 3))).toEqual([
    'UNCLEAR  whether it ended: AllReduce seq 1 on world',
    '  never closed:   rank 1 (node0 gpu1), last sign of life 03:00:10 UTC',
    '  or copied:      the file earlier than others: a copy cannot tell',
    '  the others:     finished it, and left NCCL in order, up to 49.9 s later',
    '  began:          03:00:10 UTC, record 0:7 of rank 1',
  ]);
});

describe('calls that differ', () => {
  it('says what else may be wrong', () => {
    const rank = (count: number, more: Partial<MadeUpRank>): MadeUpRank => ({
      calls: [done(0, 1), done(1, 2, { count }), { ...done(2, 5), noEnd: true }],
      ...more,
    });
    const live = rank(1, { isAlive: true });
    expect(body(report(judge(evidence([live, live, rank(2, { alive: 3 })], { end: 6 })), 3))).toEqual([
      'MISMATCH  on world: the 3 ranks did not all call the same',
      '  2 ranks (0-1):  AllReduce seq 1 (1 ncclFloat32) 03:00:02 UTC',
      '  rank 2:         AllReduce seq 1 (2 ncclFloat32) 03:00:02 UTC',
      '  what NCCL computes from such calls is not defined',
      '  UNCLEAR  whether anything is stuck: ranks fell silent, and not all is recorded',
      '  seen:           3 collectives on 1 communicator, by 3 ranks',
      '  no heartbeat:   rank 2 (node0 gpu2) since 03:00:03 UTC (3.0 s before the end)',
      '  end not known:  3 collectives, sends, receives',
    ]);
  });
});

it('names the rank that was silent first in a job that seems healthy, and says that its file may be a copy', () => {
  const calls = [done(0, 1), done(1, 2)];
  expect(body(report(judge(evidence([{ calls }, { calls, alive: 5 }], { end: 9 })), 2))).toEqual([
    'HEALTHY  nothing unfinished was seen, as far as is recorded',
    '  seen:           2 collectives on 1 communicator, by 2 ranks',
    '  late:           no rank; 1 collective compared',
    '  silent first:   rank 1 (node0 gpu1), last sign of life 03:00:05 UTC',
    '  or copied:      the file earlier than others: a copy cannot tell',
  ]);
});

describe('other runs beside the one that is judged', () => {
  const verdict = judge(evidence([{ calls: [done(0, 1)] }, { calls: [done(0, 1)] }], { end: 2 }));
  const second = (files: readonly number[]): string | undefined => {
    const otherRuns = files.map((count, i) => ({
      name: `job ${i}`,
      started: '',
      files: count,
      isBeside: false,
    }));
    return verdictText(report(verdict, 2, { otherRuns }), NEXT)[1];
  };

  it('are named in the second line, with the option for the larger one', () => {
    expect(second([])).toMatch(/^ {2}seen: /);
    expect(second([2])).toBe("  other runs:     1 older: --run 'job 0'");
    expect(second([2, 1])).toBe('  other runs:     2 older: --run list');
    expect(second([1, 64, 3])).toBe(
      "  other runs:     3 older, one of 64 files (this one: 2): --run 'job 1'",
    );
    const otherRuns = [{ name: 'n'.repeat(60), started: '', files: 64, isBeside: false }];
    expect(verdictText(report(verdict, 2, { otherRuns }), NEXT)[1]).toBe(
      '  other runs:     1 older, of 64 files (this one: 2): --run list',
    );
  });
});

it('says where a stray rank is stuck instead', () => {
  const stray = { calls: [done(0, 1), open(4, 9, { func: 'AllGather', ops: [waitingFor(1, { done: 3 })] })] };
  expect(body(report(judge(evidence([stray, all(0), all(0)])), 3))).toEqual([
    'HUNG  AllReduce seq 1 on world (3 ranks): rank 0 never entered it',
    '  stuck:          since 03:00:10 UTC (90.0 s)',
    '  never entered:  rank 0 (node0 gpu0), alive to the end',
    '                  stuck in AllGather seq 4 on world since 03:00:09 UTC',
    '                  rank 0 ch 0 recv from 1, step 0 of 12 in recv wait',
    '  not finished:   2 ranks (1-2)',
    '  operations:     2 recv wait',
    '  all wait for:   rank 1 ch 0 recv from 0, step 0 of 12 in recv wait',
  ]);
});

it('calls two orders of two calls a deadlock, and names the ranks in the smaller group', () => {
  const comms = { world: { id: 1n, members: [0, 1, 2] }, pair: { id: 2n, members: [0, 1, 2] } };
  const second = (peer: number) => ({ ops: [waitingFor(peer)] });
  const order = (peer: number, isCrossed: boolean): MadeUpRank => {
    const [onWorld, onPair] = isCrossed ? [11, 10] : [10, 11];
    const calls = [open(1, onWorld, second(peer)), open(5, onPair, { comm: 'pair', ...second(peer) })];
    return { calls: calls.sort((a, b) => a.at - b.at) };
  };
  const verdict = judge(evidence([order(2, false), order(0, true), order(1, false)], { comms }));
  expect(body(report(verdict, 3)).slice(0, 5)).toEqual([
    'HUNG  AllReduce seq 1 on world (3 ranks): rank 1 called differently',
    '  stuck:          since 03:00:11 UTC (89.0 s)',
    '  two orders:     rank 1: AllReduce seq 5 on pair, then AllReduce seq 1 on world',
    '                  2 ranks (0,2): AllReduce seq 1 on world,',
    '                    then AllReduce seq 5 on pair',
  ]);
  expect(suspects(verdict)[0]).toBe(1);
  // In streams of their own both go on, so the order is not the cause of the stall.
  const begun = { ...second(0), ops: [waitingFor(0, { done: 1 })] };
  const apart = { calls: [open(5, 10, { comm: 'pair', ...second(0) }), open(1, 11, begun)] };
  const other = judge(evidence([order(2, false), apart, order(1, false)], { comms }));
  expect(other).toMatchObject({ kind: 'hung', hang: { crossed: [], different: [] } });
});

it('says for which time and ranks there is no evidence', () => {
  const reported = {
    states: [],
    endsNotKnown: 12,
    endsToSelf: 0,
    partial: [0, 1],
    damaged: [],
    lostEntries: 0,
    unknownComms: { works: 0, files: [] },
    sampled: [],
    muted: [],
    notRecorded: [{ event: 'KernelCh', files: [0, 1] }],
    findings: [],
    seen: { communicators: 1, collectives: 7, works: 7 },
    lateness: false,
    unresolved: null,
    latest: null,
    compared: 0,
    knownBugs: [],
  } as const;
  expect(body(report({ kind: 'healthy', silent: [], ...reported }, 4, { missingRanks: [2, 3] }))).toEqual([
    'NO END RECORDED  and nothing unfinished seen (without KernelCh)',
    '  seen:           7 collectives on 1 communicator, by 4 ranks',
    '  no file:        rank 2-3 of 4: what they did is not known',
    '  end not known:  12 collectives, sends, receives (KernelCh not recorded)',
    '  window:         older calls of 2 ranks (0-1) are lost: no claim about them',
    "  late:           not known who: the hosts' wall clocks have an unknown error",
  ]);
});

it('gives no all-clear about lateness if no clock relates the hosts', () => {
  const ended: MadeUpRank = { calls: [done(0, 1), done(1, 10)], alive: 10, closed: true };
  const verdict = judge(evidence([ended, ended]));
  expect(body(report(verdict, 2))[0]).toBe('HEALTHY  everything that began also ended');
  expect(body(report({ ...verdict, lateness: false }, 2))[0]).toBe(
    'HEALTHY  everything that began also ended; whether a rank is late is not known',
  );
});

it('does not call a communicator of unknown size empty', () => {
  const first = (verdict: Verdict): readonly string[] => body(report(verdict, 2));
  const hung = judge(evidence([all(1), { calls: [done(0, 1)] }]));
  if (hung.kind !== 'hung') throw new Error(hung.kind);
  expect(first({ ...hung, hang: { ...hung.hang, nRanks: 0 } })[0]).toBe(
    'HUNG  AllReduce seq 1 on world (size not known): rank 1 never entered it',
  );
  const calls = [{ calls: [done(0, 1)] }, { calls: [done(0, 1, { count: 7 })] }];
  const other = judge(evidence(calls));
  if (other.kind !== 'mismatch') throw new Error(other.kind);
  expect(first({ ...other, mismatch: { ...other.mismatch, nRanks: 0 } })[0]).toBe(
    'MISMATCH  on world: the ranks did not all call the same',
  );
});

describe('a run that was recorded in part', () => {
  const part = (rank: Partial<MadeUpRank>) => {
    const calls = [done(0, 1), done(4, 2)];
    return body(report(judge(evidence([{ calls, ...rank }, { calls }], { end: 10 })), 2));
  };

  it.each<readonly [Partial<MadeUpRank>, readonly string[]]>([
    [{ sampleEvery: 4 }, ['  looked at:      1 of 4 collectives alone, of rank 0']],
    [{ sampleEvery: null }, ['  looked at:      samples of the collectives alone, of rank 0']],
    [{ isMuted: true }, ['  turned off:     events at times, by control: rank 0']],
    [{ notRecorded: ['P2p'] }, []],
  ])('is not called healthy without a limit: %o', (rank, lines) => {
    expect(part(rank)).toEqual([
      'HEALTHY  nothing unfinished was seen, as far as is recorded',
      '  seen:           2 collectives on 1 communicator, by 2 ranks',
      '  late:           no rank; 1 collective compared',
      ...lines,
    ]);
  });
});

describe('the first lines say', () => {
  const stuck = (more: Partial<MadeUpRank>): MadeUpRank => ({ ...all(1), ...more });
  const first = (ranks: readonly MadeUpRank[], most = 3): string[] =>
    body(report(judge(evidence(ranks)), ranks.length)).slice(0, most);

  it('that a process is stopped, not that it fell silent', () => {
    const stopped: MadeUpRank = { calls: [done(0, 1)], alive: 10, isStopped: true };
    expect(first([stuck({}), stopped, stuck({})])).toEqual([
      'HUNG  AllReduce seq 1 on world: rank 1 is stopped (by a signal, debugger or cgroup)',
      '  stuck:          since 03:00:10 UTC (90.0 s)',
      '  stopped:        rank 1, by a signal, a debugger or its cgroup',
    ]);
  });

  it('which events the mask leaves out, if nothing can be judged', () => {
    const rank: MadeUpRank = { calls: [], notRecorded: ['Coll', 'P2p', 'ProxyOp'] };
    const lines = first([rank, rank], 9);
    expect(lines[0]).toBe('NOTHING TO JUDGE  the event mask leaves out Coll and P2p');
    expect(lines).toContain(
      '                  (NCCL_PROFILE_EVENT_MASK or NCCL_TRACE_EVENTS leaves them out)',
    );
  });
});
