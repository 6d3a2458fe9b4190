/**
 * What the trace shows is what the loopback did: the same collectives, operations, steps and bytes on every rank, by two
 * accounts that share nothing but the callbacks between them.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { record } from '../support/loopback.js';
import { temporaryFolder } from '../support/made_up_run.js';
import { viewTrace, type TraceView, type ViewSlice } from '../support/trace_view.js';
import { readTruth, toldOf, totalsOf, type TaskTruth, type TruthLine } from '../support/truth.js';

interface Seen {
  readonly view: TraceView;
  readonly truths: readonly (readonly TruthLine[])[];
}

async function runAndMerge(
  ranks: number,
  words: string,
  settings: Record<string, string> = {},
): Promise<Seen> {
  const { folder, remove } = temporaryFolder();
  try {
    const recording = await record(folder, `--ranks ${ranks} ${words}`, settings);
    const output = join(folder, 'out.pftrace');
    const report = await merge({ inputs: [recording.folder], output, jobs: 1 });
    const lost = report.ranks.flatMap((rank) => Object.values(rank.lost));
    expect(lost.every((slots) => slots === 0)).toBe(true);
    const view = viewTrace(readFileSync(output), { emptySlices: 'fine' });
    expect(view.problems).toEqual([]);
    expect(report.trace.flows).toBe(view.flows.length);
    const truths = Array.from({ length: ranks }, (_, rank) => readTruth(recording.truth, rank));
    return { view, truths };
  } finally {
    remove();
  }
}

const ofRank = (view: TraceView, rank: number): ViewSlice[] =>
  view.slices.filter(({ track }) => track.process?.pid === 1_000_000 + rank);

/** "comm world 0xabc (8 ranks)" → "0xabc" */
const commOf = (slice: ViewSlice): string =>
  /comm .*?(0x[0-9a-f]+) \(/.exec(slice.track.path.join('/'))?.[1] ?? 'none';

/** An aborted one ends, drawn, at the finalize of its communicator. */
const isDone = ({ dur, args }: ViewSlice): boolean =>
  dur >= 0n && args.completion !== 'not finished when the communicator was finalized';

function worksSeen(view: TraceView, rank: number): string[] {
  return ofRank(view, rank)
    .filter(({ track }) => /^(collectives|point-to-point)/.test(track.name))
    .map((slice) => {
      const { seq, peer, count } = slice.args;
      return `${slice.name} ${commOf(slice)} ${seq ?? `peer ${peer}`} count ${count} done ${isDone(slice)}`;
    })
    .sort();
}

/** NCCL's Coll event counts these in bytes; the loopback's data are floats. */
const countInEvent = ({ func, count }: TaskTruth): number =>
  func === 'AllGather' || func === 'Broadcast' ? count * 4 : count;

function worksDone(truth: readonly TruthLine[]): string[] {
  return toldOf(truth)
    .tasks.map((work) => {
      const which = work.seq ?? `peer ${work.peer}`;
      return `${work.func} ${work.comm} ${which} count ${countInEvent(work)} done ${work.completed}`;
    })
    .sort();
}

function opsSeen(view: TraceView, rank: number): string[] {
  return ofRank(view, rank)
    .filter(({ name }) => name === 'proxy send' || name === 'proxy recv')
    .map((slice) => {
      const [, channel, direction, peer] = /ch(\d+) (send to|recv from) (\d+)/.exec(slice.track.name) ?? [];
      const { ordinal, nSteps, bytes } = slice.args;
      return `${commOf(slice)} ch ${Number(channel)} ${direction} ${peer} #${ordinal} ${nSteps} steps ${bytes} bytes`;
    })
    .sort();
}

function opsDone(truth: readonly TruthLine[]): string[] {
  return toldOf(truth)
    .ops.map((op) => {
      const direction = op.isSend ? 'send to' : 'recv from';
      return `${op.comm} ch ${op.channel} ${direction} ${op.peer} #${op.ordinal} ${op.nSteps} steps ${op.bytes} bytes`;
    })
    .sort();
}

/** Steps per connection: "comm channel direction peer" → how many. */
function stepsSeen(view: TraceView, rank: number): Map<string, number> {
  const steps = new Map<string, number>();
  for (const slice of ofRank(view, rank)) {
    if (slice.name !== 'step') continue;
    const [, channel, direction, peer] =
      /ch(\d+) (send to|recv from) (\d+)/.exec(slice.track.path.join('/')) ?? [];
    const key = `${commOf(slice)} ch ${Number(channel)} ${direction} ${peer}`;
    steps.set(key, (steps.get(key) ?? 0) + 1);
  }
  return steps;
}

function stepsDone(truth: readonly TruthLine[]): Map<string, number> {
  const steps = new Map<string, number>();
  for (const op of toldOf(truth).ops) {
    const key = `${op.comm} ch ${op.channel} ${op.isSend ? 'send to' : 'recv from'} ${op.peer}`;
    steps.set(key, (steps.get(key) ?? 0) + op.stepsDone);
  }
  return steps;
}

const sum = <T>(list: readonly T[], pick: (item: T) => number): number =>
  list.reduce((total, item) => total + pick(item), 0);

function overAndIn(): string {
  const ops = 'group{allreduce@dp:64K+allreduce:128K+group{allreduce@tp:4K}+allgather@dp:32K}';
  return `--groups tp=2 --groups-strided dp=2 --ops ${ops}`;
}

/** `abi`: before v4 steps have no sizes and no peer waits, so there are no arrows; v1 counts raw steps. */
function expectTraceIsTrue({ view, truths }: Seen, abi = 6): void {
  truths.forEach((truth, rank) => {
    expect(worksSeen(view, rank)).toEqual(worksDone(truth));
    const opText = (ops: string[]): string[] =>
      abi === 1 ? ops.map((op) => op.replace(/ \d+ steps/, '')) : ops;
    expect(opText(opsSeen(view, rank)).sort()).toEqual(opText(opsDone(truth)).sort());
    if (abi > 1) expect(stepsSeen(view, rank)).toEqual(stepsDone(truth));
    const totals = totalsOf(truth);
    const slices = ofRank(view, rank);
    const steps = slices.filter(({ name }) => name === 'step');
    expect(steps).toHaveLength(totals.starts.ProxyStep ?? 0);
    expect(slices.filter(({ track }) => track.name.startsWith('kernel ch'))).toHaveLength(
      totals.starts.KernelCh ?? 0,
    );
    const polls = sum(
      steps.filter(({ track }) => track.path.join('/').includes(' send to ')),
      ({ args }) => Number(args.peerPolls ?? 1),
    );
    if (abi >= 4) expect(polls).toBe(totals.states['20'] ?? 0);
    for (const [name, isSend] of [
      ['tx bytes', true],
      ['rx bytes', false],
    ] as const) {
      const samples = view.counters.filter(
        ({ track }) => track.name === name && track.process?.pid === 1_000_000 + rank,
      );
      const bytes = sum(
        toldOf(truth).ops.filter((op) => op.isSend === isSend),
        (op) => op.bytes,
      );
      expect(samples.at(-1)?.value ?? 0).toBe(bytes);
    }
  });
  const sends = sum(truths, (truth) =>
    sum(
      toldOf(truth).ops.filter(({ isSend }) => isSend),
      ({ stepsDone }) => stepsDone,
    ),
  );
  expect(view.flows).toHaveLength(abi >= 4 ? sends : 0);
  for (const { from, to } of view.flows) {
    expect([from.name, to.name]).toEqual(['peer wait', 'flush wait']);
    expect(from.ts + from.dur).toBeLessThanOrEqual(to.ts);
  }
}

describe('the trace is what the loopback did', () => {
  it('on 2 ranks: AllReduce in both protocols, send and receive', async () => {
    const ops = 'allreduce:1M,allreduce:24K/ll,group{send+recv:1M}';
    expectTraceIsTrue(await runAndMerge(2, `--channels 2 --iterations 2 --ops ${ops}`));
  });

  it('on 8 ranks with a world, consecutive and strided groups', async () => {
    const ops =
      'allreduce@tp:128K*2,allreduce@dp:64K,allreduce:512K,group{send+recv:64K},allgather:256K,reducescatter:256K';
    const words = `--channels 2 --iterations 2 --groups tp=4 --groups-strided dp=2 --ops ${ops}`;
    expectTraceIsTrue(await runAndMerge(8, words));
  });

  it.each([
    ['trees beside rings', 5, '--ops allreduce:900K/tree,allreduce:300K,allreduce:20K/tree/ll'],
    ['AlltoAll, with what stays on the rank', 4, '--ops alltoall:400K,group{send(0)+recv(0):4K}'],
    ['a broadcast nobody tells of, and a reduction', 3, '--ops broadcast:200K,reduce(2):200K,allreduce:100K'],
    ['a group over communicators, and groups in groups', 4, overAndIn()],
    ['a graph and its replays', 4, '--ops graph{allreduce:200K+group{send+recv:40K}}*3,allreduce:100K'],
    ['a graph of trees and AlltoAll', 4, '--ops graph{allreduce:100K/tree+alltoall:100K}*2'],
    ['split plans', 3, '--plan-tasks 2 --ops group{allreduce:100K*5+alltoall:90K+allgather:30K}'],
    [
      'non-blocking communicators',
      3,
      '--non-blocking --ops allreduce:100K*2,group{allreduce:40K+send+recv:9K}',
    ],
    [
      'ranks in another order',
      4,
      '--groups tp=4:reversed --ops allreduce@tp:100K,group{send@tp+recv@tp:40K}',
    ],
    [
      'children that outlive their parent',
      4,
      '--groups 2 --exit parent-first --ops allreduce:40K,allreduce@tp:90K',
    ],
    ['finalize with work under way', 2, '--exit hasty --slow-rank 1 --slow-us 50000 --ops allreduce:900K'],
  ])('%s', async (_, ranks, words) => {
    expectTraceIsTrue(await runAndMerge(ranks, `--channels 2 --iterations 2 ${words}`));
  });

  it('ncclCommAbort: what was under way ends with the communicator, and is called aborted', async () => {
    const words = '--skip-rank 2 --skip-at 1 --hang-seconds 0.3 --hang-signal ABORT --ops allreduce:100K';
    const { view, truths } = await runAndMerge(3, `--channels 2 --iterations 2 ${words}`);
    truths.forEach((truth, rank) => {
      expect(worksSeen(view, rank)).toEqual(worksDone(truth));
      expect(stepsSeen(view, rank).size).toBe(4);
      const aborted = ofRank(view, rank).filter((slice) => slice.name === 'AllReduce' && !isDone(slice));
      expect(aborted).toHaveLength(rank === 2 ? 0 : 1);
    });
  });

  it('a broadcast with NCCL_ALLGATHERV_ENABLE=0', async () => {
    const words = '--channels 2 --iterations 2 --ops broadcast(1):200K,broadcast:2M';
    expectTraceIsTrue(await runAndMerge(3, words, { NCCL_ALLGATHERV_ENABLE: '0' }));
  });

  it.each([1, 2, 3, 4, 5, 6, 7])('through interface v%d, as the NCCL that speaks it', async (abi) => {
    const ops = 'allreduce:256K,allreduce:16K/ll,group{send+recv:128K}';
    expectTraceIsTrue(await runAndMerge(2, `--abi ${abi} --channels 2 --iterations 2 --ops ${ops}`), abi);
  });

  it.each([
    [4, 6],
    [5, 6],
    [5, 7],
    [6, 7],
  ])('through an interface v%d plugin in the NCCL that speaks v%d', async (plugin, nccl) => {
    const words = `--abi ${nccl} --plugin-abi ${plugin} --channels 2 --iterations 2 --ops allreduce:256K,group{send+recv:128K}`;
    expectTraceIsTrue(await runAndMerge(2, words));
  });

  it.each([1, 2, 3])('as far as NCCL tells it: an interface v%d plugin in NCCL 2.30', async (plugin) => {
    const words = `--abi 6 --plugin-abi ${plugin} --channels 2 --iterations 2 --ops allreduce:256K`;
    const { view, truths } = await runAndMerge(2, words);
    truths.forEach((truth, rank) => {
      const slices = ofRank(view, rank);
      expect(slices.filter(({ name }) => name === 'step')).toHaveLength(
        totalsOf(truth).starts.ProxyStep ?? 0,
      );
      expect(slices.filter(({ name, dur }) => name === 'AllReduce' && dur >= 0n)).toHaveLength(2);
      expect(slices.some(({ track }) => track.path.join('/').includes('size not told'))).toBe(true);
    });
    expect(view.flows).toEqual([]);
  });

  it('8 ranks, 64 MiB, 8 channels, SIMPLE: 16 operations and 448 steps per rank', async () => {
    const seen = await runAndMerge(8, '--channels 8 --iterations 1 --proto simple --ops allreduce:64M');
    expectTraceIsTrue(seen);
    for (const truth of seen.truths)
      expect(totalsOf(truth).starts).toMatchObject({ ProxyOp: 16, ProxyStep: 448 });
  });
});
