/** CUDA graphs, aggregated groups and split plans, as a user sees them. */

import { describe, expect, it } from 'vitest';
import { draw } from '../../support/traces/picture.js';
import { argOf, coll, outline, recording } from '../../support/made_up/recording.js';

/** A captured AllReduce: the calls, and a launch that launched nothing. */
function capture(replayCount: number) {
  const made = recording();
  const { comm, host } = made;
  const callback = made.file.ring('host', 64, { threadName: 'cuda-callback', tid: 13 });
  const group = host.startGroupApi(100, { comm, groupDepth: 1, graphCaptured: true });
  host.state(101, group, 23);
  const api = host.startCollApi(110, { comm, parent: group, graphCaptured: true });
  host.stop(120, api).state(130, group, 24);
  host.stop(150, host.startKernelLaunch(140, { comm, parent: group })).stop(160, group);
  const replay = (ordinal: number, at: number): bigint =>
    coll(callback, comm, at, at + 20, 5, { parent: api, ordinal });
  const replays = Array.from({ length: replayCount }, (_, i) => replay(i, 10_000 * (i + 1)));
  return { ...made, callback, api, replay, replays };
}

describe('CUDA graph', () => {
  it('capture: calls are marked as captured, because they took no time on the GPU', () => {
    const { file } = capture(0);
    const { sink } = draw(file);
    expect(outline(sink.of(/python/))).toEqual([
      '100 [python 11] begin GroupApi (captured)',
      '110 [python 11] begin ncclAllReduce (captured)',
      '120 [python 11] end ncclAllReduce (captured)',
      '130 [python 11] begin ncclGroupEnd (captured)',
      '140 [python 11] begin KernelLaunch (captured)',
      '150 [python 11] end KernelLaunch (captured)',
      '160 [python 11] end ncclGroupEnd (captured)',
      '160 [python 11] end GroupApi (captured)',
    ]);
    expect(sink.of(/collectives/)).toEqual([]);
  });

  it('replay: each is a collective of its own with its number, even if the call is old', () => {
    const { file, comm, ops, replays } = capture(3);
    replays.forEach((parent, i) => {
      const op = ops.startProxyOp(10_000 * (i + 1) + 50, { comm, parent, peer: 2, isSend: true, ordinal: i });
      ops.stop(10_000 * (i + 1) + 900, op);
    });
    const { sink } = draw(file);
    const begins = sink.of(/collectives/).filter((line) => line.includes('begin'));
    expect(begins.map((line) => [argOf(line, 'seq'), argOf(line, 'replay'), argOf(line, 'graph')])).toEqual([
      ['5', '0', 'true'],
      ['5', '1', 'true'],
      ['5', '2', 'true'],
    ]);
    expect(outline(sink.of(/collectives/)).filter((line) => line.includes('end'))).toEqual([
      '10900 [collectives] end AllReduce',
      '20900 [collectives] end AllReduce',
      '30900 [collectives] end AllReduce',
    ]);
  });

  it('replay: finds its call even if another event has the same place in the table', () => {
    const { file, comm, callback } = capture(0);
    const busy = file.ring('host', 1 << 17, { threadName: 'busy', tid: 14 });
    const api = busy.startCollApi(200, { comm, graphCaptured: true });
    busy.stop(210, api);
    busy.area.head = 1 << 16;
    busy.stop(1010, busy.startKernelLaunch(1000, { comm }));
    coll(callback, comm, 90_000, 90_010, 9, { parent: api, ordinal: 3 });
    const [begin] = draw(file).sink.of(/collectives/);
    expect([argOf(begin, 'replay'), argOf(begin, 'graph')]).toEqual(['3', 'true']);
  });

  it('replay: its kernels may begin long after the call and not before the replay', () => {
    const { file, comm, ops, replays } = capture(2);
    const EPOCH = 1_790_000_000_000_000_000n;
    replays.forEach((parent, i) => {
      const at = 5_000_000 * (i + 1);
      const kernel = ops.startKernelCh(at, { comm, parent, pTimer: EPOCH + BigInt(at) });
      ops.state(at + 500, kernel, 22, EPOCH + BigInt(at) + 400n).stop(at + 500, kernel);
    });
    const early = ops.startKernelCh(20_000_000, {
      comm,
      parent: replays[1]!,
      channel: 1,
      pTimer: EPOCH - 9_000_000n,
    });
    ops.state(20_000_100, early, 22, EPOCH - 8_000_000n).stop(20_000_100, early);
    const { sink, suspectKernels } = draw(file);
    expect(suspectKernels).toBe(1);
    expect(sink.of(/kernel ch01/)[0]).toContain('suspect=starts before');
    expect(outline(sink.of(/kernel ch00/))[0]).toBe('5000000 [kernel ch00] begin AllReduce kernel');
  });

  it('without proxy operations: is reported once at capture, and says that its replays are not reported', () => {
    const { file, callback, comm, api } = capture(0);
    coll(callback, comm, 145, 150, 5, { parent: api });
    const [begin] = draw(file).sink.of(/collectives/);
    expect(argOf(begin, 'completion')).toBe('part of a captured graph, completion not recorded');
  });

  it('an ordinary collective with the number of a captured one is no replay', () => {
    const { file, comm, host, replays } = capture(1);
    expect(replays).toHaveLength(1);
    const api = host.startCollApi(50_000, { comm });
    host.stop(50_010, api);
    coll(host, comm, 50_020, 50_030, 5, { parent: api, ordinal: 1 });
    const begin = draw(file)
      .sink.of(/collectives/)
      .at(-2);
    expect([argOf(begin, 'ordinal'), argOf(begin, 'replay'), argOf(begin, 'graph')]).toEqual([
      '1',
      undefined,
      undefined,
    ]);
  });

  it('replay: is joined with nothing if its number is lost, and says so', () => {
    const { file, comm, host } = recording();
    coll(host, comm, 100, 120, 5, { flags: 1 });
    const { sink } = draw(file);
    expect(argOf(sink.of(/collectives/)[0], 'ordinalAbsolute')).toBe('false');
    expect(sink.correlations).toEqual([]);
  });

  it('a call that the ring has overwritten is called overwritten', () => {
    const { file, comm, host } = recording();
    const gone = host.handleAt(0);
    for (let i = 0; i < 70; i++) host.stop(10 + i, host.startGroup(10 + i, { comm }));
    coll(host, comm, 1000, 1020, 5, { parent: gone, ordinal: 4 });
    const [begin] = draw(file).sink.of(/collectives/);
    expect(argOf(begin, 'parent')).toBe('not in the file any more');
    expect(argOf(begin, 'replay')).toBe('4');
  });
});

describe('aggregated group', () => {
  it('k calls, one launch, k collectives that overlap in lanes', () => {
    const { file, comm, host, ops } = recording();
    const group = host.startGroupApi(100, { comm, groupDepth: 2 });
    const apis = ['AllReduce', 'AllGather', 'AllReduce'].map((func, i) => {
      const api = host.startCollApi(110 + 10 * i, { comm, parent: group, func });
      host.stop(115 + 10 * i, api);
      return { api, func };
    });
    host.state(150, group, 24);
    host.stop(170, host.startKernelLaunch(160, { comm, parent: group }));
    const plan = host.startGroup(180, { comm });
    // In the order of the scheduler, not of the calls.
    const works = [1, 0, 2].map((i) => {
      const { api, func } = apis[i]!;
      const work = host.startColl(190, { comm, parent: api, parentGroup: plan, func, seqNumber: i });
      ops.stop(900, ops.startProxyOp(300, { comm, parent: work, peer: 2, isSend: true, channel: i }));
      return work;
    });
    works.forEach((work) => host.stop(200, work));
    host.stop(210, plan).stop(220, group);
    const { sink } = draw(file);
    expect(outline(sink.of(/collectives/)).filter((line) => line.includes('begin'))).toEqual([
      '190 [collectives] begin AllGather',
      '190 [collectives ·2] begin AllReduce',
      '190 [collectives ·3] begin AllReduce',
    ]);
    expect(outline(sink.of(/python/)).filter((line) => line.includes('begin'))).toEqual([
      '100 [python 11] begin GroupApi',
      '110 [python 11] begin ncclAllReduce',
      '120 [python 11] begin ncclAllGather',
      '130 [python 11] begin ncclAllReduce',
      '150 [python 11] begin ncclGroupEnd',
      '160 [python 11] begin KernelLaunch',
      '180 [python 11] begin Group',
    ]);
  });

  it('split plans: several launches and plans below one ncclGroupEnd', () => {
    const { file, comm, host } = recording();
    const group = host.startGroupApi(100, { comm, groupDepth: 2 });
    host.state(110, group, 24);
    for (const at of [120, 160]) {
      host.stop(at + 10, host.startKernelLaunch(at, { comm, parent: group }));
      host.stop(at + 20, host.startGroup(at + 15, { comm }));
    }
    host.stop(200, group);
    expect(outline(draw(file).sink.of(/python/)).filter((line) => line.includes('begin'))).toEqual([
      '100 [python 11] begin GroupApi',
      '110 [python 11] begin ncclGroupEnd',
      '120 [python 11] begin KernelLaunch',
      '135 [python 11] begin Group',
      '160 [python 11] begin KernelLaunch',
      '175 [python 11] begin Group',
    ]);
  });

  it('several communicators in one group: each call says its own', () => {
    const { file, comm, host } = recording();
    const tp = file.communicator({ name: 'tp', commId: 0xdefn, rank: 0, nRanks: 2 });
    const group = host.startGroupApi(100, { comm, groupDepth: 2 });
    host.stop(115, host.startCollApi(110, { comm, parent: group }));
    host.stop(125, host.startCollApi(120, { comm: tp, parent: group }));
    host.stop(200, group);
    const begins = draw(file)
      .sink.of(/python/)
      .filter((line) => line.includes('begin'));
    expect(begins.map((line) => argOf(line, 'comm'))).toEqual([
      undefined,
      'dp 0x0000000000000abc',
      'tp 0x0000000000000def',
    ]);
  });

  it('nested groups: an inner end closes the group early and the next call opens another', () => {
    const { file, comm, host } = recording();
    const inner = host.startGroupApi(100, { comm, groupDepth: 3 });
    host.stop(115, host.startCollApi(110, { comm, parent: inner })).stop(120, inner);
    const outer = host.startGroupApi(130, { comm, groupDepth: 2 });
    host.stop(145, host.startCollApi(140, { comm, parent: outer }));
    host.state(150, outer, 24).stop(160, outer);
    const groups = draw(file)
      .sink.of(/python/)
      .filter((line) => line.includes('begin GroupApi'));
    expect(groups.map((line) => argOf(line, 'groupDepth'))).toEqual(['3', '2']);
  });
});
