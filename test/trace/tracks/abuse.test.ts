/** NCCL calls that should not happen, as a user sees them in the trace. None of them makes work look hung, and none is dropped. */

import { describe, expect, it } from 'vitest';
import { hex64 } from '../../../src/base/hex.js';
import { draw } from '../../support/traces/picture.js';
import { argOf, coll, outline, recording } from '../../support/made_up/recording.js';

/** A receive operation of an enqueued AllReduce. */
function receiving() {
  const made = recording();
  const { comm, host, ops } = made;
  const work = coll(host, comm, 100, 120);
  const op = ops.startProxyOp(200, { comm, parent: work, peer: 0, nSteps: 4 });
  return { ...made, work, op };
}

const ODD = /fit nothing/;

describe('user-buffer registration', () => {
  it('repeated starts of a receive are one step that counts them', () => {
    const { file, comm, op, ops, steps } = receiving();
    const step = steps.startProxyStep(300, { comm, parent: op, step: 0 });
    steps
      .fold(900, step, 'start', 890, 5000)
      .state(900, step, 10)
      .state(950, step, 11, 64)
      .state(951, step, 12);
    steps.stop(960, step);
    ops.stop(970, op);
    const { sink } = draw(file);
    expect(outline(sink.of(/slot/)).at(-1)).toBe('960 [step slot 0] end step');
    expect(argOf(sink.of(/slot/).at(-1), 'startRepeats')).toBe('5000');
  });

  it('the count comes from the open fold while the kernel has not begun', () => {
    const { file, comm, op, steps } = receiving();
    const step = steps.startProxyStep(300, { comm, parent: op, step: 0 });
    steps.openFold(step, 'start', 7000, 9000);
    const { sink } = draw(file.heartbeat(10_000));
    expect(sink.openSlices().at(-1)).toContain('/ step slot 0] step');
    expect(sink.of(/slot/).at(-1)).toMatch(/^9000 .* instant last poll startRepeats=7000$/);
  });

  it('starts that the recorder did not fold are one step, under each of their handles', () => {
    const { file, comm, op, ops, steps } = receiving();
    const [first, again] = [300, 310].map((at) =>
      steps.startProxyStep(at, { comm, parent: op, step: 0 }),
    ) as [bigint, bigint];
    steps.state(400, again, 10).state(410, again, 11, 64).state(420, again, 12).stop(430, first);
    ops.stop(500, op);
    const { sink } = draw(file);
    expect(outline(sink.of(/slot/))).toEqual([
      '300 [step slot 0] begin step',
      '400 [step slot 0] begin recv wait',
      '410 [step slot 0] end recv wait',
      '410 [step slot 0] begin flush wait',
      '420 [step slot 0] end flush wait',
      '420 [step slot 0] begin GPU wait',
      '430 [step slot 0] end GPU wait',
      '430 [step slot 0] end step',
    ]);
    expect(sink.openSlices()).toEqual([]);
  });
});

it('a send that waits for its peer forever shows the last poll of the proxy thread', () => {
  const { file, comm, ops, steps } = recording();
  const op = ops.startProxyOp(200, { comm, peer: 2, isSend: true });
  const step = steps.startProxyStep(300, { comm, parent: op, step: 0 });
  steps.state(310, step, 8).state(400, step, 20).openFold(step, 20, 1_000_000, 8_000_000);
  const { sink } = draw(file.heartbeat(8_500_000));
  expect(sink.of(/slot/).at(-1)).toMatch(/^8000000 .* instant last poll peerPolls=1000001$/);
  expect(sink.openSlices().at(-1)).toContain('peer wait');
});

describe('unbalanced calls', () => {
  it('NCCL 2.24 to 2.26: steps without a stop end with their operation', () => {
    const { file, comm, op, ops, steps } = receiving();
    for (const step of [0, 1]) steps.state(310, steps.startProxyStep(300, { comm, parent: op, step }), 10);
    ops.stop(900, op);
    const { sink, scan } = draw(file);
    const ends = sink.of(/slot/).filter((line) => line.includes('end step'));
    expect(ends.map((line) => argOf(line, 'stop'))).toEqual(Array(2).fill('not recorded, as its operation'));
    expect(sink.openSlices()).toEqual([]);
    expect(scan.odd.stepsWithoutStop).toBe(2);
  });

  it('InfiniBand: a queue pair that stops again with its request is normal', () => {
    const { file, comm, steps, ops } = receiving();
    const qp = steps.startNetPlugin(300, { comm, length: 10n });
    ops.stop(310, qp).stop(320, qp);
    const { sink, scan } = draw(file);
    expect(sink.of(ODD)).toEqual([]);
    expect(scan.odd).toMatchObject({ netStopsAgain: 1, afterStop: 0 });
  });

  it('of repeated stops and states the first takes effect; the others are counted and shown as strays', () => {
    const { file, comm, op, ops, steps, host } = receiving();
    const step = steps.startProxyStep(300, { comm, parent: op, step: 0 });
    steps
      .state(310, step, 10)
      .state(320, step, 10)
      .state(330, step, 8)
      .stop(340, step)
      .state(350, step, 11, 64);
    ops.stop(400, op).stop(410, op).state(420, op, 19);
    const api = host.startCollApi(500, { comm });
    host.stop(510, api).stop(520, api);
    const { sink, scan } = draw(file);
    expect(sink.of(ODD).map((line) => line.replace(/\[.*\] instant /, ''))).toEqual([
      '320 state again event=ProxyStep state=10',
      '330 state again event=ProxyStep state=8',
      `350 no such event event=${hex64(step)}`,
      '410 stop after stop event=ProxyOp',
      '420 state after stop event=ProxyOp state=19',
      '520 stop after stop event=CollApi',
    ]);
    expect(scan.odd).toMatchObject({ repeatedStates: 2, afterStop: 4 });
    expect(outline(sink.of(/ch00 recv from 0$/))).toEqual([
      '200 [ch00 recv from 0] begin proxy recv',
      '400 [ch00 recv from 0] end proxy recv',
    ]);
  });

  it('at most 1000 strays are drawn, and all are counted', () => {
    const { file, comm } = recording();
    const ops = file.ring('ops', 1 << 12);
    const op = ops.startProxyOp(100, { comm });
    for (let i = 0; i < 1500; i++) ops.stop(200 + i, op);
    const { sink, scan } = draw(file);
    expect(sink.of(ODD)).toHaveLength(1000);
    expect(scan.odd.afterStop).toBe(1499);
  });
});

describe('an operation or a kernel that starts again', () => {
  it.each(['first', 'second'] as const)('counts once, and ends its work when the %s stops', (stopped) => {
    const { file, comm, ops, work, op } = receiving();
    const again = ops.startProxyOp(300, { comm, parent: work, peer: 0, nSteps: 4 });
    const kernels = [310, 320].map((at) => ops.startKernelCh(at, { comm, parent: work }));
    ops.stop(900, stopped === 'first' ? op : again);
    ops.stop(950, kernels[stopped === 'first' ? 0 : 1]!);
    const { sink, scan } = draw(file);
    expect(outline(sink.of(/collectives/))).toEqual([
      '100 [collectives] begin AllReduce',
      '950 [collectives] end AllReduce',
    ]);
    expect(scan.odd.startsAgain).toBe(2);
    const begin = sink.of(/ch00 recv/).find((line) => line.startsWith('300'));
    expect(argOf(begin, 'parent')).toBe('begun again while under way');
  });
});

describe('stale handles', () => {
  it('an operation gets no parent if the work that it names already had its operation', () => {
    const { file, comm, host, ops, work, op } = receiving();
    ops.stop(900, op);
    coll(host, comm, 50_000, 50_020, 6);
    const late = ops.startProxyOp(50_100, { comm, parent: work, peer: 0, ordinal: 1 });
    ops.stop(60_000, late);
    const { sink, scan } = draw(file);
    expect(outline(sink.of(/collectives/))[1]).toBe('900 [collectives] end AllReduce');
    const begin = sink.of(/ch00/).find((line) => line.startsWith('50100'));
    expect([argOf(begin, 'op'), argOf(begin, 'parent')]).toEqual(['unknown', 'stale: of earlier work']);
    expect(scan.odd.staleParents).toBe(1);
  });

  it('a call handle that NCCL did not clear is not taken for the call of another function or communicator', () => {
    const { file, comm, host } = recording();
    const tp = file.communicator({ name: 'tp', commId: 9n, rank: 0, nRanks: 2 });
    const stale = host.startCollApi(100, { comm, func: 'AllGather', graphCaptured: true });
    host.stop(110, stale);
    coll(host, comm, 200, 220, 1, { parent: stale });
    host.stop(320, host.startColl(300, { comm: tp, parent: stale, func: 'AllGather' }));
    const { sink, scan } = draw(file);
    const begins = sink.of(/collectives/).filter((line) => line.includes('begin'));
    expect(begins.map((line) => [argOf(line, 'graph'), argOf(line, 'parent')])).toEqual(
      Array(2).fill([undefined, 'stale: of earlier work']),
    );
    expect(scan.odd.staleParents).toBe(2);
  });

  it('a step below a stopped operation, a kernel below a step: shown, and attached to no wrong parent', () => {
    const { file, comm, op, ops, steps, work } = receiving();
    ops.stop(300, op);
    const step = steps.startProxyStep(400, { comm, parent: op, step: 0 });
    const kernel = ops.startKernelCh(410, { comm, parent: step });
    ops.stop(420, kernel);
    steps.stop(430, step);
    const { sink, scan } = draw(file);
    expect(work).not.toBe(0n);
    expect(sink.of(/kernel/)[0]).toContain('unknown kernel parent=stale: of earlier work');
    expect(outline(sink.of(/slot/))).toEqual(['400 [step slot 0] begin step', '430 [step slot 0] end step']);
    expect(scan.odd.staleParents).toBe(1);
  });

  it('uninitialised ProxyCtrl slots: states and stops of garbage handles are shown as of another process', () => {
    const { file, ops, comm } = recording();
    const ctrl = ops.startProxyCtrl(100, { comm });
    ops.state(110, ctrl, 14).state(120, 0x7ffe_dead_beefn, 13).stop(130, 0xa5a5_a5a5_a5a5_a5a5n);
    const { sink, scan } = draw(file);
    expect(sink.of(ODD).map((line) => line.replace(/\[.*\] instant /, ''))).toEqual([
      '120 handle of another process event=0x00007ffedeadbeef',
      '130 handle of another process event=0xa5a5a5a5a5a5a5a5',
    ]);
    expect(scan.odd.foreign).toBe(2);
    expect(sink.of(/proxy thread/)).toEqual(['110 [proxy thread 12] state Active']);
  });

  it('NULL handles: nothing was recorded, and the summary counts them', () => {
    const { file, ops } = recording();
    ops.count({ nullCalls: 42 });
    expect(draw(file).scan.rings.map(({ nullCalls }) => nullCalls)).toEqual([0, 42, 0]);
  });
});
