/** The closing report of a run in which everything special happens at once: few lines, 80 columns, plain words. */

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mergeReportText } from '../../src/report/merge_report.js';
import { merge } from '../../src/merge.js';
import { coll, recording } from '../support/made_up/recording.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

const EPOCH = 1_790_000_000_000_000_000n;

function everything() {
  const made = recording({ worldSize: 2, rank: 1 });
  const { file, comm, host, ops, steps } = made;
  const tp = file.communicator({ name: 'tp', commId: 9n, rank: 0, nRanks: 2, abi: 9, finalizeTick: 9000 });
  const work = coll(host, comm, 100, 120, 1);
  const recv = ops.startProxyOp(200, { comm, parent: work, peer: 0 });
  steps.state(220, steps.startProxyStep(210, { comm, parent: recv, step: 0 }), 99);
  ops.stop(300, recv).stop(310, recv);
  ops.startProxyOp(320, { comm, parent: work, peer: 0, ordinal: 1 });
  ops.startProxyOp(400, { comm, parent: coll(host, comm, 400, 420, 2), peer: 3 });
  ops.startProxyOp(500, { comm: tp, parent: coll(host, tp, 500, 520, 3), peer: 1, isSend: true });
  ops.startProxyOp(600, { comm, parent: coll(host, comm, 600, 620, 4), peer: 2, isSend: true });
  const foreign = { foreignContext: 0x9180_7e00_0000_0002n, parent: 0x9180_0000_0000_0004n, pid: 4711 };
  ops.stop(750, ops.startProxyOp(700, { ...foreign, peer: 2, isSend: true }));
  const kernel = ops.startKernelCh(800, { comm, parent: work, pTimer: EPOCH });
  ops
    .state(900, kernel, 22, EPOCH - 5n)
    .stop(900, kernel)
    .state(910, kernel, 22, EPOCH)
    .stop(910, kernel);
  const group = host.startGroupApi(1000, { comm });
  host.stop(1020, host.startCollApi(1010, { comm, parent: group, func: 'Broadcast' })).stop(1030, group);
  host.stop(1050, host.startCeColl(1040, { comm }));
  host.stop(1070, host.startUnknown(1060, 0x40000, { comm }));
  ops.count({ nullCalls: 7 });
  host.stop(9020, host.startKernelLaunch(9010, { comm: tp }));
  return file.heartbeat(10_000);
}

it('says each of them once', async () => {
  const path = join(folder, 'rank00001.bin');
  everything().write(path);
  const report = await merge({ inputs: [path], output: join(folder, 'out.pftrace'), jobs: 1 });
  const lines = mergeReportText({ ...report, output: 'out.pftrace' })
    .trimEnd()
    .split('\n');
  expect(lines).toEqual([
    '1 of 4 ranks, 34 records, 10 us',
    'not closed: rank 1 (killed, or still running)',
    'not finished: AllReduce seq 4 on dp, on rank 1',
    'aborted, not finished at finalize: AllReduce seq 3 on tp, on rank 1',
    'only calls are known, not their ends: 1 copy engine, 1 Broadcast',
    'end not reported by NCCL: 1 proxy operations (CollNet, memcpy)',
    'executed for other ranks (PXN): 1 sends',
    'missing: the files of the ranks that 1 of them were for (pid 4711)',
    'stray: 1 states or stops that fit no event (late, repeated, foreign)',
    'stray: 1 events with a parent of earlier work (stale parents)',
    'stray: 1 steps that NCCL never stopped, ended with their operation',
    'stray: 1 events of communicators already finalized',
    'stray: 7 stops and states of NULL, as NCCL sends them; nothing is missing',
    'suspect: 1 kernel timestamps that cannot be true, drawn as noticed',
    'suspect: 1 kernels ended, and NCCL never reported their start',
    'unknown: profiler interface v9, 1 times on rank 1',
    'unknown: ProxyStep state 99, 1 times on rank 1',
    'unknown: event type 0x40000, 1 times on rank 1',
    expect.stringMatching(/^trace: out\.pftrace \([\d.]+ kB, \d+ slices, \d+ arrows\)$/),
    'WORKING  up to the end of the records: killed then, or a copy of a live job',
    '  unfinished:     rank 1, too briefly for a hang',
    '  after that:     not known: no heartbeat was recent when the files were read',
    '  last movement:  9 us before the last sign of life, 08:53:20 UTC',
    '  no file:        rank 0,2-3 of 4: what they did is not known',
    '  end not known:  3 collectives, sends, receives',
    '  lost records:   none',
    '  clocks:         one counter for all ranks, exact',
    'next: nccl-trace open out.pftrace',
  ]);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});
