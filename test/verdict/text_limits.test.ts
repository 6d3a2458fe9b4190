/** The verdict on a terminal, whatever the evidence: at most 15 lines of at most 80 columns, without control characters. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TraceNs } from '../../src/base/time.js';
import { mergeNext } from '../../src/report/next_command.js';
import { columns } from '../../src/report/text.js';
import { verdictText } from '../../src/report/verdict_text.js';
import type { Hang, Verdict } from '../../src/verdict/types.js';
import { report } from './report.js';

it('fits, whatever the evidence, and lets no control character through to the terminal', () => {
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
    inComm: fc.nat(511),
    onWire: fc.array(
      fc.record({
        file: fc.option(fc.nat(511)),
        inComm: fc.nat(511),
        peerFile: fc.nat(511),
        peerInComm: fc.nat(511),
        channels: fc.array(fc.nat(63)),
      }),
    ),
    peerIsPast: fc.boolean(),
    isUnposted: fc.boolean(),
    executor: fc.option(fc.nat(511)),
    waiters: fc.nat(),
    of: fc.nat(),
    node: fc.option(fc.record({ name: text, files: fc.uniqueArray(fc.nat(511), { minLength: 1 }) })),
  });
  const place = fc.record({ file: fc.nat(511), record: fc.constant('0:7'), at: time });
  const stuckIn = fc.option(
    fc.tuple(call, fc.option(front), place).map(([one, at, where]) => ({ ...one, ...where, front: at })),
  );
  const way = fc
    .tuple(
      call,
      fc.record({
        count: fc.nat(),
        datatype: text,
        root: fc.option(fc.nat()),
        entered: fc.array(place, { minLength: 1 }),
      }),
    )
    .map(([one, how]) => ({ ...one, ...how }));
  const mismatch = fc.record({
    commId: fc.constant('0x00000000000000ab'),
    comm: text,
    nRanks: fc.nat(),
    what: fc.constantFrom('calls' as const, 'arguments' as const),
    call: fc.option(fc.nat()),
    ways: fc.tuple(way, way, way),
  });
  const placed = fc.tuple(call, place).map(([one, where]) => ({ ...one, ...where }));
  const orders = fc.array(fc.record({ file: fc.nat(511), first: placed, second: placed }), { minLength: 1 });
  const transfer = fc
    .tuple(place, text, fc.nat(511))
    .map(([where, func, peerFile]) => ({ ...where, func, peerFile }));
  const hang: fc.Arbitrary<Hang> = fc
    .record({
      nRanks: fc.nat(),
      members: files,
      since: time,
      age: time,
      neverEntered: fc.array(
        fc.record({
          file: fc.nat(511),
          knownFrom: time,
          knownUntil: fc.option(time),
          lastSign: fc.option(time),
          isAlive: fc.boolean(),
          stuckIn,
          isIn: fc.option(fc.tuple(place, text).map(([where, func]) => ({ ...where, func }))),
          newest: fc.option(fc.tuple(call, place).map(([one, where]) => ({ ...one, ...where }))),
          left: fc.option(time),
          elsewhere: fc.option(fc.tuple(call, place).map(([one, where]) => ({ ...one, ...where }))),
        }),
      ),
      mismatch: fc.option(mismatch),
      crossed: fc.array(orders),
      unseen: fc.constant(null),
      wasKilled: fc.boolean(),
      unmatched: fc.array(fc.record({ file: fc.nat(511), func: text, peerFile: fc.nat(511), by: fc.nat() })),
      circle: fc.array(fc.record({ file: fc.nat(511), first: transfer, later: transfer })),
      alone: files,
      until: time,
      notKnown: files,
      different: files,
      waiting: fc.array(place, { maxLength: 300 }),
      aborted: files,
      ended: fc.array(fc.record({ file: fc.nat(511), at: time })),
      waits: fc.array(fc.tuple(fc.constantFrom('recv wait', 'GPU wait'), fc.nat())),
      front: fc.option(front),
      inside: fc.array(
        fc.record({
          file: fc.nat(511),
          record: fc.constant('0:7'),
          at: time,
          func: text,
          count: fc.nat(),
          datatype: text,
          root: fc.option(fc.nat()),
          hasReturned: fc.boolean(),
        }),
      ),
      unhanded: fc.array(
        fc.record({
          file: fc.nat(511),
          record: fc.constant('0:7'),
          at: time,
          channels: fc.nat(64),
          of: fc.nat(64),
        }),
      ),
      kernels: fc.array(
        fc.record({
          file: fc.nat(511),
          record: fc.constant('0:7'),
          channels: fc.nat(),
          begun: fc.nat(),
          ended: fc.nat(),
          isLeast: fc.boolean(),
        }),
      ),
      missing: files,
      silent: fc.array(
        fc.record({
          file: fc.nat(511),
          lastSign: fc.option(time),
          mayBeCopy: fc.boolean(),
          isGone: fc.boolean(),
          isStopped: fc.boolean(),
        }),
      ),
      isRelated: fc.boolean(),
      mayHaveFinished: files,
    })
    .chain((rest) => call.map((one) => ({ ...one, ...rest })));
  fc.assert(
    fc.property(hang, text, files, fc.boolean(), time, (one, host, missingRanks, lateness, hungAfter) => {
      const verdict: Verdict = {
        ...(lateness
          ? { kind: 'hung', hang: one }
          : {
              kind: 'waiting',
              waiting: { stall: one, hungAfter, isLive: hungAfter < 1e9, byKernel: missingRanks },
            }),
        findings: [],
        states: [],
        endsNotKnown: 1,
        endsToSelf: 0,
        partial: [0],
        damaged: [0],
        lostEntries: 1,
        unknownComms: { works: 1, files: [0] },
        sampled: [{ every: 100, files: [0] }],
        muted: [0],
        notRecorded: [{ event: 'KernelCh', files: [0] }],
        seen: { communicators: 1, collectives: 1, works: 1 },
        lateness,
        unresolved: null,
        latest: null,
        compared: 0,
        knownBugs: [],
      };
      const otherRuns = lateness ? [] : [{ name: host, started: '', files: 600, isBeside: false }];
      const reported = report(verdict, 512, { missingRanks, otherRuns });
      const lines = verdictText(
        { ...reported, ranks: reported.ranks.map((rank) => ({ ...rank, host, file: host })) },
        [mergeNext({ suggestion: null }, [host.slice(0, 40)])],
        { isTerminal: true },
      );
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
