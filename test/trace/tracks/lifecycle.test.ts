/** Communicators that begin, split, do not block, abort, or are finalized before their last events. */

import { describe, expect, it } from 'vitest';
import { draw, type Picture } from '../../support/traces/picture.js';
import { argOf, coll, outline, recording } from '../../support/made_up/recording.js';
import { outcomesOf } from '../../../src/model/work_end_table.js';

/** An AllReduce whose send hangs in its peer wait; the communicator is finalized at 5000. */
function aborted() {
  const made = recording({ finalizeTick: 5000 });
  const { comm, host, ops, steps } = made;
  const work = coll(host, comm, 100, 120);
  const op = ops.startProxyOp(200, { comm, parent: work, peer: 2, isSend: true });
  const step = steps.startProxyStep(300, { comm, parent: op, step: 4 });
  steps.state(310, step, 8).state(400, step, 20);
  ops.startKernelCh(500, { comm, parent: work });
  made.file.heartbeat(900_000);
  return { ...made, work, op, step };
}

describe('abort', () => {
  it('work in flight ends when its communicator is finalized, and is not drawn to the end of the trace', () => {
    const { sink, scan } = draw(aborted().file);
    expect(sink.openSlices()).toEqual([]);
    const ends = sink.lines.filter((line) => line.startsWith('5000 '));
    expect(outline(ends)).toEqual([
      '5000 [communicator] instant finalize',
      '5000 [collectives] end AllReduce',
      '5000 [operations in flight] = 0',
      '5000 [step slot 4] end not known',
      '5000 [step slot 4] end step',
      '5000 [ch00 send to 2] end proxy send',
      '5000 [kernel ch00] end AllReduce kernel',
      '5000 [proxy operations in flight] = 0',
    ]);
    expect(ends.map((line) => argOf(line, 'end')).filter((end) => end !== undefined)).toEqual(
      Array(2).fill('communicator finalized'),
    );
    expect(argOf(sink.of(/collectives/)[0], 'completion')).toBe(
      'not finished when the communicator was finalized',
    );
    expect(outcomesOf(scan.workEnds)).toEqual(['aborted']);
  });

  it('work that ends after its communicator was finalized is drawn to its end', () => {
    const { file, ops, steps, op, step } = aborted();
    steps.state(6000, step, 9, 64).stop(6100, step);
    ops.stop(6200, op);
    const { sink } = draw(file);
    expect(outline(sink.of(/ch00 send to 2$/)).at(-1)).toBe('6200 [ch00 send to 2] end proxy send');
  });

  it('an operation that starts after the finalize of a communicator without other events is not counted as in flight', () => {
    const { file, comm, ops } = recording({ finalizeTick: 150 });
    const other = ops.startProxyOp(100, {
      comm: file.communicator({ name: 'other' }),
      peer: 1,
      isSend: true,
    });
    ops.startProxyOp(200, { comm, peer: 2, isSend: true });
    ops.stop(300, other);
    const { sink } = draw(file);
    expect(outline(sink.of(/proxy operations in flight/)).map((line) => line.replace(/\[.*\] /, ''))).toEqual(
      ['100 = 0', '100 = 1', '300 = 0'],
    );
  });

  it('a communicator that was never finalized hangs', () => {
    const { file, comm, host, ops } = recording();
    ops.startProxyOp(200, { comm, parent: coll(host, comm, 100, 120), peer: 2, isSend: true });
    expect(draw(file).sink.openSlices()).toHaveLength(2);
  });
});

describe('communicators', () => {
  it('each shows when it began and ended, even if NCCL reports no work on it (nRanks 1)', () => {
    const { file } = recording();
    file.communicator({ name: 'self', commId: 1n, rank: 0, nRanks: 1, initTick: 70, finalizeTick: 90 });
    expect(draw(file).sink.of(/self/)).toEqual([
      '70 [comm self 0x0000000000000001 (1 ranks) / communicator] instant init rank=0 nRanks=1 nNodes=1 interface=v5',
      '90 [comm self 0x0000000000000001 (1 ranks) / communicator] instant finalize',
    ]);
  });

  it('split with a shared proxy: the proxy thread goes on in the name of the finalized parent', () => {
    const { file, comm, host, ops } = recording({ finalizeTick: 300 });
    const child = file.communicator({ name: 'child', commId: 7n, rank: 0, nRanks: 2 });
    for (const [at, state] of [
      [100, 14],
      [400, 13],
      [500, 14],
    ] as const)
      ops.state(at, ops.startProxyCtrl(at, { comm }), state);
    const op = ops.startProxyOp(520, { comm: child, parent: coll(host, child, 510, 515), peer: 1 });
    ops.stop(600, op);
    const { sink, scan } = draw(file);
    expect(sink.of(/proxy thread/).map((line) => line.replace(/\[.*\] /, ''))).toEqual([
      '100 state Active',
      '400 state Idle',
      '500 state Active',
    ]);
    expect(sink.of(/fit nothing/)).toEqual([]);
    expect(scan.odd.afterFinalize).toBe(0);
    expect(outline(sink.of(/child.*collectives/)).at(-1)).toBe('600 [collectives] end AllReduce');
  });

  it('records after finalize are drawn, counted and pointed out', () => {
    const { file, comm, host } = recording({ finalizeTick: 300 });
    host.stop(420, host.startCollApi(400, { comm }));
    coll(host, comm, 430, 440);
    const { sink, scan } = draw(file);
    expect(outline(sink.of(/fit nothing/))).toEqual([
      '400 [records that fit nothing] instant after finalize',
      '430 [records that fit nothing] instant after finalize',
    ]);
    expect(outline(sink.of(/python/))).toHaveLength(2);
    expect(outline(sink.of(/collectives/))).toHaveLength(2);
    expect(scan.odd.afterFinalize).toBe(2);
  });

  it('that do not block: the group ends before another thread launches the kernel', () => {
    const { file, comm, host } = recording();
    const launcher = file.ring('host', 64, { threadName: 'python', tid: 99 });
    const group = host.startGroupApi(100, { comm });
    const api = host.startCollApi(110, { comm, parent: group });
    host.stop(120, api).state(130, group, 24).stop(140, group);
    launcher.stop(220, launcher.startKernelLaunch(200, { comm, parent: group }));
    coll(launcher, comm, 230, 240, 1, { parent: api });
    const { sink } = draw(file);
    expect(outline(sink.of(/python 99/))).toEqual([
      '200 [python 99] begin KernelLaunch',
      '220 [python 99] end KernelLaunch',
    ]);
    expect(outline(sink.of(/python 11/)).at(-1)).toBe('140 [python 11] end GroupApi');
    expect(argOf(sink.of(/collectives/)[0], 'parent')).toBeUndefined();
  });

  it('that do not block: a thread per launch does not mean a track per launch', () => {
    const { file, comm } = recording();
    const ring = file.ring('host', 256);
    for (let i = 0; i < 20; i++) {
      const fromPosition = ring.head;
      const at = 1000 * (i + 1);
      ring.stop(at + 10, ring.startKernelLaunch(at, { comm }));
      file.lease({
        ...{ ring: ring.number, tid: 500 + i, threadName: 'python' },
        ...{ fromTick: at - 5, fromPosition, endTick: at + 20, endPosition: ring.head },
      });
    }
    const { sink } = draw(file);
    const lines = sink.of(/python, 20 threads one after the other$/);
    expect(lines).toHaveLength(40);
    expect(argOf(lines[38], 'tid')).toBe('519');
  });
});

describe('control', () => {
  it('a change of the recording of a running job is drawn at its time', () => {
    const { file, comm, host } = recording({
      eventMask: 0x1a,
      changed: { tick: 700, events: 0x2, sampleEvery: 100 },
    });
    coll(host, comm, 100, 120);
    const { sink } = draw(file.heartbeat(900));
    const [line, ...more] = sink.of(/control/);
    expect(more).toEqual([]);
    expect(outline([line!])).toEqual(['700 [control] instant recording changed']);
    expect(
      ['events', 'eventsAtStart', 'sampleEvery', 'sampleEveryAtStart'].map((name) => argOf(line, name)),
    ).toEqual(['Coll', 'Coll,ProxyOp,ProxyStep', '100', '1']);
  });

  it('every change is drawn, with the number of changes before it that are not in the file', () => {
    const { file, comm, host } = recording({
      eventMask: 0x1a,
      changed: { tick: 800, events: 0x2, sampleEvery: 1 },
    });
    coll(host, comm, 100, 120);
    const changes = [
      { tick: 300, done: 310, events: 0x12, sampleEvery: 4 },
      { tick: 500, done: 505, events: 0x1a, sampleEvery: 1 },
    ];
    const { sink } = draw(file.changes(changes, 2).heartbeat(900));
    const lines = sink.of(/control/);
    expect(outline(lines)).toEqual(
      ['300', '500', '800'].map((tick) => `${tick} [control] instant recording changed`),
    );
    const args = ['events', 'sampleEvery', 'changesLostBefore'];
    expect(lines.map((line) => args.map((name) => argOf(line, name)))).toEqual([
      ['Coll,ProxyStep', '4', '2'],
      ['Coll,ProxyOp,ProxyStep', '1', undefined],
      ['Coll', '1', 'unknown'], // Only the header has this change.
    ]);
  });

  it('nothing is drawn without a change', () => {
    expect(draw(recording().file.heartbeat(900)).sink.of(/control/)).toEqual([]);
  });
});

describe('the last sign of life', () => {
  /** A send that waits for its peer; the proxy thread is active. */
  function waiting(life: 'recording' | 'closed' = 'recording') {
    const made = recording({ life });
    const { file, comm, ops, steps } = made;
    ops.state(150, ops.startProxyCtrl(150, { comm }), 14);
    const op = ops.startProxyOp(200, { comm, peer: 2, isSend: true });
    const step = steps.startProxyStep(300, { comm, parent: op, step: 0 });
    steps.state(400, step, 8).state(500, step, 20);
    file.heartbeat(450);
    return { ...made, step };
  }
  const life = (picture: Picture): string[] =>
    picture.sink.of(/heartbeat/).map((line) => line.replace(/\[.*\] /, ''));

  it('is the heartbeat if nothing is newer', () => {
    const { file } = waiting();
    expect(life(draw(file.heartbeat(500)))).toEqual(['500 instant last heartbeat life=recording']);
  });

  it('is a newer record, or poll', () => {
    expect(life(draw(waiting().file))).toEqual([
      '500 instant last record life=recording heartbeatNsBefore=50',
    ]);
    const { file, steps, step } = waiting();
    steps.openFold(step, 20, 1000, 900);
    expect(life(draw(file))).toEqual(['900 instant last record life=recording heartbeatNsBefore=450']);
  });

  it('is the closing of a closed file, and its threads have no state after it', () => {
    const { sink } = draw(waiting('closed').file.heartbeat(700));
    expect(sink.of(/heartbeat/).map((line) => line.replace(/\[.*\] /, ''))).toEqual([
      '700 instant closed life=closed',
    ]);
    expect(outline(sink.of(/proxy thread/))).toEqual([
      '150 [proxy thread 12] state Active',
      '700 [proxy thread 12] state -',
    ]);
    expect(sink.of(/no sign of life/)).toEqual([]);
  });

  it('ends the thread states of a silent process, and silence lasts to the end', () => {
    const { sink } = draw(waiting().file, true, 'no sign of life');
    expect(outline(sink.of(/proxy thread/)).at(-1)).toBe('500 [proxy thread 12] state -');
    expect(outline(sink.of(/no sign of life/))).toEqual(['500 [no sign of life] begin no sign of life']);
    expect(sink.openSlices().at(-1)).toMatch(/no sign of life$/);
  });

  it('is no death if records end although the rank worked on', () => {
    const { sink } = draw(waiting().file, true, 'no records');
    expect(sink.of(/no sign of life/)).toEqual([]);
    expect(outline(sink.of(/no records/))).toEqual(['500 [no records] begin no records']);
  });

  it('makes no claim about later if the process did not fall silent', () => {
    const { sink } = draw(waiting().file);
    expect(outline(sink.of(/proxy thread/))).toEqual(['150 [proxy thread 12] state Active']);
    expect(sink.of(/no sign of life/)).toEqual([]);
  });
});
