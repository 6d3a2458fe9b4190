/**
 * The rarer things NCCL says, as a user sees them: the trace of a run of the loopback against the loopback's own account
 * of it. `truth.test.ts` does the same for the usual ones.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { record } from '../support/loopback.js';
import { temporaryFolder } from '../support/made_up_run.js';
import { viewTrace, type TraceView, type ViewSlice } from '../support/trace_view.js';
import { proxyOpsOf, readTruth, totalsOf, type TruthLine } from '../support/truth.js';

interface Seen {
  readonly view: TraceView;
  readonly truths: readonly (readonly TruthLine[])[];
}

async function runAndMerge(ranks: number, words: string): Promise<Seen> {
  const { folder, remove } = temporaryFolder();
  try {
    const recording = await record(folder, `--ranks ${ranks} ${words}`);
    const output = join(folder, 'out.pftrace');
    await merge({ inputs: [recording.folder], output, jobs: 1 });
    const view = viewTrace(readFileSync(output), { emptySlices: 'fine' });
    expect(view.problems).toEqual([]);
    const truths = Array.from({ length: ranks }, (_, rank) => readTruth(recording.truth, rank));
    return { view, truths };
  } finally {
    remove();
  }
}

const ofRank = (view: TraceView, rank: number): ViewSlice[] =>
  view.slices.filter(({ track }) => track.process?.pid === 1_000_000 + rank);
const named = (slices: readonly ViewSlice[], ...names: string[]): ViewSlice[] =>
  slices.filter(({ name }) => name !== null && names.includes(name));
const onTracks = (slices: readonly ViewSlice[], pattern: RegExp): ViewSlice[] =>
  slices.filter(({ track }) => pattern.test(track.path.join('/')));

describe('network events', () => {
  it.each([
    ['ib:2', ['IB QP'], 6],
    ['ib', ['IB QP'], 3],
    ['socket', ['socket send', 'socket recv'], 6],
    ['sockets', ['socket send', 'socket recv'], 7],
    ['external', ['net plugin 0x7f0001'], 4],
  ])('of %s are all drawn', async (kind, names, abi) => {
    const words = `--channels 1 --iterations 2 --abi ${abi} --net-events ${kind} --ops allreduce:256K,group{send+recv:64K}`;
    const { view, truths } = await runAndMerge(2, words);
    truths.forEach((truth, rank) => {
      const told = totalsOf(truth).starts.NetPlugin!;
      const seen = named(ofRank(view, rank), ...names);
      expect(told).toBeGreaterThan(0);
      expect(seen).toHaveLength(told);
      expect(seen.every(({ dur }) => dur >= 0n)).toBe(true);
      if (!kind.startsWith('socket')) return;
      const bytes = (name: string): number =>
        named(seen, name).reduce((sum, { args }) => sum + Number(args.bytes), 0);
      const sent = (isSend: boolean): number =>
        proxyOpsOf(truth).reduce((sum, op) => sum + (op.isSend === isSend ? op.bytes : 0), 0);
      expect([bytes('socket send'), bytes('socket recv')]).toEqual([sent(true), sent(false)]);
    });
  });
});

describe('collectives without connections', () => {
  it.each([6, 7])('v%i: copy engines', async (abi) => {
    const { view, truths } = await runAndMerge(2, `--iterations 2 --abi ${abi} --ce --ops allgather:256K*2`);
    truths.forEach((truth, rank) => {
      expect(totalsOf(truth).starts).toMatchObject({ CeColl: 4, CeSync: 8, CeBatch: 4 });
      const host = onTracks(ofRank(view, rank), /host threads/);
      const colls = named(host, 'AllGather');
      expect(colls).toHaveLength(4);
      for (const { args } of colls) expect(args).toMatchObject({ count: 32768, syncStrategy: 'UC' });
      expect(named(host, 'CeSync')).toHaveLength(8);
      expect(named(host, 'CeBatch').map(({ args }) => [args.numOps, args.totalBytes])).toEqual(
        Array(4).fill([1, 131072]),
      );
      expect(onTracks(ofRank(view, rank), /collectives/)).toEqual([]);
    });
  });

  it('v6: symmetric kernels, of which there is only the call', async () => {
    const { view } = await runAndMerge(2, '--iterations 2 --symmetric --ops allreduce:256K');
    for (const rank of [0, 1]) {
      expect(named(ofRank(view, rank), 'ncclAllReduce')).toHaveLength(2);
      expect(onTracks(ofRank(view, rank), /collectives|kernel ch/)).toEqual([]);
    }
  });

  it('v7: symmetric kernels, with their phases', async () => {
    const words = '--iterations 2 --channels 2 --abi 7 --symmetric --gpu-tick 1 --ops allreduce:256K';
    const { view, truths } = await runAndMerge(2, words);
    truths.forEach((truth, rank) => {
      const slices = ofRank(view, rank);
      expect(totalsOf(truth).starts).toMatchObject({ Coll: 2, KernelCh: 4, KernelPhase: 12 });
      expect(named(onTracks(slices, /collectives/), 'AllReduce')).toHaveLength(2);
      expect(named(slices, 'initial_sync', 'compute', 'final_sync')).toHaveLength(12);
    });
  });
});

describe('kernels whose marks are wrong', () => {
  it.each([
    ['torn:2', 6],
    ['torn:2', 7],
    ['lag:1', 6],
    ['late', 6],
    ['missed-start:5', 6],
  ])('%s: every kernel that was told of is drawn', async (faults, abi) => {
    const words = `--iterations 12 --channels 1 --abi ${abi} --ops allreduce:16K/ll --kernel-marks ${faults}`;
    const { view, truths } = await runAndMerge(2, words);
    truths.forEach((truth, rank) => {
      const kernels = onTracks(ofRank(view, rank), /kernel ch/);
      expect(kernels).toHaveLength(totalsOf(truth).starts.KernelCh!);
      // Whatever was stamped: nothing is drawn that began before the first call, a time of 0 least of all.
      const firstCall = named(ofRank(view, rank), 'ncclAllReduce')[0]!.ts;
      for (const { ts, dur } of kernels) expect(ts >= firstCall && dur >= 0n).toBe(true);
    });
  });
});

describe('transports that forget', () => {
  it.each(['collnet', 'memcpy'])(
    '%s: operations whose end is never told are shown as such, and the collectives are not called hung',
    async (kind) => {
      const { view, truths } = await runAndMerge(2, `--iterations 2 --transport ${kind} --ops allreduce:64K`);
      truths.forEach((truth, rank) => {
        const ops = named(ofRank(view, rank), 'proxy op');
        expect(ops).toHaveLength(totalsOf(truth).starts.ProxyOp!);
        for (const { args } of ops) expect(args.end).toMatch(/never told/);
        expect(named(ofRank(view, rank), 'step')).toEqual([]);
        expect(ofRank(view, rank).filter(({ dur }) => dur < 0n)).toEqual([]);
      });
    },
  );
});

describe('PXN', () => {
  it('draws every operation once, in the process that executed it', async () => {
    const words = '--iterations 2 --channels 1 --pxn 0:2 --ops allreduce:256K';
    const { view, truths } = await runAndMerge(4, words);
    truths.forEach((truth, rank) => {
      const ops = named(ofRank(view, rank), 'proxy send', 'proxy recv');
      expect(ops).toHaveLength(proxyOpsOf(truth).length);
      const steps = named(ofRank(view, rank), 'step');
      expect(steps).toHaveLength(proxyOpsOf(truth).reduce((sum, { stepsDone }) => sum + stepsDone, 0));
    });
  });
});

describe('abuse', () => {
  it.each([1, 2, 3, 4, 5, 6, 7])('v%i: the real transfers are all there', async (abi) => {
    const words = `--iterations 2 --channels 1 --abi ${abi} --abuse all --ops allreduce:256K,group{send+recv:64K}`;
    const { view, truths } = await runAndMerge(2, words);
    truths.forEach((truth, rank) => {
      const steps = named(ofRank(view, rank), 'step').filter(({ dur }) => dur >= 0n);
      expect(steps.length).toBeGreaterThanOrEqual(
        proxyOpsOf(truth).reduce((sum, { stepsDone }) => sum + stepsDone, 0),
      );
    });
  });
});
