/**
 * Records that make no sense (a broken NCCL, a broken recorder, a stale handle) must not make the trace wrong: whatever valid
 * slots say, the merge ends without a bug, tracks stay nested, and the summary counts what is there.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { RankFileBuilder, type RingBuilder } from '../support/rank_files/rank_file_builder.js';
import { inTier } from '../support/tiers/tier.js';
import { viewTrace } from '../support/traces/trace_view.js';

const RUNS = inTier({ first: 50, long: 3000 });
const KINDS = 22;

/** Of every sort of event, and two of none. */
const STATES = [8, 20, 9, 10, 11, 12, 13, 14, 18, 19, 21, 22, 23, 24, 24, 25, 28, 31, 77, 70_000];

interface Step {
  readonly ring: number;
  readonly what: number;
  /** Added to the ring's clock; may go back. */
  readonly wait: number;
  /** Which earlier handle this speaks of, or garbage. */
  readonly handle: number;
  readonly number: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  ring: fc.nat(3),
  what: fc.nat(KINDS + 9),
  wait: fc.oneof(
    { weight: 8, arbitrary: fc.nat(2000) },
    { weight: 1, arbitrary: fc.integer({ min: -5000, max: 0 }) },
  ),
  handle: fc.nat(40),
  number: fc.oneof(fc.nat(30), fc.integer()),
});

/** Of another process of this recorder, whose file is not here. */
const FOREIGN_CONTEXT = 0x9180_7e00_0000_0002n;

class Recording {
  readonly file = new RankFileBuilder({ rank: 0, worldSize: 2 });
  private readonly comm = this.file.communicator({ commId: 7n, nRanks: 2, abi: 7, finalizeTick: 40_000 });
  private readonly rings: RingBuilder[] = [
    this.file.ring('steps', 64, { tid: 1, foldCapacity: 8 }),
    this.file.ring('ops', 64, { tid: 1 }),
    this.file.ring('host', 64, { tid: 2 }),
    this.file.ring('overflow', 64),
  ];
  private readonly ticks = [5000, 5000, 5000, 5000];
  private readonly handles: bigint[] = [0n, 0x7fff_1234_5678n, 0xffff_ffff_ffff_ffffn];

  play(steps: readonly Step[]): RankFileBuilder {
    for (const one of steps) this.step(one);
    return this.file.heartbeat(100_000);
  }

  private step({ ring: index, what, wait, handle, number }: Step): void {
    const ring = this.rings[index]!;
    const at = Math.max(0, (this.ticks[index]! += wait));
    const parent = this.handles[handle % this.handles.length]!;
    if (what >= KINDS + 4) ring.stop(at, parent);
    else if (what >= KINDS)
      ring.state(
        at,
        parent,
        STATES[Math.abs(number) % STATES.length]!,
        number % 7 === 0 ? 2n ** 63n + 5n : Math.abs(number),
      );
    else this.handles.push(this.start(ring, at, what, parent, number));
  }

  private start(ring: RingBuilder, at: number, what: number, parent: bigint, number: number): bigint {
    const common = { comm: number % 5 === 4 ? 99 : this.comm, parent };
    switch (what) {
      case 0:
        return ring.startGroup(at, common);
      case 1:
        return ring.startGroupApi(at, { ...common, groupDepth: 1 });
      case 2:
        return ring.startCollApi(at, { ...common, func: 'AllReduce' });
      case 3:
        return ring.startColl(at, {
          ...common,
          func: 'AllReduce',
          seqNumber: Math.abs(number),
          count: number % 7 === 0 ? 2 ** 60 : 8,
        });
      case 4:
        return ring.startP2p(at, { ...common, func: 'Send', peer: number });
      case 5:
      case 6:
      case 7:
        return ring.startProxyOp(at, {
          ...common,
          peer: number,
          isSend: what === 5,
          channel: Math.abs(number) % 256,
          ...(number % 5 === 3 ? { foreignContext: FOREIGN_CONTEXT } : {}),
        });
      case 8:
        return ring.startProxyCtrl(at, common);
      case 9:
        return ring.startKernelCh(at, {
          ...common,
          channel: Math.abs(number) % 64,
          pTimer: 1_790_000_000_000_000_000n + BigInt(number) * (number % 3 === 0 ? 10n ** 12n : 1n),
        });
      case 10:
        return ring.startKernelLaunch(at, common);
      case 11:
        return ring.startUnknown(at, Math.abs(number), common);
      case 12:
        return ring.startNetPlugin(at, {
          ...common,
          id: number % 2 === 0 ? 0x10001n : BigInt(Math.abs(number)),
          type: Math.abs(number) % 3,
          length: number % 7 === 0 ? 2n ** 64n - 1n : 4096n,
          op: number,
        });
      case 13:
        return ring.startCeColl(at, { ...common, seqNumber: Math.abs(number) });
      case 14:
        return ring.startCeSync(at, common);
      case 15:
        return ring.startCeBatch(at, { ...common, numOps: number, totalBytes: 2n ** 63n });
      case 16:
      case 17:
        return ring.startKernelPhase(at, {
          ...common,
          channel: Math.abs(number) % 64,
          phase: Math.abs(number) % 256,
          pTimer: number % 4 === 0 ? 0n : 1_790_000_000_000_000_000n + BigInt(number),
        });
      case 18:
        return ring.record(Math.abs(number) % 256 || 1, at, parent, BigInt(number));
      case 19:
        ring.fold(at, parent, number % 2 === 0 ? 'start' : 20, at, Math.abs(number));
        return parent;
      default:
        return ring.startProxyStep(at, { ...common, step: number });
    }
  }
}

/** GPU times 75 years apart; records with too few slots, whose positions are gaps, where ticks go back. */
const EXAMPLES: [Step[]][] = [
  [
    [
      { ring: 0, what: 9, wait: 1032, handle: 2, number: 1 },
      { ring: 1, what: 9, wait: -2042, handle: 6, number: 223_714_716 },
      { ring: 2, what: 16, wait: 1993, handle: 40, number: 18 },
    ],
  ],
  [
    [
      { ring: 2, what: 0, wait: 0, handle: 0, number: 0 },
      { ring: 2, what: 18, wait: 0, handle: 0, number: 17 },
      { ring: 2, what: 0, wait: -1, handle: 0, number: 0 },
      { ring: 2, what: 18, wait: 0, handle: 0, number: 17 },
    ],
  ],
];

it('random records give a valid trace whose counts equal the summary', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'random-records-'));
  try {
    const input = path.join(folder, 'rank00000.bin');
    const output = path.join(folder, 'out.pftrace');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
        new Recording().play(steps).write(input);
        const report = await merge({ inputs: [input], output, jobs: 1, force: true });
        const view = viewTrace(readFileSync(output), { emptySlices: 'fine' });
        expect(view.problems).toEqual([]);
        expect(report.trace).toMatchObject({
          slices: view.slices.length,
          openSlices: view.slices.filter(({ dur }) => dur === -1n).length,
          counterSamples: view.counters.length,
          states: view.states.length,
        });
      }),
      { numRuns: RUNS, examples: EXAMPLES },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
