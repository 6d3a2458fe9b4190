/** Work whose end, or whose start, NCCL does not report. It is neither finished nor hung, and a real hang is still one. */

import { describe, expect, it } from 'vitest';
import { draw } from '../../support/traces/picture.js';
import { argOf, coll, outline, recording } from '../../support/made_up/recording.js';
import { outcomesOf } from '../../../src/model/work_end_table.js';

/** Both directions say isSend 0, and nothing more ever comes. */
function collNet(works = 2) {
  const made = recording();
  const { comm, host, ops } = made;
  const parents = Array.from({ length: works }, (_, i) => {
    const at = 1000 * (i + 1);
    const parent = coll(host, comm, at, at + 20, i, { algo: 'COLLNET_DIRECT', nChannels: 0 });
    for (const peer of [0, 0]) ops.startProxyOp(at + 30, { comm, parent, peer, nSteps: 4 });
    return parent;
  });
  return { ...made, parents };
}

describe('CollNet', () => {
  it('its operations are instants without an end or a direction', () => {
    const { sink, scan } = draw(collNet().file);
    const lines = sink.of(/ch00/);
    expect(outline(lines)).toEqual(
      Array.from([1030, 1030, 2030, 2030], (at) => `${at} [ch00 with 0] instant proxy op`),
    );
    expect(argOf(lines[0], 'end')).toBe('not reported by NCCL (CollNet or memcpy)');
    expect(scan.endlessOps).toBe(4);
  });

  it('one operation of each direction is no second start; a third one is', () => {
    const { file, comm, ops, parents } = collNet();
    const before = draw(file);
    expect(before.scan.odd.startsAgain).toBe(0);
    expect(before.sink.of(/fit nothing/)).toEqual([]);
    expect(before.sink.of(/ch00/).map((line) => argOf(line, 'parent'))).toEqual(Array(4).fill(undefined));
    ops.startProxyOp(2040, { comm, parent: parents[1]!, peer: 0, nSteps: 4 });
    const { sink, scan } = draw(file);
    expect(scan.odd.startsAgain).toBe(1);
    expect(outline(sink.of(/fit nothing/))).toEqual(['2040 [records that fit nothing] instant start again']);
    expect(argOf(sink.of(/ch00/)[4], 'parent')).toBe('begun again while under way');
    expect(scan.endlessOps).toBe(5);
  });

  it('its collectives are not reported as unfinished only because their operations have no end', () => {
    const { sink, scan } = draw(collNet().file);
    expect(sink.openSlices()).toEqual([]);
    expect(argOf(sink.of(/collectives/)[0], 'completion')).toBe(
      'enqueued, end not reported by NCCL (CollNet or memcpy)',
    );
    expect(outcomesOf(scan.workEnds)).toEqual(['endless', 'endless']);
  });

  it('with kernels is complete when its kernels are, and hangs when one of them hangs', () => {
    const { file, comm, ops, parents } = collNet();
    ops.stop(1900, ops.startKernelCh(1500, { comm, parent: parents[0]! }));
    ops.startKernelCh(2500, { comm, parent: parents[1]! });
    const { sink, scan } = draw(file.heartbeat(9000));
    expect(outcomesOf(scan.workEnds)).toEqual(['complete', 'open']);
    expect(sink.openSlices().map((line) => outline([`0 ${line}`])[0])).toEqual([
      '0 [collectives] AllReduce',
      '0 [kernel ch00] AllReduce kernel',
    ]);
  });

  it('a receive that waits on a connection where another receive ended is still a hang', () => {
    const { file, comm, host, ops } = recording();
    const [first, second] = [1, 2].map((seq) => coll(host, comm, seq * 1000, seq * 1000 + 20, seq)) as [
      bigint,
      bigint,
    ];
    const alive = ops.startProxyOp(1100, { comm, parent: first, peer: 0 });
    ops.state(1200, alive, 19);
    ops.startProxyOp(2100, { comm, parent: second, peer: 0, ordinal: 1 });
    const { sink, scan } = draw(file);
    expect(outcomesOf(scan.workEnds)).toEqual(['open', 'open']);
    expect(outline(sink.of(/ch00/))).toEqual([
      '1100 [ch00 recv from 0] begin proxy recv',
      '2100 [ch00 recv from 0 ·2] begin proxy recv',
    ]);
    expect(scan.endlessOps).toBe(0);
  });

  it('point-to-point receives between the same ranks end as usual, and one of them may hang', () => {
    const { file, comm, host, ops } = collNet();
    const recv = (at: number, ordinal: number): bigint => {
      const parent = host.startP2p(at, { comm, func: 'Recv', peer: 0, ordinal });
      host.stop(at + 20, parent);
      return ops.startProxyOp(at + 30, { comm, parent, peer: 0, ordinal, nSteps: 1 });
    };
    ops.stop(3100, recv(3000, 0));
    recv(4000, 1);
    const { sink, scan } = draw(file);
    expect(outcomesOf(scan.workEnds)).toEqual(['endless', 'endless', 'complete', 'open']);
    expect(scan.endlessOps).toBe(4);
    expect(outline(sink.of(/recv from 0/))).toEqual([
      '3030 [ch00 recv from 0] begin proxy recv',
      '3100 [ch00 recv from 0] end proxy recv',
      '4030 [ch00 recv from 0] begin proxy recv',
    ]);
  });

  it('a connection that moves after a long pause is not endless', () => {
    const { file, comm } = recording();
    const ops = file.ring('ops', 1 << 13);
    let last = 0n;
    for (let i = 0; i < 1030; i++) last = ops.startProxyOp(100 + i, { comm, peer: 3, ordinal: i });
    ops.state(5000, last, 19).stop(6000, last);
    const { sink, scan } = draw(file);
    expect(outline(sink.of(/ch00/))[0]).toBe('100 [ch00 recv from 3] begin proxy recv');
    expect(scan.endlessConnections.size).toBe(0);
  });
});

describe('NCCL reports only the call', () => {
  it.each([
    ['Broadcast from NCCL 2.29 on', 'Broadcast'],
    ['symmetric memory before v7', 'AllGather'],
  ])('%s', (_, func) => {
    const { file, comm, host } = recording();
    const group = host.startGroupApi(100, { comm });
    host.stop(120, host.startCollApi(110, { comm, parent: group, func })).stop(150, group);
    const { sink, scan } = draw(file);
    const line = sink.of(/python/).find((text) => text.includes(`nccl${func}`));
    expect(argOf(line, 'completion')).toBe('not recorded: NCCL reported nothing more of this call');
    expect([...scan.bareCalls.values()]).toEqual([func]);
  });

  it('makes no claim if the work was reported, not launched yet, overwritten, or sampled out', () => {
    const reported = recording();
    const api = reported.host.startCollApi(100, { comm: reported.comm });
    coll(reported.host, reported.comm, 120, 130, 1, { parent: api });
    const pending = recording();
    const group = pending.host.startGroupApi(100, { comm: pending.comm });
    pending.host.startCollApi(110, { comm: pending.comm, parent: group });
    const overwritten = recording();
    overwritten.host.startCollApi(100, { comm: overwritten.comm });
    const other = overwritten.file.ring('host', 8, {});
    for (let i = 0; i < 9; i++) other.startGroup(200 + i, { comm: overwritten.comm });
    const sampled = recording({ sampleEvery: 2 });
    sampled.host.startCollApi(100, { comm: sampled.comm });
    for (const { file } of [reported, pending, overwritten, sampled])
      expect(
        draw(file)
          .sink.of(/python/)
          .join(),
      ).not.toContain('completion');
  });

  it('copy engines: a collective is enqueued, its time on the GPU is not known, and its ranks are joined', () => {
    const { file, comm, host } = recording();
    const api = host.startCollApi(100, { comm, func: 'AllGather' });
    const ce = host.startCeColl(110, { comm, parent: api, seqNumber: 3, func: 'AllGather' });
    host.stop(120, ce).stop(130, api);
    const { sink, scan } = draw(file);
    const line = sink.of(/python/).find((text) => text.includes('begin AllGather'));
    expect([argOf(line, 'seq'), argOf(line, 'completion')]).toEqual([
      '3',
      'enqueued, completion not recorded',
    ]);
    expect(sink.correlations).toHaveLength(1);
    expect([scan.copyColls, scan.bareCalls.size]).toEqual([1, 0]);
  });

  it('a symmetric collective of v7 says so and names its kernel', () => {
    const { file, comm, host } = recording({ abi: 7 });
    coll(host, comm, 100, 120, 5, { isSymColl: true, kernelVariant: 'AllGather_LSA', userTag: 77n });
    const [line] = draw(file).sink.of(/collectives/);
    expect([argOf(line, 'symmetric'), argOf(line, 'kernelVariant'), argOf(line, 'userTag')]).toEqual([
      'true',
      'AllGather_LSA',
      '77',
    ]);
  });

  it('nRanks 1, self sends: P2p without operations', () => {
    const { file, comm, host } = recording();
    const api = host.startP2pApi(100, { comm });
    host.stop(105, api);
    host.stop(120, host.startP2p(110, { comm, parent: api, func: 'Send', peer: 1 }));
    const [line] = draw(file).sink.of(/point-to-point/);
    expect(argOf(line, 'completion')).toBe('to itself, completion not recorded');
  });
});
