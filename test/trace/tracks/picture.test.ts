/**
 * What a rank's records look like when drawn, line by line: "time [track] what". One small recording per rule of
 * schemas/trace.md; the ticks are nanoseconds of the trace.
 */

import { describe, expect, it } from 'vitest';
import { draw } from '../../support/traces/picture.js';
import { RankFileBuilder } from '../../support/rank_files/rank_file_builder.js';
import { argOf, coll, recording } from '../../support/made_up/recording.js';
import { outcomesOf } from '../../../src/model/work_end_table.js';

const COLLECTIVES = /collectives/;
const AR = 'AllReduce seq=5 count=1024 datatype=ncclFloat32 algo=RING proto=SIMPLE channels=1 warps=16';

describe('a collective', () => {
  it('lasts from its start to the end of its last child, on the CPU or the GPU', () => {
    const { file, comm, host, ops } = recording();
    const work = coll(host, comm, 100, 120);
    const op = ops.startProxyOp(200, { comm, parent: work, peer: 2, isSend: true });
    ops.stop(900, op);
    expect(draw(file).sink.of(COLLECTIVES)).toEqual([
      `100 [comm dp 0x0000000000000abc (4 ranks) / collectives] begin ${AR}`,
      '900 [comm dp 0x0000000000000abc (4 ranks) / collectives] end AllReduce',
    ]);
  });

  it('that overlaps another lies in a second lane', () => {
    const { file, comm, host, ops } = recording();
    const opOf = (from: number, seq: number) =>
      ops.startProxyOp(from + 20, { comm, parent: coll(host, comm, from, from + 10, seq) });
    const [first, second] = [opOf(100, 5), opOf(300, 6)];
    ops.stop(700, second);
    const third = opOf(750, 7);
    ops.stop(800, third).stop(900, first);
    const lanes = draw(file)
      .sink.of(COLLECTIVES)
      .map((line) => line.replace(/ seq.*/, ''));
    expect(lanes).toEqual([
      '100 [comm dp 0x0000000000000abc (4 ranks) / collectives] begin AllReduce',
      '300 [comm dp 0x0000000000000abc (4 ranks) / collectives ·2] begin AllReduce',
      '700 [comm dp 0x0000000000000abc (4 ranks) / collectives ·2] end AllReduce',
      '750 [comm dp 0x0000000000000abc (4 ranks) / collectives ·2] begin AllReduce',
      '800 [comm dp 0x0000000000000abc (4 ranks) / collectives ·2] end AllReduce',
      '900 [comm dp 0x0000000000000abc (4 ranks) / collectives] end AllReduce',
    ]);
  });

  it('has a protocol where NCCL names one, and a root where its function has one', () => {
    const { file, comm, host } = recording();
    coll(host, comm, 100, 120, 1, { proto: '' });
    coll(host, comm, 200, 220, 2, { func: 'Broadcast', root: 3 });
    const [symmetric, broadcast] = draw(file)
      .sink.of(COLLECTIVES)
      .filter((line) => line.includes(' begin '));
    expect(symmetric).toContain('algo=RING channels=1');
    expect(broadcast).toContain('algo=RING proto=SIMPLE root=3 channels=1');
  });

  it('without children is enqueued, completion not recorded', () => {
    const { file, comm, host } = recording();
    coll(host, comm, 100, 120);
    expect(draw(file).sink.of(COLLECTIVES)).toEqual([
      `100 [comm dp 0x0000000000000abc (4 ranks) / collectives] begin ${AR} completion=enqueued, completion not recorded`,
      '120 [comm dp 0x0000000000000abc (4 ranks) / collectives] end AllReduce',
    ]);
  });

  it('stays open if a child never ended, and so do its steps', () => {
    const { file, comm, host, ops, steps } = recording();
    const work = coll(host, comm, 100, 120);
    const op = ops.startProxyOp(200, { comm, parent: work, peer: 2, isSend: true });
    const step = steps.startProxyStep(300, { comm, parent: op, step: 4 });
    steps.state(310, step, 8).state(400, step, 20);
    const { sink, scan } = draw(file.heartbeat(5000));
    expect(sink.openSlices()).toEqual([
      '[comm dp 0x0000000000000abc (4 ranks) / collectives] AllReduce',
      '[comm dp 0x0000000000000abc (4 ranks) / ch00 send to 2] proxy send',
      '[comm dp 0x0000000000000abc (4 ranks) / ch00 send to 2 / step slot 4] step',
      '[comm dp 0x0000000000000abc (4 ranks) / ch00 send to 2 / step slot 4] peer wait',
    ]);
    expect(outcomesOf(scan.workEnds)).toEqual(['open']);
    expect(sink.of(/heartbeat/)).toEqual([
      '5000 [recorder / heartbeat] instant last heartbeat life=recording',
    ]);
  });

  it('says so if its children were overwritten', () => {
    const { file, comm, host } = recording();
    const small = file.ring('ops', 4, {});
    coll(host, comm, 100, 120);
    for (let i = 0; i < 4; i++) small.stop(2000 + i, small.startProxyOp(1000 + i, { comm, channel: 9 }));
    expect(draw(file).sink.of(COLLECTIVES)[0]).toContain(
      'completion=enqueued, completion overwritten in the ring',
    );
  });
});

describe('a step', () => {
  it('is cut at the first and the last poll of the peer if it is a send, folded polls included', () => {
    const { file, comm, host, ops, steps } = recording();
    const op = ops.startProxyOp(200, { comm, parent: coll(host, comm, 100, 120), peer: 2, isSend: true });
    const step = steps.startProxyStep(300, { comm, parent: op, step: 9 });
    steps.state(310, step, 8).state(400, step, 20).fold(700, step, 20, 650, 17).state(700, step, 9, 524288);
    steps.stop(800, step);
    ops.stop(900, op);
    expect(draw(file).sink.of(/slot/)).toEqual([
      '300 [comm dp 0x0000000000000abc (4 ranks) / ch00 send to 2 / step slot 1] begin step step=9',
      '310 [comm dp 0x0000000000000abc (4 ranks) / ch00 send to 2 / step slot 1] begin GPU wait',
      '400 [comm dp 0x0000000000000abc (4 ranks) / ch00 send to 2 / step slot 1] end GPU wait',
      '400 [comm dp 0x0000000000000abc (4 ranks) / ch00 send to 2 / step slot 1] begin peer wait flow=1',
      '650 [comm dp 0x0000000000000abc (4 ranks) / ch00 send to 2 / step slot 1] end peer wait',
      '650 [comm dp 0x0000000000000abc (4 ranks) / ch00 send to 2 / step slot 1] begin send wait bytes=524288',
      '800 [comm dp 0x0000000000000abc (4 ranks) / ch00 send to 2 / step slot 1] end send wait',
      '800 [comm dp 0x0000000000000abc (4 ranks) / ch00 send to 2 / step slot 1] end step peerPolls=18',
    ]);
  });

  it('is cut at its arrival and the end of the flush if it is a receive', () => {
    const { file, comm, host, ops, steps } = recording();
    const op = ops.startProxyOp(200, {
      comm,
      parent: coll(host, comm, 100, 120),
      peer: 0,
      isSend: false,
      channel: 3,
    });
    const step = steps.startProxyStep(300, { comm, parent: op, step: 0 });
    steps.state(310, step, 10).state(400, step, 11, 4096).state(410, step, 12).stop(500, step);
    ops.stop(600, op);
    expect(draw(file).sink.of(/slot|rx bytes/)).toEqual([
      '300 [comm dp 0x0000000000000abc (4 ranks) / ch03 recv from 0 / step slot 0] begin step step=0',
      '310 [comm dp 0x0000000000000abc (4 ranks) / ch03 recv from 0 / step slot 0] begin recv wait',
      '400 [comm dp 0x0000000000000abc (4 ranks) / ch03 recv from 0 / step slot 0] end recv wait',
      '400 [comm dp 0x0000000000000abc (4 ranks) / ch03 recv from 0 / step slot 0] begin flush wait bytes=4096 flow=1',
      '410 [comm dp 0x0000000000000abc (4 ranks) / ch03 recv from 0 / step slot 0] end flush wait',
      '410 [comm dp 0x0000000000000abc (4 ranks) / ch03 recv from 0 / step slot 0] begin GPU wait',
      '500 [comm dp 0x0000000000000abc (4 ranks) / ch03 recv from 0 / step slot 0] end GPU wait',
      '500 [comm dp 0x0000000000000abc (4 ranks) / ch03 recv from 0 / step slot 0] end step',
      '400 [rx bytes] = 0',
      '400 [rx bytes] = 4096',
      '400 [comm dp 0x0000000000000abc (4 ranks) / rx bytes from 0] = 0',
      '400 [comm dp 0x0000000000000abc (4 ranks) / rx bytes from 0] = 4096',
    ]);
  });

  it('has no arrow to another clock, and none from an operation without an absolute ordinal', () => {
    for (const [flags, sharesClock] of [
      [0, false],
      [1, true],
    ] as const) {
      const { file, comm, ops, steps } = recording();
      const op = ops.startProxyOp(200, { comm, peer: 2, isSend: true, flags });
      steps.state(300, steps.startProxyStep(250, { comm, parent: op, step: 0 }), 20);
      expect(draw(file, sharesClock).sink.of(/slot/).join()).not.toContain('flow');
    }
  });

  it.each([
    [3, false],
    [4, true],
  ])('interface v%i: an arrow ends where one can have begun, in a peer wait', (abi, hasArrow) => {
    const { file, comm, ops, steps } = recording({ abi });
    const op = ops.startProxyOp(200, { comm, peer: 0 });
    const step = steps.startProxyStep(300, { comm, parent: op, step: 0 });
    steps.state(310, step, 10).state(400, step, 11, 4096);
    const [flushWait] = draw(file)
      .sink.of(/slot/)
      .filter((line) => line.includes('begin flush wait'));
    expect(argOf(flushWait, 'flow')).toBe(hasArrow ? '1' : undefined);
  });

  it('keeps its phases below a stand-in if its operation was overwritten', () => {
    const { file, comm, ops, steps } = recording();
    const gone = ops.handleAt(7);
    const step = steps.startProxyStep(300, { comm, parent: gone, step: 2 });
    steps.state(310, step, 10).stop(400, step);
    const { sink } = draw(file);
    expect(sink.of(/began/)).toEqual([
      '300 [comm dp 0x0000000000000abc (4 ranks) / operations that began before the window] begin began before the window start=overwritten in the ring',
      '300 [comm dp 0x0000000000000abc (4 ranks) / operations that began before the window / step slot 2] begin step step=2',
      '310 [comm dp 0x0000000000000abc (4 ranks) / operations that began before the window / step slot 2] begin recv wait',
      '400 [comm dp 0x0000000000000abc (4 ranks) / operations that began before the window / step slot 2] end recv wait',
      '400 [comm dp 0x0000000000000abc (4 ranks) / operations that began before the window / step slot 2] end step',
      '400 [comm dp 0x0000000000000abc (4 ranks) / operations that began before the window] end began before the window bytes=0 end=not recorded, as its last step',
    ]);
  });

  it('has its lanes in the order of their numbers, below its connection, above the next one', () => {
    const { file, comm, ops } = recording();
    for (const peer of [2, 3])
      for (let i = 0; i < 12; i++) ops.startProxyOp(200 + i, { comm, peer, isSend: true });
    const lanes = draw(file).sink.specs.filter(({ name }) => name.includes(' · ch00 send'));
    expect(lanes).toHaveLength(24);
    expect(new Set(lanes.map(({ rank }) => rank)).size).toBe(24);
    expect([...lanes].sort((a, b) => a.rank - b.rank)).toEqual(lanes);
  });

  it('whose slot was never freed takes an extra one', () => {
    const { file, comm, ops, steps } = recording();
    const op = ops.startProxyOp(200, { comm, peer: 2, isSend: true });
    steps.startProxyStep(300, { comm, parent: op, step: 1 });
    steps.stop(500, steps.startProxyStep(400, { comm, parent: op, step: 9 }));
    expect(draw(file).sink.of(/extra 1/)).toHaveLength(2);
  });
});

describe('a kernel', () => {
  const EPOCH = 1_790_000_000_000_000_000n;

  it("is drawn by the GPU's own stamps on the host's clock", () => {
    const { file, comm, host, ops } = recording();
    const parent = coll(host, comm, 100, 120);
    const kernel = ops.startKernelCh(1100, { comm, parent, channel: 0, pTimer: EPOCH });
    ops.state(3000, kernel, 22, EPOCH + 1500n).stop(3000, kernel);
    const { sink, suspectKernels } = draw(file);
    // The shortest delay of a notice (the start at 1100) fixes the GPU's clock. The stop was noticed 400 ns late.
    expect(sink.of(/kernel/)).toEqual([
      '1100 [comm dp 0x0000000000000abc (4 ranks) / kernel ch00] begin AllReduce kernel',
      '2600 [comm dp 0x0000000000000abc (4 ranks) / kernel ch00] end AllReduce kernel',
    ]);
    expect(sink.of(COLLECTIVES).at(-1)).toBe(
      '2600 [comm dp 0x0000000000000abc (4 ranks) / collectives] end AllReduce',
    );
    expect(suspectKernels).toBe(0);
  });

  it('shows when it was noticed if its stamps cannot be true', () => {
    const { file, comm, host, ops } = recording();
    const parent = coll(host, comm, 100, 120);
    const kernel = ops.startKernelCh(1100, { comm, parent, channel: 0, pTimer: EPOCH });
    ops.state(3000, kernel, 22, EPOCH - 900n).stop(3010, kernel);
    const { sink, suspectKernels } = draw(file);
    expect(sink.of(/kernel/)).toEqual([
      '1100 [comm dp 0x0000000000000abc (4 ranks) / kernel ch00] begin AllReduce kernel suspect=stops before it starts',
      '3010 [comm dp 0x0000000000000abc (4 ranks) / kernel ch00] end AllReduce kernel',
    ]);
    expect(suspectKernels).toBe(1);
  });
});

describe('host threads', () => {
  it('show the calls as they nested', () => {
    const { file, comm, host } = recording();
    const group = host.startGroupApi(100, { comm, groupDepth: 1 });
    const api = host.startCollApi(110, {
      comm,
      parent: group,
      func: 'AllReduce',
      datatype: 'ncclFloat32',
      count: 8,
    });
    host.stop(120, api);
    const launch = host.startKernelLaunch(130, { comm, parent: group });
    host.stop(150, launch).stop(160, group);
    expect(draw(file).sink.of(/host threads/)).toEqual([
      '100 [host threads / python 11] begin GroupApi groupDepth=1',
      '110 [host threads / python 11] begin ncclAllReduce comm=dp 0x0000000000000abc count=8 datatype=ncclFloat32 stream=0x7000 completion=not recorded: NCCL reported nothing more of this call',
      '120 [host threads / python 11] end ncclAllReduce',
      '130 [host threads / python 11] begin KernelLaunch comm=dp 0x0000000000000abc stream=0x7000',
      '150 [host threads / python 11] end KernelLaunch',
      '160 [host threads / python 11] end GroupApi',
    ]);
  });

  it('continue on a further lane a call that outlives the call it began in', () => {
    const { file, comm, host } = recording();
    const group = host.startGroupApi(100, { comm, groupDepth: 1 });
    const launch = host.startKernelLaunch(130, { comm, parent: group });
    host.stop(160, group).stop(200, launch);
    expect(
      draw(file)
        .sink.of(/host threads/)
        .slice(2),
    ).toEqual([
      '160 [host threads / python 11] end KernelLaunch cut=true',
      '160 [host threads / python 11] end GroupApi',
      '160 [host threads / python 11 ·2] begin KernelLaunch continued=true comm=dp 0x0000000000000abc stream=0x7000',
      '200 [host threads / python 11 ·2] end KernelLaunch',
    ]);
  });

  it('close a call without a stop when the next of its kind begins', () => {
    const { file, comm, host } = recording();
    host.startGroupApi(100, { comm, groupDepth: 1 });
    host.stop(220, host.startGroupApi(200, { comm, groupDepth: 1 }));
    expect(draw(file).sink.of(/host threads/)[1]).toBe(
      '200 [host threads / python 11] end GroupApi stop=not recorded',
    );
  });

  it('show the work of the copy engine within its call', () => {
    const { file, comm, host } = recording();
    const api = host.startCollApi(100, { comm, func: 'AllGather', datatype: 'ncclInt8', count: 64 });
    const ce = host.startCeColl(110, { comm, parent: api, count: 64, syncStrategy: 'UC', userTag: 3n });
    const sync = host.startCeSync(120, { comm, parent: ce });
    host.state(122, sync, 27).state(124, sync, 28).stop(130, sync);
    const batch = host.startCeBatch(140, { comm, parent: ce, numOps: 3, totalBytes: 1n << 60n });
    host.state(142, batch, 29).state(144, batch, 30).stop(150, batch);
    host.stop(160, host.startCeSync(155, { comm, parent: ce }));
    host.state(165, ce, 25).state(166, ce, 26).stop(170, ce).stop(180, api);
    const { sink, scan } = draw(file);
    expect(sink.of(/host threads/)).toEqual([
      '100 [host threads / python 11] begin ncclAllGather comm=dp 0x0000000000000abc count=64 datatype=ncclInt8 stream=0x7000',
      '110 [host threads / python 11] begin AllGather comm=dp 0x0000000000000abc count=64 datatype=ncclInt8 seq=0 ceSeq=0 syncStrategy=UC stream=0x7000 completion=enqueued, completion not recorded userTag=3',
      '120 [host threads / python 11] begin CeSync comm=dp 0x0000000000000abc nRanks=4 isComplete=false',
      '130 [host threads / python 11] end CeSync',
      '140 [host threads / python 11] begin CeBatch comm=dp 0x0000000000000abc numOps=3 totalBytes=1152921504606846976 useIntraSync=false',
      '150 [host threads / python 11] end CeBatch',
      '155 [host threads / python 11] begin CeSync comm=dp 0x0000000000000abc nRanks=4 isComplete=false',
      '160 [host threads / python 11] end CeSync',
      '170 [host threads / python 11] end AllGather',
      '180 [host threads / python 11] end ncclAllGather',
    ]);
    expect(scan.odd.unknown.size).toBe(0);
  });

  it('have tracks of their own for the events of a network plugin, and never cut them', () => {
    const { file, comm, ops, steps } = recording();
    const parent = steps.startProxyStep(90, { comm });
    const qp = ops.startNetPlugin(100, { comm, parent, length: 8192n, device: 1, qpNum: 77 });
    const send = ops.startNetPlugin(110, { comm, parent, id: 0x20001n, length: 512n, op: 0 });
    const recv = ops.startNetPlugin(120, { comm, parent, id: 0x20001n, length: 256n, op: 1 });
    ops.state(125, qp, 21).stop(130, qp).stop(140, send);
    const other = ops.startNetPlugin(150, { comm, parent, id: 0x30001n, length: 0n, type: 0 });
    const silent = ops.startNetPlugin(160, { comm, parent, length: 0n, type: 0 });
    ops.stop(170, recv).stop(180, other).stop(190, silent).stop(195, silent);
    const { sink, scan } = draw(file);
    expect(sink.of(/host threads/)).toEqual([
      '100 [host threads / net NCCL Progress 0 12] begin IB QP comm=dp 0x0000000000000abc bytes=8192 device=1 qp=77 opcode=0 workRequest=0 step=0',
      '110 [host threads / net NCCL Progress 0 12 ·2] begin socket send comm=dp 0x0000000000000abc bytes=512 direction=send fd=0 step=0',
      '120 [host threads / net NCCL Progress 0 12 ·3] begin socket recv comm=dp 0x0000000000000abc bytes=256 direction=recv fd=0 step=0',
      '130 [host threads / net NCCL Progress 0 12] end IB QP',
      '140 [host threads / net NCCL Progress 0 12 ·2] end socket send',
      '150 [host threads / net NCCL Progress 0 12] begin net plugin 0x30001 comm=dp 0x0000000000000abc step=0',
      '160 [host threads / net NCCL Progress 0 12 ·2] begin IB QP comm=dp 0x0000000000000abc step=0',
      '170 [host threads / net NCCL Progress 0 12 ·3] end socket recv',
      '180 [host threads / net NCCL Progress 0 12] end net plugin 0x30001',
      '190 [host threads / net NCCL Progress 0 12 ·2] end IB QP',
    ]);
    expect(scan.odd).toMatchObject({
      afterStop: 0,
      netStopsAgain: 1,
      unknown: new Map([['net plugin 0x30001', 1]]),
    });
  });

  it('count states that these events cannot have', () => {
    const { file, comm, ops } = recording();
    ops.state(20, ops.startNetPlugin(10, { comm }), 22);
    ops.state(40, ops.startKernelPhase(30, { comm }), 22);
    ops.state(60, ops.startCeSync(50, { comm }), 31);
    expect([...draw(file).scan.odd.unknown.keys()]).toEqual([
      'NetPlugin state 22',
      'KernelPhase state 22',
      'CeSync state 31',
    ]);
  });

  it('show an unknown event type by its number', () => {
    const { file, comm, host } = recording();
    host.stop(20, host.startUnknown(10, 0x40000, { comm }));
    expect(draw(file).sink.of(/host threads/)[0]).toContain('begin event type 0x40000');
  });
});

it('a proxy thread returns to its earlier state after sleep and append', () => {
  const { file, comm, ops } = recording();
  for (const [at, states] of [
    [100, [14]],
    [200, [17, 18]],
    [300, [13]],
    [400, [15, 16]],
  ] as const) {
    const ctrl = ops.startProxyCtrl(at, { comm });
    states.forEach((state, i) => ops.state(at + 10 * i, ctrl, state, state === 18 ? 2 : undefined));
    ops.stop(at + 20, ctrl);
  }
  expect(
    draw(file)
      .sink.of(/proxy thread/)
      .map((line) => line.replace(/\[.*\] /, '')),
  ).toEqual([
    '100 state Active',
    '200 state Append',
    '210 state Active',
    '300 state Idle',
    '400 state Sleep',
    '410 state Idle',
  ]);
});

it('strays are counted by cause: before the window, after the stop, not of this process', () => {
  const { file, comm, ops, steps } = recording();
  const op = ops.startProxyOp(100, { comm });
  ops.stop(200, op).stop(210, op).stop(220, 0x7f00_1234_5678n);
  const full = file.ring('steps', 4, {});
  for (let i = 0; i < 4; i++) full.startProxyStep(300 + i, { comm, parent: op, step: i });
  full.stop(400, full.handleAt(0));
  steps.state(410, steps.startProxyStep(405, { comm, parent: op, step: 9 }), 99);
  expect(draw(file).scan.odd).toMatchObject({ beganBefore: 1, afterStop: 1, foreign: 1 });
  expect(draw(file).scan.odd.unknown).toEqual(new Map([['ProxyStep state 99', 1]]));
});

it('an operation of NCCL 2.23 to 2.26 reports its own progress, which counts as known', () => {
  const { file, comm, ops } = recording();
  const op = ops.startProxyOp(100, { comm, peer: 2, isSend: true });
  for (const state of [0, 1, 2, 3]) ops.state(110 + state, op, state, 4096);
  ops.stop(200, op);
  expect(draw(file).scan.odd.unknown.size).toBe(0);
});

it('a communicator without an identity gets no arrows and no common colour', () => {
  const file = new RankFileBuilder({ rank: 1, worldSize: 4 });
  const comm = file.communicator({ name: '', commId: 0n, rank: -1, nRanks: 0 });
  const [host, ops, steps] = [file.ring('host', 64), file.ring('ops', 64), file.ring('steps', 64)];
  const op = ops.startProxyOp(200, { comm, parent: coll(host, comm, 100, 120), peer: 2, isSend: true });
  steps.state(300, steps.startProxyStep(250, { comm, parent: op, step: 0 }), 20);
  const { sink } = draw(file);
  expect(sink.of(/slot/).join()).not.toContain('flow');
  expect(sink.of(COLLECTIVES)[0]).toContain('[comm 0x0000000000000000 (size not known) / collectives]');
});

it('records that a ring lost are drawn in order of positions, also if ticks step back', () => {
  const { file } = recording();
  const shared = file.ring('overflow', 64);
  const lost = [1, 4];
  for (const [position, tick] of [1000, 1010, 1020, 1005, 1007, 1010].entries()) {
    shared.stop(tick, 1n);
    if (lost.includes(position)) shared.tear(position);
  }
  expect(draw(file).sink.of(/lost records/)).toEqual([
    '1000 [recorder / lost records, overflow ring 3] begin torn slots=1',
    '1020 [recorder / lost records, overflow ring 3] end torn',
    '1020 [recorder / lost records, overflow ring 3] begin torn slots=1',
    '1020 [recorder / lost records, overflow ring 3] end torn',
  ]);
});

it('records that a full ring lost are drawn where they were lost', () => {
  const { file, comm } = recording();
  const full = file.ring('steps', 4, {});
  for (let i = 0; i < 10; i++) full.startProxyStep(1000 + i, { comm, step: i });
  expect(draw(file).sink.of(/lost records/)).toEqual([
    '0 [recorder / lost records, steps ring 3] begin overwritten slots=6',
    '1006 [recorder / lost records, steps ring 3] end overwritten',
  ]);
});
