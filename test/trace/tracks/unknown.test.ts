/** Event types, states, network plugins, interface versions and record kinds that are new. They are shown by number, and counted. */

import { describe, expect, it } from 'vitest';
import { draw } from '../../support/traces/picture.js';
import { argOf, coll, outline, recording } from '../../support/made_up/recording.js';

describe('records that this version does not know', () => {
  it('event types are slices on a track of their own, and cut no call', () => {
    const { file, comm, host } = recording();
    const call = host.startCollApi(100, { comm });
    const unknown = host.startUnknown(110, 0x40000, { comm });
    host.stop(120, call).stop(130, unknown);
    const { sink, scan } = draw(file);
    expect(outline(sink.of(/unknown events/))).toEqual([
      '110 [unknown events of python 11] begin event type 0x40000',
      '130 [unknown events of python 11] end event type 0x40000',
    ]);
    expect(sink.lines.join()).not.toContain('cut');
    expect(scan.odd.unknown).toEqual(new Map([['event type 0x40000', 1]]));
  });

  it('states are instants with their number, on every kind of event', () => {
    const { file, comm, host, ops, steps } = recording();
    const work = coll(host, comm, 100, 120);
    const op = ops.startProxyOp(200, { comm, parent: work, peer: 2, isSend: true });
    const step = steps.startProxyStep(210, { comm, parent: op, step: 0 });
    steps.state(220, step, 99, 5);
    ops.state(230, op, 70_000).state(240, ops.startKernelCh(235, { comm, parent: work }), 32);
    host.state(250, work, 8).state(260, host.startKernelLaunch(255, { comm }), 40);
    const ctrl = ops.startProxyCtrl(270, { comm });
    ops.state(280, ctrl, 33);
    const { sink, scan } = draw(file);
    expect(sink.of(/fit nothing/).map((line) => line.replace(/\[.*\] instant /, ''))).toEqual([
      '220 unknown state event=ProxyStep state=99',
      '230 unknown state event=ProxyOp state=70000',
      '240 unknown state event=KernelCh state=32',
      '250 unknown state event=Coll state=8',
      '260 unknown state event=KernelLaunch state=40',
      '280 unknown state event=ProxyCtrl state=33',
    ]);
    expect(sink.of(/proxy thread/)).toEqual(['280 [proxy thread 12] state state 33']);
    expect([...scan.odd.unknown.keys()]).toContain('ProxyStep state 99');
  });

  it('network plugins are named by their id', () => {
    const { file, comm, ops } = recording();
    ops.stop(120, ops.startNetPlugin(100, { comm, id: 0x5000_0003n, type: 0 }));
    const { sink, scan } = draw(file);
    expect(outline(sink.of(/net NCCL/))[0]).toContain('begin net plugin 0x50000003');
    expect(scan.odd.unknown).toEqual(new Map([['net plugin 0x50000003', 1]]));
  });

  it('versions of the profiler interface are shown with the communicator', () => {
    const { file } = recording({ abi: 9 });
    const { sink, scan } = draw(file);
    expect(argOf(sink.of(/communicator/)[0], 'interface')).toBe('v9');
    expect(scan.odd.unknown).toEqual(new Map([['profiler interface v9', 1]]));
  });

  it('record kinds of a newer recorder are instants with their number', () => {
    const { file, host } = recording();
    host.record(0x77, 100);
    const { sink, scan } = draw(file);
    expect(sink.of(/fit nothing/)).toEqual([
      '100 [recorder / records that fit nothing] instant unknown record kind event=record kind=119',
    ]);
    expect(scan.odd.unknown).toEqual(new Map([['record kind 119', 1]]));
  });
});

describe('NetPlugin', () => {
  it('shows no length and opcode of a receive: InfiniBand leaves them unset', () => {
    const { file, comm, ops, steps } = recording();
    for (const [at, isSend] of [
      [100, true],
      [200, false],
    ] as const) {
      const op = ops.startProxyOp(at, { comm, peer: 2, isSend, channel: 3 });
      const step = steps.startProxyStep(at + 10, { comm, parent: op, step: 6 });
      const facts = { comm, parent: step, length: 4096n, opcode: 1, qpNum: 77, device: 2, wrId: 9n };
      ops.stop(at + 30, ops.startNetPlugin(at + 20, facts));
    }
    const [send, recv] = draw(file)
      .sink.of(/net NCCL/)
      .filter((line) => line.includes('begin'));
    expect(send).toContain(
      'bytes=4096 direction=send device=2 qp=77 opcode=1 workRequest=9 step=6 channel=3 peer=2',
    );
    expect(recv).toContain('0abc direction=recv device=2 qp=77 workRequest=9 step=6 channel=3 peer=2');
  });

  it('shows direction, size and descriptor of a socket', () => {
    const { file, comm, ops } = recording();
    ops.stop(120, ops.startNetPlugin(100, { comm, id: 0x20001n, length: 512n, op: 1, fd: 44 }));
    const [begin] = draw(file).sink.of(/net NCCL/);
    expect(begin).toContain('begin socket recv');
    expect(begin).toContain('bytes=512 direction=recv fd=44');
  });

  it('of one time stay in the order of the file, however many they are', () => {
    const { file, comm, host, ops } = recording();
    const op = ops.startProxyOp(150, { comm, parent: coll(host, comm, 100, 120), peer: 2, isSend: true });
    const states = Array.from({ length: 60 }, (_, number) => ({
      at: 200 + (number % 2),
      state: 100 + number,
    }));
    for (const { at, state } of states) ops.state(at, op, state);
    const drawn = draw(file)
      .sink.of(/fit nothing/)
      .map((line) => argOf(line, 'state'));
    const [even, odd] = [200, 201].map((time) => states.filter(({ at }) => at === time));
    expect(drawn).toEqual([...even!, ...odd!].map(({ state }) => String(state)));
  });
});
