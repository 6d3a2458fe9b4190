/** A whole file, and every kind of record, are read as the builder wrote them. */

import { describe, expect, it } from 'vitest';

import { AreaClass, FILE_HEADER, Kind } from '../../src/rankfile/format/constants.js';
import { SlotArea } from '../support/rank_files/slot_area.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { lines, read, readBytes } from './read.js';

describe('a rank file', () => {
  it('has one table of heartbeats: the first', () => {
    const another = new SlotArea(4, 'wraps');
    const file = new RankFileBuilder().heartbeat(100).area(AreaClass.TableHeartbeat, another);
    another.append(Kind.ClockSample, [file.rawTick(900), 1n, 2n, 3n, 4n, 0n]);
    const { heartbeat, clockSamples, problems } = read(file);
    expect(heartbeat?.tick).toBe(100);
    expect(clockSamples.map(({ tick }) => tick)).toEqual([100]);
    expect(problems).toEqual([{ what: 'further tables of heartbeat, skipped', count: 1 }]);
  });

  it('reads impossible values as 0: heads, counters, masks, times of a copy', () => {
    const file = new RankFileBuilder({ placement: 'in-memory', copiedTick: 900 });
    file.ring('host', 8).stop(10, 0n).count({ muted: 7 });
    const bytes = file.build();
    const view = new DataView(bytes.buffer);
    const live = Number(view.getBigUint64(4096 + 8, true));
    const numbers: [number, bigint][] = [
      [live, 2n ** 48n],
      [live + 16, 2n ** 53n],
      [FILE_HEADER.maskNow, 2n ** 64n - 1n],
      [FILE_HEADER.copiedTick, file.startTick - 1n],
      [FILE_HEADER.stringsLost, 2n ** 60n],
    ];
    for (const [at, value] of numbers) view.setBigUint64(at, value, true);
    const { header, rings, problems } = readBytes(bytes);
    expect(header).toMatchObject({ maskNow: 0, copiedTick: null, stringsLost: 0 });
    expect(rings[0]).toMatchObject({ head: 0, muted: 0, gaps: [] });
    expect(rings[0]?.records.length).toBe(1);
    expect(problems).toEqual([
      { what: 'header: mask_now cannot be true, read as 0', count: 1 },
      { what: 'header: copied_tick cannot be true, read as 0', count: 1 },
      { what: 'header: strings_lost cannot be true, read as 0', count: 1 },
      {
        what: 'heads and counters of areas that cannot be true, read as 0: the file was damaged',
        count: 2,
      },
    ]);
  });

  it('that is cut inside an area keeps the rest, and says so', () => {
    const file = new RankFileBuilder();
    file.ring('host', 16).stop(10, 0n).stop(20, 0n);
    const steps = file.ring('steps', 16);
    for (let i = 0; i < 16; i++) steps.stop(100 + i, 0n);
    const bytes = file.build();
    const slots = Number(new DataView(bytes.buffer).getBigUint64(4096 + 64 + 24, true));
    const { rings, problems } = readBytes(bytes.slice(0, slots + 10 * 32));
    expect(rings.map(({ records }) => records.length)).toEqual([2, 10]);
    expect(problems[0]?.what).toBe('areas cut off by the end of the file: the copy was cut short');
  });

  it('has open folds, unless there is also their Fold record, or their key does not match', () => {
    const file = new RankFileBuilder();
    const ring = file.ring('steps', 8, { foldCapacity: 4 });
    const step = ring.startProxyStep(10);
    ring.openFold(step, 20, 1000, 900).openFold(step, 'start', 3, 50);
    expect(read(file).folds).toEqual([
      { ring: 0, handleLow: 0, handleHigh: Number(step >> 32n), state: 20, count: 1000, lastTick: 900 },
      { ring: 0, handleLow: 0, handleHigh: Number(step >> 32n), state: 'start', count: 3, lastTick: 50 },
    ]);

    ring.fold(1000, step, 20, 900, 1000);
    expect(read(file).folds).toHaveLength(1);

    const bytes = file.build();
    const view = new DataView(bytes.buffer);
    const folds = Number(view.getBigUint64(4096 + 16, true));
    view.setUint16(folds + 32 + 22, 0, true);
    expect(readBytes(bytes).problems).toEqual([
      { what: 'open folds caught in mid-change, skipped', count: 1 },
    ]);
  });

  it('has areas and kinds that this version does not know', () => {
    const file = new RankFileBuilder().area(99, new SlotArea(4, 'wraps'));
    const ring = file.ring('host', 8);
    ring.record(0x99, 5, 1n, 2n);
    ring.record(0x99, 6, 1n, 2n);
    const result = read(file);
    expect(lines(result)).toEqual(['0:0 5 kind 0x99 s0w1=0x1 s0w2=0x2', '0:1 6 kind 0x99 s0w1=0x1 s0w2=0x2']);
    expect(result.problems).toEqual([
      { what: 'areas of unknown class 99, skipped', count: 1 },
      { what: 'records of a kind this version does not read: kind 0x99', count: 2 },
    ]);
  });
});

describe('records', () => {
  it('of every kind come back as they were written', () => {
    const file = new RankFileBuilder({ rank: 3 });
    const host = file.ring('host', 64);
    const ops = file.ring('ops', 64);
    const group = host.startGroupApi(1, { graphCaptured: true, groupDepth: 2 });
    const api = host.startCollApi(2, { parent: group, root: 1, userTag: 9n });
    host.startP2pApi(3, { parent: group, func: 'Recv' });
    host.startKernelLaunch(4, { parent: group });
    const legacy = host.startGroup(5);
    const coll = host.startColl(6, {
      parent: api,
      parentGroup: legacy,
      seqNumber: 2 ** 40,
      root: -1,
      flags: 1,
    });
    host.startP2p(7, { comm: 0xffffffff, peer: 5, ordinal: 3 });
    const op = ops.startProxyOp(8, { parent: coll, isSend: true, channel: 2, nSteps: 4, peer: 7 });
    ops.startProxyOp(9, { parent: 0x7f00_0000_1000n, foreignContext: 0xdead0n, rank: -1 });
    const step = ops.startProxyStep(10, { parent: op, step: 3 });
    ops
      .state(11, step, 8)
      .state(12, step, 9, 524288)
      .state(13, step, 22, 2n ** 60n)
      .state(14, step, 0x12345, 1);
    ops.fold(15, step, 20, 14, 7).fold(16, step, 'start', 15, 8).stop(17, step);
    ops.startProxyCtrl(18);
    ops.startKernelCh(19, { parent: coll, channel: 63, pTimer: 2n ** 63n });
    ops.startUnknown(20, 0x10000);
    ops
      .stop(21, step | 1n)
      .stop(22, 0n)
      .stop(23, file.context(2));
    expect(lines(read(file))).toMatchInlineSnapshot(`
      [
        "0:0 1 GroupApi start parent=null comm=0 graphCaptured=1 groupDepth=2",
        "0:1 2 CollApi start parent=0:0 comm=0 func=AllReduce datatype=ncclFloat32 count=1024 stream=0x7000 root=1 graphCaptured=0 userTag=0x9",
        "0:4 3 P2pApi start parent=0:0 comm=0 func=Recv datatype=ncclFloat32 count=1024 stream=0x7000 root=-1 graphCaptured=0",
        "0:6 4 KernelLaunch start parent=0:0 comm=0 stream=0x7000",
        "0:8 5 Group start parent=null comm=0",
        "0:9 6 Coll start parent=0:1 comm=0 rank=3 seqNumber=1099511627776 count=1024 func=AllReduce datatype=ncclFloat32 algo=RING proto=SIMPLE parentGroup=0:8 root=-1 ordinal=0 nChannels=2 nWarps=16 flags=0x1 sendBuff=0x1000 recvBuff=0x2000 userTag=0x0",
        "0:13 7 P2p start parent=null comm=null rank=3 buff=0x1000 count=1024 func=Send datatype=ncclInt8 nChannels=1 flags=0x0 parentGroup=null peer=5 ordinal=3 userTag=0x0",
        "1:0 8 ProxyOp start parent=0:9 comm=0 peer=7 ordinal=0 nSteps=4 chunkSize=524288 pid=1003 channel=2 isSend=1 flags=0x0 rank=3",
        "1:2 9 ProxyOp start parent=foreign 0x7f0000001000 comm=foreign peer=0 ordinal=0 nSteps=1 chunkSize=524288 pid=1003 channel=0 isSend=0 flags=0x0 rank=-1 context=foreign 0xdead0",
        "1:5 10 ProxyStep start parent=1:0 comm=0 step=3",
        "1:6 11 State handle=1:5 state=SendGpuWait value=null",
        "1:7 12 State handle=1:5 state=SendWait value=524288",
        "1:8 13 State handle=1:5 state=KernelChStop value=1152921504606846976",
        "1:10 14 State handle=1:5 state=state 74565 value=1",
        "1:12 15 Fold handle=1:5 state=SendPeerWait lastTick=14 repeats=7",
        "1:14 16 Fold handle=1:5 state=start lastTick=15 repeats=8",
        "1:16 17 Stop handle=1:5",
        "1:17 18 ProxyCtrl start parent=null comm=0",
        "1:18 19 KernelCh start parent=0:9 comm=0 channel=63 pTimer=9223372036854775808",
        "1:20 20 Unknown start parent=null comm=0 rank=3 type=0x10000",
        "1:22 21 Stop handle=muted",
        "1:23 22 Stop handle=null",
        "1:24 23 Stop handle=context 2",
      ]
    `);
  });

  it('may have more slots than their kind needs, and those are ignored', () => {
    const file = new RankFileBuilder();
    const ring = file.ring('host', 16);
    ring.record(Kind.State, 5, 0n, 0x12345n, 99n, 0n, 0n, 1n, 2n, 3n);
    ring.record(Kind.Stop, 6, 0n, 0n, 4n, 5n, 6n);
    expect(lines(read(file))).toEqual([
      '0:0 5 State handle=null state=state 74565 value=99',
      '0:3 6 Stop handle=null',
    ]);
  });

  it('of tables are ignored in a ring, and counted', () => {
    const file = new RankFileBuilder();
    const ring = file.ring('host', 16);
    ring.record(Kind.Lease, 1, 0n, 0n, 0n, 0n, 0n);
    ring.record(Kind.ControlChange, 2, 0n, 0n);
    expect(read(file).problems).toEqual([{ what: 'records of tables in a ring', count: 2 }]);
  });
});
