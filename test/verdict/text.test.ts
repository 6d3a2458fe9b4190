/** The verdict on a terminal: whatever the evidence, at most 15 lines of at most 80 columns, in words of ours. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TraceNs } from '../../src/base/time.js';
import { columns } from '../../src/cli/text.js';
import { verdictText, type VerdictReport } from '../../src/cli/verdict_text.js';
import { judge } from '../../src/verdict/judge.js';
import type { Hang, Verdict } from '../../src/verdict/types.js';
import { done, evidence, open, waitingFor, type MadeUpRank } from './evidence.js';

/** 2026-11-21 03:00:00 UTC. */
const THREE_AM = '1795230000000000000';

function report(verdict: Verdict, ranks: number, more: Partial<VerdictReport> = {}): VerdictReport {
  return {
    verdict,
    traceStart: THREE_AM,
    worldSize: ranks,
    missingRanks: [],
    ranks: Array.from({ length: ranks }, (_, rank) => ({
      rank,
      host: `node${rank >> 3}`,
      file: `run/${rank}.bin`,
    })),
    ...more,
  };
}

const all = (rank: number): MadeUpRank => ({ calls: [done(0, 1), open(1, 10, { ops: [waitingFor(rank)] })] });

describe('a hang of 512 ranks', () => {
  const ranks = Array.from({ length: 512 }, (_, file) => (file === 37 ? { calls: [done(0, 1)] } : all(37)));

  it('is told in few lines, ranks folded, the next command last', () => {
    expect(verdictText(report(judge(evidence(ranks)), 512))).toEqual([
      'HUNG for 90.0 s: AllReduce seq 1 on world (512 ranks)',
      '  nothing of it moved on any rank here since 03:00:10 UTC',
      '  never entered: rank 37 on node4',
      '    nothing that it had begun there or elsewhere is unfinished',
      '  entered, not finished: 511 ranks (0-36,38-511)',
      '  look at rank 0: ch 0 recv from rank 37, 0/12 steps, step 0 recv wait',
      '  waiting operations: 511 recv wait',
      '  next: nccl-trace inspect run/37.bin --records 50',
    ]);
  });

  it('says so when the hosts are on clocks of unknown error', () => {
    const verdict = judge(evidence(ranks, { comparable: false }));
    expect(verdictText(report(verdict, 512))[1]).toBe(
      "  nothing of it moved on any rank here since 03:00:10 UTC (hosts' wall clocks)",
    );
  });

  it('gives no command that a shell would take for another', () => {
    const words = report(judge(evidence(ranks)), 512);
    const odd = { ...words, ranks: words.ranks.map((rank) => ({ ...rank, file: 'my run/$(x).bin' })) };
    expect(verdictText(odd).join('\n')).not.toContain('next:');
  });
});

it('says where a stray stands instead', () => {
  const stray = { calls: [done(0, 1), open(4, 9, { func: 'AllGather', ops: [waitingFor(1, { done: 3 })] })] };
  const lines = verdictText(report(judge(evidence([stray, all(0), all(0)])), 3));
  expect(lines.slice(2, 5)).toEqual([
    '  never entered: rank 0 on node0',
    '    stands in AllGather seq 4 on world',
    '    rank 0: ch 0 recv from rank 1, 3/12 steps, step 0 recv wait',
  ]);
});

it('says what the evidence does not reach', () => {
  const words = { untold: 12, partial: [0, 1], lateness: false } as const;
  expect(verdictText(report({ kind: 'healthy', ...words }, 4, { missingRanks: [2, 3] }))).toEqual([
    'HEALTHY  nothing unfinished was seen, as far as is recorded',
    '  no file: rank 2-3 of 4; what they did is not known',
    '  completion not recorded: 12 collectives, sends, receives',
    '  calls overwritten or lost, nothing is claimed of them: 2 ranks (0-1)',
    "  who came late is not known: the hosts' wall clocks have an unknown error",
  ]);
});

it('fits, whatever the evidence, and lets nothing through that a terminal would obey', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.constant('\u001b[31m\u202e\r\n'),
    fc.string({ unit: 'binary' }),
  );
  const files = fc.uniqueArray(fc.nat(511), { maxLength: 300 });
  const call = fc.record({
    commId: fc.constantFrom(null, '0x00000000000000ab'),
    comm: text,
    func: text,
    seq: fc.option(fc.nat()),
    replay: fc.nat(),
  });
  const time = fc.double({ min: 0, max: 1e18, noNaN: true }).map((ns) => ns as TraceNs);
  const front = fc.record({
    file: fc.nat(511),
    record: fc.constant('0:7'),
    channel: fc.nat(),
    peerFile: fc.option(fc.nat(511)),
    peerInComm: fc.nat(),
    isSend: fc.boolean(),
    nSteps: fc.nat(),
    done: fc.nat(),
    wait: fc.option(fc.record({ step: fc.nat(), name: fc.constant('recv wait'), since: time })),
  });
  const standsIn = fc.option(
    fc.tuple(call, fc.option(front)).map(([one, at]) => ({ ...one, record: '0:7', front: at })),
  );
  const hang: fc.Arbitrary<Hang> = fc
    .record({
      nRanks: fc.nat(),
      since: time,
      age: time,
      neverEntered: fc.array(fc.record({ file: fc.nat(511), standsIn })),
      notKnown: files,
      different: files,
      waiting: files,
      aborted: files,
      waits: fc.array(fc.tuple(fc.constantFrom('recv wait', 'GPU wait'), fc.nat())),
      front: fc.option(front),
      missing: files,
      silent: fc.array(fc.record({ file: fc.nat(511), lastSign: fc.option(time) })),
      alsoHung: fc.array(call),
    })
    .chain((rest) => call.map((one) => ({ ...one, ...rest })));
  fc.assert(
    fc.property(hang, text, files, fc.boolean(), (one, host, missingRanks, lateness) => {
      const verdict: Verdict = { kind: 'hung', hang: one, untold: 1, partial: [0], lateness };
      const words = report(verdict, 512, { missingRanks });
      const lines = verdictText({
        ...words,
        ranks: words.ranks.map((rank) => ({ ...rank, host, file: host })),
      });
      expect(lines.length).toBeLessThanOrEqual(15);
      for (const line of lines) {
        expect(columns(line)).toBeLessThanOrEqual(80);
        // eslint-disable-next-line no-control-regex -- exactly these
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/);
      }
    }),
    { numRuns: 200 },
  );
});
