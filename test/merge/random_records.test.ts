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
import { RankFileBuilder, type RingBuilder } from '../support/rank_file_builder.js';
import { viewTrace } from '../support/trace_view.js';

const RUNS = process.env.NCCL_TRACE_LONG === '1' ? 3000 : 150;
const KINDS = 14;

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

class Recording {
  readonly file = new RankFileBuilder({ rank: 0, worldSize: 2 });
  private readonly comm = this.file.communicator({ commId: 7n, nRanks: 2 });
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
        [8, 20, 9, 10, 11, 12, 13, 14, 18, 19, 22, 77][Math.abs(number) % 12]!,
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
      default:
        return ring.startProxyStep(at, { ...common, step: number });
    }
  }
}

it('records that make no sense make no wrong trace', async () => {
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
      { numRuns: RUNS },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
