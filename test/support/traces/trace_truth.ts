/** Compares a merged trace with the loopback's own account of the same run, rank by rank. */

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { merge } from '../../../src/merge.js';
import type { MergeReport } from '../../../src/report/report.js';
import { record } from '../jobs/loopback.js';
import { temporaryFolder } from '../program/temporary_folder.js';
import { functionOf, viewTrace, type TraceView, type ViewSlice } from './trace_view.js';
import { readTruth, reportedOf, totalsOf, type TaskTruth, type TruthLine } from '../jobs/truth.js';

export interface Seen {
  readonly view: TraceView;
  readonly report: MergeReport;
  readonly truths: readonly (readonly TruthLine[])[];
}

/** `without`: the rank whose file is removed before the merge. */
export async function runAndMerge(
  ranks: number,
  args: string,
  settings: Record<string, string> = {},
  { without }: { readonly without?: number } = {},
): Promise<Seen> {
  const { folder, remove } = temporaryFolder();
  try {
    const recording = await record(folder, `--ranks ${ranks} ${args}`, settings);
    if (without !== undefined) rmSync(join(recording.folder, `rank${String(without).padStart(5, '0')}.bin`));
    const output = join(folder, 'out.pftrace');
    const report = await merge({ inputs: [recording.folder], output, jobs: 1 });
    const lost = report.ranks.flatMap((rank) => Object.values(rank.lost));
    expect(lost.every((slots) => slots === 0)).toBe(true);
    const view = viewTrace(readFileSync(output), { emptySlices: 'fine' });
    expect(view.problems).toEqual([]);
    expect(report.trace.flows).toBe(view.flows.length);
    const truths = Array.from({ length: ranks }, (_, rank) => readTruth(recording.truth, rank));
    return { view, report, truths };
  } finally {
    remove();
  }
}

export const ofRank = (view: TraceView, rank: number): ViewSlice[] =>
  view.slices.filter(({ track }) => track.process?.pid === 1_000_000 + rank);

/** "comm world 0xabc (8 ranks)" → "0xabc" */
export const commOf = (slice: ViewSlice): string =>
  /comm .*?(0x[0-9a-f]+) \(/.exec(slice.track.path.join('/'))?.[1] ?? 'none';

/** Aborted work is drawn up to the finalize of its communicator, so it has an end, too. */
export const isDone = ({ dur, args }: ViewSlice): boolean =>
  dur >= 0n && args.completion !== 'not finished when the communicator was finalized';

export function worksSeen(view: TraceView, rank: number): string[] {
  return ofRank(view, rank)
    .filter(({ track }) => / · (collectives|point-to-point)/.test(track.name))
    .map((slice) => {
      const { seq, peer, count } = slice.args;
      return `${functionOf(slice)} ${commOf(slice)} ${seq ?? `peer ${peer}`} count ${count} done ${isDone(slice)}`;
    })
    .sort();
}

/** NCCL's Coll event counts these two functions in bytes. The loopback sends floats. */
const countInEvent = ({ func, count }: TaskTruth): number =>
  func === 'AllGather' || func === 'Broadcast' ? count * 4 : count;

export function worksDone(truth: readonly TruthLine[]): string[] {
  return reportedOf(truth)
    .tasks.map((work) => {
      const which = work.seq ?? `peer ${work.peer}`;
      return `${work.func} ${work.comm} ${which} count ${countInEvent(work)} done ${work.completed}`;
    })
    .sort();
}

export function opsSeen(view: TraceView, rank: number): string[] {
  return ofRank(view, rank)
    .filter(({ name }) => name === 'proxy send' || name === 'proxy recv')
    .map((slice) => {
      const [, channel, direction, peer] = /ch(\d+) (send to|recv from) (\d+)/.exec(slice.track.name) ?? [];
      const { ordinal, nSteps, bytes } = slice.args;
      return `${commOf(slice)} ch ${Number(channel)} ${direction} ${peer} #${ordinal} ${nSteps} steps ${bytes} bytes`;
    })
    .sort();
}

/** The trace names a peer by its rank in the job. */
type PeerName = (comm: string, rank: number) => number;

export function peerNames(truths: readonly (readonly TruthLine[])[]): PeerName {
  const byName = new Map<string, number>();
  truths.forEach((truth, inJob) => {
    for (const { kind, comm, rank } of truth)
      if (kind === 'comm') byName.set(`${String(comm)} ${String(rank)}`, inJob);
  });
  return (comm, rank) => byName.get(`${comm} ${rank}`) ?? rank;
}

export function opsDone(truth: readonly TruthLine[], peerOf: PeerName = (_, rank) => rank): string[] {
  return reportedOf(truth)
    .ops.map((op) => {
      const direction = op.isSend ? 'send to' : 'recv from';
      const peer = peerOf(op.comm, op.peer);
      return `${op.comm} ch ${op.channel} ${direction} ${peer} #${op.ordinal} ${op.nSteps} steps ${op.bytes} bytes`;
    })
    .sort();
}

/** Steps per connection: "comm channel direction peer" → how many. */
export function stepsSeen(view: TraceView, rank: number): Map<string, number> {
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

export function stepsDone(
  truth: readonly TruthLine[],
  peerOf: PeerName = (_, rank) => rank,
): Map<string, number> {
  const steps = new Map<string, number>();
  for (const op of reportedOf(truth).ops) {
    const key = `${op.comm} ch ${op.channel} ${op.isSend ? 'send to' : 'recv from'} ${peerOf(op.comm, op.peer)}`;
    steps.set(key, (steps.get(key) ?? 0) + op.stepsDone);
  }
  return steps;
}

const sum = <T>(list: readonly T[], pick: (item: T) => number): number =>
  list.reduce((total, item) => total + pick(item), 0);

/** `abi`: before v4, steps have no sizes and no peer waits, so there are no arrows. v1 counts raw steps. */
export function expectTraceIsTrue({ view, truths }: Seen, abi = 6): void {
  const peerOf = peerNames(truths);
  truths.forEach((truth, rank) => {
    expect(worksSeen(view, rank)).toEqual(worksDone(truth));
    const opText = (ops: string[]): string[] =>
      abi === 1 ? ops.map((op) => op.replace(/ \d+ steps/, '')) : ops;
    expect(opText(opsSeen(view, rank)).sort()).toEqual(opText(opsDone(truth, peerOf)).sort());
    if (abi > 1) expect(stepsSeen(view, rank)).toEqual(stepsDone(truth, peerOf));
    const totals = totalsOf(truth);
    const slices = ofRank(view, rank);
    const steps = slices.filter(({ name }) => name === 'step');
    const repeats = sum(steps, ({ args }) => Number(args.startRepeats ?? 0));
    expect(steps.length + repeats).toBe(totals.starts.ProxyStep ?? 0);
    expect(slices.filter(({ track }) => track.name.includes(' · kernel ch'))).toHaveLength(
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
        ({ track }) => track.name === `rank ${rank} · ${name}` && track.process?.pid === 1_000_000 + rank,
      );
      const bytes = sum(
        reportedOf(truth).ops.filter((op) => op.isSend === isSend),
        (op) => op.bytes,
      );
      expect(samples.at(-1)?.value ?? 0).toBe(bytes);
    }
  });
  const sends = sum(truths, (truth) =>
    sum(
      reportedOf(truth).ops.filter(({ isSend }) => isSend),
      ({ stepsDone }) => stepsDone,
    ),
  );
  expect(view.flows).toHaveLength(abi >= 4 ? sends : 0);
  for (const { from, to } of view.flows) {
    expect([from.name, to.name]).toEqual(['peer wait', 'flush wait']);
    expect(from.ts + from.dur).toBeLessThanOrEqual(to.ts);
  }
}
