/**
 * Rare events of NCCL, as a user sees them: the trace of a loopback run against the loopback's own account. `truth.test.ts`
 * does the same for the usual events.
 */

import { describe, expect, it } from 'vitest';
import { mergeReportText } from '../../src/report/merge_report.js';
import type { TraceView, ViewSlice } from '../support/traces/trace_view.js';
import {
  commOf,
  expectTraceIsTrue,
  isDone,
  ofRank,
  opsDone,
  opsSeen,
  runAndMerge,
  stepsDone,
  worksDone,
  worksSeen,
} from '../support/traces/trace_truth.js';
import { proxyOpsOf, tasksOf, totalsOf, type TruthLine } from '../support/jobs/truth.js';

const sum = <T>(list: readonly T[], pick: (item: T) => number): number =>
  list.reduce((total, item) => total + pick(item), 0);
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
    const args = `--channels 1 --iterations 2 --abi ${abi} --net-events ${kind} --ops allreduce:256K,group{send+recv:64K}`;
    const { view, truths } = await runAndMerge(2, args);
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

  it('v6: symmetric kernels, which have only the call', async () => {
    const { view } = await runAndMerge(2, '--iterations 2 --symmetric --ops allreduce:256K');
    for (const rank of [0, 1]) {
      expect(named(ofRank(view, rank), 'ncclAllReduce')).toHaveLength(2);
      expect(onTracks(ofRank(view, rank), /collectives|kernel ch/)).toEqual([]);
    }
  });

  it('v7: symmetric kernels, with their phases', async () => {
    const args = '--iterations 2 --channels 2 --abi 7 --symmetric --gpu-tick 1 --ops allreduce:256K';
    const { view, truths } = await runAndMerge(2, args);
    truths.forEach((truth, rank) => {
      const slices = ofRank(view, rank);
      expect(totalsOf(truth).starts).toMatchObject({ Coll: 2, KernelCh: 4, KernelPhase: 12 });
      expect(named(onTracks(slices, /collectives/), 'AllReduce')).toHaveLength(2);
      expect(named(slices, 'initial_sync', 'compute', 'final_sync')).toHaveLength(12);
    });
  });
});

describe('transports that never stop their operations', () => {
  it.each(['collnet', 'memcpy'])(
    '%s: operations whose end NCCL never reports are shown as such, and the collectives are not called hung',
    async (kind) => {
      const { view, truths } = await runAndMerge(2, `--iterations 2 --transport ${kind} --ops allreduce:64K`);
      truths.forEach((truth, rank) => {
        const ops = named(ofRank(view, rank), 'proxy op');
        expect(ops).toHaveLength(totalsOf(truth).starts.ProxyOp!);
        for (const { args } of ops) expect(args.end).toMatch(/not reported/);
        expect(named(ofRank(view, rank), 'step')).toEqual([]);
        expect(ofRank(view, rank).filter(({ dur }) => dur < 0n)).toEqual([]);
      });
    },
  );
});

describe('PXN', () => {
  const args = '--iterations 2 --channels 1 --pxn 0:2 --ops allreduce:256K';
  const foreign = (view: TraceView): ViewSlice[] =>
    named(ofRank(view, 2), 'proxy send').filter(({ args }) => args.for !== undefined);

  it('draws every operation once, in the process that executed it, in the words of its originator', async () => {
    const { view, truths, report } = await runAndMerge(4, args);
    truths.forEach((truth, rank) => {
      const ops = named(ofRank(view, rank), 'proxy send', 'proxy recv');
      expect(ops).toHaveLength(proxyOpsOf(truth).length);
      const steps = named(ofRank(view, rank), 'step');
      expect(steps).toHaveLength(sum(proxyOpsOf(truth), ({ stepsDone }) => stepsDone));
    });
    const colls = tasksOf(truths[0]!);
    const executed = proxyOpsOf(truths[2]!).filter(({ origin }) => origin === 0);
    const seen = foreign(view);
    expect(seen.map(({ args }) => [args.op, args.seq, args.for, args.nSteps, args.bytes])).toEqual(
      executed.map(({ task, nSteps, bytes }) => {
        const { func, seq } = colls.find((coll) => coll.task === task)!;
        return [func, seq, 'rank 0000', nSteps, bytes];
      }),
    );
    for (const { track } of seen) {
      expect(track.path.at(-2)).toMatch(/^PXN for rank 0000: comm world 0x[0-9a-f]{16} \(4 ranks\)$/);
      expect(track.name).toMatch(new RegExp(` · ch00 send to ${executed[0]!.peer}$`));
    }
    expect(mergeReportText(report)).toContain('executed for other ranks (PXN): 2 sends\n');
  });

  it("has its arrows to the originator's receiver, and ends the originator's collective", async () => {
    const { view, truths } = await runAndMerge(4, args);
    const executed = proxyOpsOf(truths[2]!).filter(({ origin }) => origin === 0);
    const isForeign = ({ track }: ViewSlice): boolean => track.path.join('/').includes('PXN for rank 0000');
    const arrows = view.flows.filter(({ from }) => isForeign(from));
    expect(arrows).toHaveLength(sum(executed, ({ stepsDone }) => stepsDone));
    for (const { from, to } of arrows) {
      expect([from.name, to.name]).toEqual(['peer wait', 'flush wait']);
      expect(to.track.process!.pid).toBe(1_000_000 + executed[0]!.peer);
      expect(to.track.path.join('/')).toMatch(/ · ch00 recv from 0\//);
      expect(from.ts + from.dur).toBeLessThanOrEqual(to.ts);
    }
    const works = onTracks(ofRank(view, 0), /collectives/);
    expect(works).toHaveLength(2);
    for (const work of works) {
      expect(work.args).toMatchObject({ executedBy: 'rank 0002', pxnOps: 1 });
      const [op] = foreign(view).filter(({ correlation }) => correlation === work.correlation);
      expect(work.ts + work.dur).toBeGreaterThanOrEqual(op!.ts + op!.dur);
    }
  });

  it('names the missing file of the originator, and makes no claim about it', async () => {
    const { view, truths, report } = await runAndMerge(4, args, {}, { without: 0 });
    const { pid } = truths[0]!.find(({ kind }) => kind === 'process')! as unknown as { pid: number };
    expect(report.missingRanks).toEqual([0]);
    expect(report.ranks.find(({ rank }) => rank === 2)!.pxn).toEqual({ ops: 2, unexplained: 2, pids: [pid] });
    expect(mergeReportText(report)).toContain(
      `missing: the files of the ranks that 2 of them were for (pid ${pid})\n`,
    );
    const seen = foreign(view);
    expect(seen).toHaveLength(2);
    for (const { args, track } of seen) {
      expect(args).toMatchObject({ op: 'unknown', for: `pid ${pid}, whose file is not here` });
      expect(track.path.at(-2)).toMatch(new RegExp(`^PXN for pid ${pid}, whose file is not here`));
    }
  });
});

describe('user-buffer registration', () => {
  it('a receive that starts until its kernel has begun is one step, which counts the starts', async () => {
    // Rank 1 is late: on rank 0 the receive waits behind a kernel that waits for rank 1.
    const args = '--registered --spin --slow host:1:3ms --channels 1 --iterations 4';
    const seen = await runAndMerge(2, `${args} --ops allreduce:64K,group{send+recv:1M}`);
    expectTraceIsTrue(seen);
    const steps = named(seen.view.slices, 'step');
    const repeated = steps.filter(({ args }) => args.startRepeats !== undefined);
    expect(repeated.length).toBeGreaterThan(0);
    for (const { args } of repeated) expect(args.step).toBe(0);
  });

  it('one step for each hop of an AllGather, as long as the block', async () => {
    const seen = await runAndMerge(4, '--registered --channels 1 --iterations 2 --ops allgather:8M');
    expectTraceIsTrue(seen);
    for (const { args } of named(seen.view.slices, 'proxy send', 'proxy recv'))
      expect(args).toMatchObject({ nSteps: 3, chunkSize: 2 ** 30, bytes: 3 * 2 * 2 ** 20 });
  });
});

describe('CUDA graphs', () => {
  const args = '--iterations 2 --channels 1 --ops graph{allreduce:64K+group{send+recv:16K}}*3,allgather:64K';

  // With KernelCh NCCL numbers each replay, without it all of them have the number of the first.
  it.each([
    ['numbered by NCCL', 'all', [0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 0]],
    ['told apart here', 'Coll,P2p,CollApi,P2pApi,GroupApi,ProxyOp', [0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5]],
  ])('replays, %s, are works of their own, equal on all ranks', async (_, events, seqs, replays) => {
    const { view, truths } = await runAndMerge(4, args, { NCCL_TRACE_EVENTS: events });
    const perRank = truths.map((truth, rank) => {
      const told = tasksOf(truth).filter(({ graph }) => graph === 'replay');
      const works = onTracks(ofRank(view, rank), /collectives|point-to-point/);
      const ofGraph = works.filter(({ args }) => args.graph === true);
      expect(ofGraph).toHaveLength(told.length);
      for (const { args } of works) expect(args.parent).toBeUndefined();
      expect(named(works, 'AllGather').map(({ args }) => args.graph)).toEqual([undefined, undefined]);
      const colls = named(ofGraph, 'AllReduce').sort((a, b) => Number(a.ts - b.ts));
      expect(colls.map(({ args }) => args.seq)).toEqual(seqs);
      expect(colls.map(({ args }) => args.replay)).toEqual(replays);
      // By the truth one of the two numbers is the replay.
      expect(colls.map(({ args }) => Number(args.seq) + Number(args.replay))).toEqual(
        told.filter(({ func }) => func === 'AllReduce').map(({ replay }) => replay),
      );
      for (const func of ['Send', 'Recv']) {
        const transfers = named(ofGraph, func).sort((a, b) => Number(a.ts - b.ts));
        expect(transfers.map(({ args }) => args.ordinal)).toEqual([0, 1, 2, 3, 4, 5]);
      }
      // The calls were captured once, and nothing ran then.
      expect(named(ofRank(view, rank), 'ncclAllReduce (captured)')).toHaveLength(1);
      return colls.map(({ correlation }) => correlation);
    });
    expect(new Set(perRank[0]).size).toBe(6);
    expect(perRank).toEqual(Array(4).fill(perRank[0]));
  });
});

/**
 * Wrong starts have no stop, so their events are drawn as unfinished, and this test recognises them by it. But they count as
 * operations of their connection: from then on ordinals differ from those of the truth, which no recorder can prevent.
 */
describe('abuse', () => {
  const withoutOrdinal = (op: string): string => op.replace(/ #\d+/, '');
  const isReal = (slice: ViewSlice): boolean =>
    isDone(slice) && slice.args.end === undefined && slice.args.stop === undefined;

  /** v1 reports raw steps, the truth counts transfers. */
  function expectTheRealAreThere(view: TraceView, truth: readonly TruthLine[], rank: number, abi: number) {
    expect(worksSeen(view, rank).filter((work) => work.endsWith('done true'))).toEqual(worksDone(truth));
    const opText = (op: string): string =>
      abi === 1 ? withoutOrdinal(op).replace(/ \d+ steps/, '') : withoutOrdinal(op);
    const ops = named(ofRank(view, rank), 'proxy send', 'proxy recv').filter(isReal);
    expect(
      opsSeen({ ...view, slices: ops }, rank)
        .map(opText)
        .sort(),
    ).toEqual(opsDone(truth).map(opText).sort());
    const steps = named(ofRank(view, rank), 'step').filter(
      (slice) => isReal(slice) && commOf(slice) !== 'none',
    );
    if (abi > 1) expect(steps).toHaveLength(sum([...stepsDone(truth).values()], (count) => count));
  }

  const args = '--iterations 3 --channels 1 --abuse --ops allreduce:256K,group{send+recv:64K}';

  it.each([1, 2, 3, 4, 5, 6, 7])('v%i: all real events are there, the rest is counted', async (abi) => {
    const { view, truths, report } = await runAndMerge(2, `${args} --abi ${abi}`);
    truths.forEach((truth, rank) => {
      expectTheRealAreThere(view, truth, rank, abi);
      const { unknown, strayRecords, nullCalls } = report.ranks[rank]!;
      const counted = (what: RegExp): number =>
        sum(Object.entries(unknown), ([name, count]) => (what.test(name) ? count : 0));
      expect(counted(/^event type/)).toBe(totalsOf(truth).starts.Unknown);
      expect(strayRecords).toBeGreaterThan(0);
      expect(nullCalls).toBeGreaterThan(0);
    });
    expect(mergeReportText(report)).toMatch(/stray: \d+ states or stops that fit no event/);
  });

  it.each([
    [4, 6],
    [5, 7],
    [6, 7],
  ])('an interface v%i plugin in the NCCL that speaks v%i', async (plugin, nccl) => {
    const { view, truths } = await runAndMerge(2, `${args} --abi ${nccl} --plugin-abi ${plugin}`);
    truths.forEach((truth, rank) => {
      expectTheRealAreThere(view, truth, rank, nccl);
    });
  });
});
