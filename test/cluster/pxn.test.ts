/**
 * PXN: sends that another process of the host executes, as a user sees them in the merged trace. Rank 0 enqueues, rank 1
 * executes rank 0's send to rank 2, rank 2 receives. Handles are what NCCL carries from process to process.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mergeReportText } from '../../src/report/merge_report.js';
import { merge } from '../../src/merge.js';
import type { MergeReport } from '../../src/report/report.js';
import { RankFileBuilder, type FileOptions } from '../support/rank_files/rank_file_builder.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';
import { functionOf, viewTrace, type TraceView, type ViewSlice } from '../support/traces/trace_view.js';

const COMM_ID = 0xabcn;
const TAGS = [0x123n, 0x145n, 0x167n].map((bits) => 0x8080_0000_0000_0000n | (bits << 48n));

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

/** All processes of the run have pid 1, as in containers: only tags tell them apart. */
function process(rank: number, options: FileOptions = {}) {
  const file = new RankFileBuilder({
    rank,
    worldSize: 3,
    pid: 1,
    pidNamespace: BigInt(rank),
    tag: TAGS[rank]!,
    ...options,
  });
  const comm = file.communicator({ name: 'dp', commId: COMM_ID, rank, nRanks: 3 });
  const host = file.ring('host', 64, { threadName: 'python', tid: 10 });
  const ops = file.ring('ops', 64, { threadName: 'NCCL Progress 0', tid: 11 });
  const steps = file.ring('steps', 64, { threadName: 'NCCL Progress 0', tid: 11 });
  return { rank, file, comm, host, ops, steps };
}

interface Shape {
  /** null: it never stops. */
  readonly sendStop?: number | null;
  readonly originator?: FileOptions;
  readonly executor?: FileOptions;
  readonly p2p?: boolean;
}

function pxnRun({ sendStop = 9000, originator = {}, executor = {}, p2p = false }: Shape = {}) {
  const [a, b, c] = [process(0, originator), process(1, executor), process(2)] as const;
  const enqueue = ({ host, comm, rank }: ReturnType<typeof process>, at: number): bigint => {
    const shape = { comm, seqNumber: 7, func: 'AllReduce' };
    const work = p2p
      ? host.startP2p(at, { comm, func: rank === 0 ? 'Send' : 'Recv', peer: 2 - rank })
      : host.startColl(at, shape);
    host.stop(at + 50, work);
    return work;
  };
  const parent = enqueue(a, 1000);
  // NCCL's descriptor travels through shared memory: context, parent and pid are rank 0's.
  const send = b.ops.startProxyOp(2000, {
    parent,
    foreignContext: a.file.context(a.comm),
    pid: 1,
    peer: 2,
    isSend: true,
    nSteps: 1,
  });
  const sent = b.steps.startProxyStep(2100, { comm: 0xfffffffe, parent: send, step: 0 });
  const qp = b.steps.startNetPlugin(2105, { comm: 0xfffffffe, parent: sent, length: 4096n });
  b.steps.stop(2106, qp);
  b.steps.state(2110, sent, 8).state(2200, sent, 20).state(2300, sent, 9, 4096).stop(5000, sent);
  if (sendStop !== null) b.ops.stop(sendStop, send);
  const theirs = enqueue(c, 1100);
  const recv = c.ops.startProxyOp(2000, { comm: c.comm, parent: theirs, peer: 0, nSteps: 1 });
  const received = c.steps.startProxyStep(2050, { comm: c.comm, parent: recv, step: 0 });
  c.steps
    .state(2060, received, 10)
    .state(4000, received, 11, 4096)
    .state(4010, received, 12)
    .stop(4500, received);
  c.ops.stop(4600, recv);
  return [a, b, c];
}

async function show(processes: readonly { rank: number; file: RankFileBuilder }[], jobs = 1) {
  const inputs = processes.map(({ rank, file }) => {
    const path = join(folder, `rank${rank}.bin`);
    file.heartbeat(20_000).write(path);
    return path;
  });
  const output = join(folder, 'out.pftrace');
  const report = await merge({ inputs, output, jobs, force: true });
  const view = viewTrace(readFileSync(output), { emptySlices: 'fine' });
  expect(view.problems).toEqual([]);
  expect(report.trace.flows).toBe(view.flows.length);
  return { report, view };
}

const rankOf = ({ track }: ViewSlice): number => (track.process?.pid ?? 0) - 1_000_000;
const find = (view: TraceView, rank: number, name: string): ViewSlice =>
  view.slices.find((slice) => functionOf(slice) === name && rankOf(slice) === rank)!;
const ticks = (view: TraceView, ts: bigint): number => Number(ts - view.start);
const textOf = (report: MergeReport): string => mergeReportText(report);

describe('a send by PXN', () => {
  it('is on the executing rank, on tracks named after the rank it works for', async () => {
    const { view } = await show(pxnRun());
    const send = find(view, 1, 'proxy send');
    expect(send.track.path.slice(-2)).toEqual([
      'PXN for rank 0000: comm dp 0x0000000000000abc (3 ranks)',
      'rank 0 · ch00 send to 2',
    ]);
    expect(send.args).toMatchObject({ op: 'AllReduce', seq: 7, for: 'rank 0000', bytes: 4096 });
  });

  it('has the arrow from its step to the receiver of the originator', async () => {
    const { view } = await show(pxnRun());
    expect(view.flows.map(({ from, to }) => [rankOf(from), from.name, rankOf(to), to.name])).toEqual([
      [1, 'peer wait', 2, 'flush wait'],
    ]);
  });

  it('carries the events of the network plugin', async () => {
    const { view } = await show(pxnRun());
    expect(find(view, 1, 'IB QP').args).toMatchObject({
      comm: 'dp 0x0000000000000abc',
      direction: 'send',
      peer: 2,
      step: 0,
    });
  });

  it('is joined with its collective by the correlation id', async () => {
    const { view } = await show(pxnRun());
    const ids = [find(view, 0, 'AllReduce'), find(view, 1, 'proxy send'), find(view, 2, 'AllReduce')];
    expect(new Set(ids.map(({ correlation }) => correlation)).size).toBe(1);
    expect(ids[0]!.correlation).toBeDefined();
  });

  it('is joined with its send or receive by the correlation id, too', async () => {
    const { view } = await show(pxnRun({ p2p: true }));
    const ids = [find(view, 0, 'Send'), find(view, 1, 'proxy send'), find(view, 2, 'Recv')];
    expect(new Set(ids.map(({ correlation }) => correlation)).size).toBe(1);
    expect(ids[0]!.correlation).toBeDefined();
  });

  it("ends the originator's collective when its last send ends, and says who executes", async () => {
    const { view, report } = await show(pxnRun());
    const work = find(view, 0, 'AllReduce');
    expect(ticks(view, work.ts + work.dur)).toBe(9000);
    expect(work.args).toMatchObject({ executedBy: 'rank 0001', pxnOps: 1 });
    expect(work.args.completion).toBeUndefined();
    expect(textOf(report)).toContain('executed for other ranks (PXN): 1 sends\n');
  });

  it('ends the collective in the cluster group, and leaves it open while the send is not done', async () => {
    const cluster = ({ view }: { view: TraceView }): ViewSlice =>
      view.slices.find((slice) => functionOf(slice) === 'AllReduce' && slice.args.ranks !== undefined)!;
    const done = await show(pxnRun());
    expect(ticks(done.view, cluster(done).ts + cluster(done).dur)).toBe(9000);
    const open = await show(pxnRun({ sendStop: null }));
    expect([cluster(open).dur, cluster(open).args.open]).toEqual([-1n, '0']);
  });

  it("leaves the originator's collective open while a send of it is not done", async () => {
    const { view, report } = await show(pxnRun({ sendStop: null }));
    expect(find(view, 0, 'AllReduce').dur).toBe(-1n);
    expect(textOf(report)).toContain('not finished: AllReduce seq 7 on dp, on rank 0\n');
  });

  it("is not compared with the finalize of its communicator, which is in the originator's ticks", async () => {
    const [a, b, c] = pxnRun();
    // Rank 0 began to record long after rank 1: a small number of its ticks is late on rank 1's.
    a!.file.finalize(a!.comm, 1500);
    const { report, view } = await show([a!, b!, c!]);
    expect(report.ranks.map(({ afterFinalize }) => afterFinalize)).toEqual([0, 0, 0]);
    expect(view.slices.filter(({ name }) => name === 'after finalize')).toEqual([]);
    const send = find(view, 1, 'proxy send');
    expect(ticks(view, send.ts + send.dur)).toBe(9000);
  });

  it('is drawn, counted and named by pid if its originator left no file', async () => {
    const { view, report } = await show(pxnRun().slice(1));
    const send = find(view, 1, 'proxy send');
    expect(send.track.path.at(-2)).toMatch(/^PXN for pid 1, whose file is not here \(context 0x81/);
    expect(send.args).toMatchObject({ op: 'unknown', for: 'pid 1, whose file is not here' });
    expect(view.flows).toEqual([]);
    expect(textOf(report)).toContain('missing: the files of the ranks that 1 of them were for (pid 1)\n');
    expect(report.ranks[0]!.pxn).toEqual({ ops: 1, unexplained: 1, pids: [1] });
  });

  it('is not attributed to a file that has the tag by chance: another boot, or two files with it', async () => {
    const elsewhere = await show(pxnRun({ originator: { bootId: 'ff'.repeat(16) } }));
    expect(elsewhere.report.ranks[1]!.pxn.unexplained).toBe(1);
    const [a, b, c] = pxnRun();
    const twin = process(3, { tag: TAGS[0]!, rank: 3, worldSize: 4 });
    const { report } = await show([a!, b!, c!, twin]);
    expect(report.ranks[1]!.pxn.unexplained).toBe(1);
  });

  it("keeps its communicator and arrow if its collective was overwritten in the originator's ring", async () => {
    const [a, b, c] = pxnRun();
    for (let i = 0; i < 64; i++) a!.host.stop(3000 + i, a!.host.startGroupApi(3000 + i, { comm: a!.comm }));
    const { view } = await show([a!, b!, c!]);
    expect(find(view, 1, 'proxy send').args).toMatchObject({ op: 'unknown', for: 'rank 0000' });
    expect(view.flows).toHaveLength(1);
  });
});
