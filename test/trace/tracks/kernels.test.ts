/** Kernel timestamps that belong to other work, kernels that end without a start, and phases of kernels. */

import { describe, expect, it } from 'vitest';
import { unpackRecording } from '../../support/jobs/packed_recording.js';
import { draw, drawFile } from '../../support/traces/picture.js';
import { argOf, coll, outline, recording } from '../../support/made_up/recording.js';
import { temporaryFolder } from '../../support/program/temporary_folder.js';

const EPOCH = 1_790_000_000_000_000_000n;

/** Ten AllReduces 10 ms apart with good kernels on channel 0: enough to know the GPU's clock. */
function healthy(abi = 6) {
  const made = recording({ abi });
  const { comm, host, ops } = made;
  const works = Array.from({ length: 10 }, (_, i) => {
    const at = 10_000_000 * (i + 1);
    const work = coll(host, comm, at, at + 100, i);
    kernel({
      ops,
      comm,
      parent: work,
      noticed: [at + 1100 + 7 * i, at + 9000],
      stamps: [at + 1000, at + 8000],
    });
    return work;
  });
  return { ...made, works };
}

interface Made {
  readonly ops: ReturnType<typeof recording>['ops'];
  readonly comm: number;
  readonly parent: bigint;
  readonly channel?: number;
  readonly noticed: readonly [number, number];
  /** On the host's clock; null: 0. */
  readonly stamps: readonly [number | null, number | null];
}

const timer = (at: number | null): bigint => (at === null ? 0n : EPOCH + BigInt(at));

function kernel({ ops, comm, parent, channel = 0, noticed, stamps }: Made): bigint {
  const handle = ops.startKernelCh(noticed[0], { comm, parent, channel, pTimer: timer(stamps[0]) });
  ops.state(noticed[1], handle, 22, timer(stamps[1])).stop(noticed[1], handle);
  return handle;
}

/** The last AllReduce once more on channel 1, with these stamps: how it is drawn. */
function drawn(stamps: Made['stamps']) {
  const { file, comm, ops, works } = healthy();
  const parent = works[9]!;
  kernel({ ops, comm, parent, channel: 1, noticed: [100_001_200, 100_009_500], stamps });
  const { sink, suspectKernels } = draw(file);
  const [begin, end] = sink.of(/kernel ch01/);
  return {
    suspect: argOf(begin, 'suspect'),
    interval: [begin, end].map((line) => Number(line!.split(' ')[0])),
    suspectKernels,
    others: sink.of(/kernel ch00/).filter((line) => line.includes('suspect')),
    collectiveEnd: Number(
      sink
        .of(/collectives/)
        .at(-1)!
        .split(' ')[0],
    ),
  };
}

const NOTICED = [100_001_200, 100_009_500];

describe('a kernel timestamp', () => {
  it('that can be true is drawn, on the clock that most kernels agree on', () => {
    const { suspect, interval, suspectKernels } = drawn([100_001_000, 100_008_000]);
    expect([suspect, suspectKernels]).toEqual([undefined, 0]);
    // The shortest delay of a notice (100 ns) cannot be observed, so GPU times are late by as much.
    expect(interval).toEqual([100_001_100, 100_008_100]);
  });

  it.each([
    ['of 0', [null, 100_008_000], 'no start timestamp'],
    ['whose stop is 0', [100_001_000, null], 'no stop timestamp'],
    ['that stops before it starts', [100_001_000, 100_000_000], 'stops before it starts'],
    ['torn to nonsense', [-1_600_000_000_000_000_000, 100_008_000], 'starts before the recording'],
    ['from after the callback', [900_001_000, 900_008_000], 'starts after it was noticed'],
    ['whose stop lies after the callback', [100_001_000, 900_008_000], 'stops after it was noticed'],
  ] as const)('%s is suspect, counted, and drawn as noticed', (_, stamps, suspect) => {
    expect(drawn(stamps)).toEqual({
      suspect,
      interval: NOTICED,
      suspectKernels: 1,
      others: [],
      // The end of the collective is not taken from it either.
      collectiveEnd: 100_009_500,
    });
  });

  it('is suspect if it belongs to work before its collective, and does not set the end', () => {
    expect(drawn([80_001_000, 80_008_000])).toEqual({
      suspect: 'starts before its call',
      interval: NOTICED,
      suspectKernels: 1,
      others: [],
      collectiveEnd: 100_008_100,
    });
  });

  it('that interface v3 does not give is replaced by the time of notice, and nothing is suspect', () => {
    const { file, comm, host, ops } = recording({ abi: 3 });
    const parent = coll(host, comm, 100, 120);
    const handle = ops.startKernelCh(200, { comm, parent });
    ops.stop(900, handle);
    const { sink, suspectKernels } = draw(file);
    expect(outline(sink.of(/kernel/))).toEqual([
      '200 [kernel ch00] begin AllReduce kernel',
      '900 [kernel ch00] end AllReduce kernel',
    ]);
    expect(suspectKernels).toBe(0);
  });
});

describe('stamps of other work', () => {
  const MS = 1_000_000;
  const CALLED = 200 * MS;

  /**
   * Three AllReduces in the stream, whose blocks run from 205, 220 and 240 ms on for 10 ms. Their operations show that. NCCL reports each
   * with the stamps of the work before; the first of these is not recorded.
   */
  function lagging(proto = 'SIMPLE') {
    const { file, host, ops, steps, comm } = healthy();
    const works = [10, 11, 12].map((seq, i) =>
      coll(host, comm, CALLED + i * 1000, CALLED + i * 1000 + 100, seq, { proto }),
    );
    const blocks = [201 * MS, 205 * MS, 220 * MS, 240 * MS];
    works.forEach((parent, i) => {
      const [before, begin] = [blocks[i]!, blocks[i + 1]!];
      const op = ops.startProxyOp(begin - MS, { comm, parent, peer: 0, nSteps: 1 });
      if (i === 0) report(before, 2 * MS);
      const step = steps.startProxyStep(begin - MS, { comm, parent: op, step: 0 });
      steps
        .state(begin, step, 10)
        .state(begin + 8 * MS, step, 11, 64)
        .state(begin + 8 * MS, step, 12);
      steps.stop(begin + 9 * MS, step);
      const send = ops.startProxyOp(begin, { comm, parent, peer: 2, isSend: true, nSteps: 1 });
      const sent = steps.startProxyStep(begin, { comm, parent: send, step: 0 });
      steps
        .state(begin, sent, 8)
        .state(begin + MS, sent, 20)
        .state(begin + MS, sent, 9)
        .stop(begin + 9 * MS, sent);
      ops.stop(begin + 9 * MS, op).stop(begin + 9 * MS, send);
      if (i < 2) report(begin, 10 * MS, i + 1);
    });
    return draw(file);

    function report(from: number, takes: number, i = 0): void {
      const noticed = [from + 1000, from + takes + 1000] as const;
      kernel({ ops, comm, parent: works[i]!, noticed, stamps: [from, from + takes] });
    }
  }

  it("are drawn as that work's, if its operations show that it ran then; the last are noticed only", () => {
    const { sink, suspectKernels } = lagging();
    const found = sink.of(/kernel ch00/).filter((line) => Number(line.split(' ')[0]) > CALLED);
    const begins = found.filter((line) => line.includes('begin'));
    expect(
      begins.map((line) => [Math.round(Number(line.split(' ')[0]) / MS), argOf(line, 'reportedWith')]),
    ).toEqual([
      [205, 'AllReduce seq 11'],
      [220, 'AllReduce seq 12'],
      [220, undefined],
    ]);
    expect(argOf(begins[2], 'suspect')).toBe('stamps of other work');
    expect(suspectKernels).toBe(1);
  });

  it('are not known as such where data may be consumed before they are noticed', () => {
    expect(lagging('LL').suspectKernels).toBe(0);
  });

  it('are those of 16 of 20 kernels that NCCL reported with the block before, after a send to itself', () => {
    const { folder, remove } = temporaryFolder();
    try {
      const files = unpackRecording('real/s2', folder);
      const pictures = [0, 1, 2, 3].map((rank) => drawFile(`${files}/rank0000${rank}.bin`, true, null));
      const lines = pictures.flatMap(({ sink }) =>
        sink.of(/kernel ch00/).filter((line) => line.includes('reportedWith')),
      );
      expect(lines).toHaveLength(16);
      expect(pictures.map(({ suspectKernels }) => suspectKernels)).toEqual([1, 1, 1, 1]);
    } finally {
      remove();
    }
  });
});

describe('completion before start', () => {
  it('is counted and shown where it was noticed; the kernel before it keeps its end', () => {
    const { file, ops, comm, works } = healthy();
    const before = kernel({
      ...{ ops, comm, parent: works[9]!, channel: 2 },
      noticed: [100_001_200, 100_009_500],
      stamps: [100_001_000, 100_008_000],
    });
    ops.state(100_020_000, before, 22, timer(100_019_000)).stop(100_020_000, before);
    const { sink, scan } = draw(file);
    expect(outline(sink.of(/kernel ch02/))).toEqual([
      '100001100 [kernel ch02] begin AllReduce kernel',
      '100008100 [kernel ch02] end AllReduce kernel',
    ]);
    expect(sink.of(/fit nothing/)).toEqual([
      '100020000 [recorder / records that fit nothing] instant kernel completion without start event=KernelCh channel=2',
    ]);
    expect(scan.odd).toMatchObject({ kernelsWithoutStart: 1, afterStop: 0 });
  });
});

it('kernels fused in one batch share their instants and lie in lanes', () => {
  const { file, ops, comm, host } = recording();
  for (const seq of [1, 2]) {
    const parent = coll(host, comm, 100 + seq, 120 + seq, seq);
    kernel({ ops, comm, parent, noticed: [1100, 2000], stamps: [1000, 1900] });
  }
  expect(outline(draw(file).sink.of(/kernel/))).toEqual([
    '1100 [kernel ch00] begin AllReduce kernel',
    '2000 [kernel ch00] end AllReduce kernel',
    '1100 [kernel ch00 ·2] begin AllReduce kernel',
    '2000 [kernel ch00 ·2] end AllReduce kernel',
  ]);
});

it('a second kernel of one channel belongs to other work if the work that it names already had its kernel', () => {
  const { file, ops, comm, works } = healthy();
  kernel({
    ops,
    comm,
    parent: works[0]!,
    noticed: [100_001_200, 100_009_000],
    stamps: [100_001_000, 100_008_000],
  });
  const { sink, scan } = draw(file);
  expect(sink.of(/kernel ch00/).at(-2)).toContain('unknown kernel parent=stale: of earlier work');
  expect(outline(sink.of(/collectives/))[1]).toBe('10008100 [collectives] end AllReduce');
  expect(scan.odd.staleParents).toBe(1);
});

describe('phases of a kernel (v7)', () => {
  it("are drawn by the GPU's timer below its channel", () => {
    const { file, ops, comm, works } = healthy(7);
    const block = kernel({
      ...{ ops, comm, parent: works[9]!, channel: 1 },
      noticed: [100_001_200, 100_009_500],
      stamps: [100_001_000, 100_008_000],
    });
    ['initial_sync', 'compute', 'final_sync'].forEach((name, i) => {
      const from = 100_001_000 + 2000 * i;
      const phase = { comm, parent: block, channel: 1, phase: i, name };
      const handle = ops.startKernelPhase(100_010_000, { ...phase, pTimer: timer(from) });
      ops.state(100_010_000, handle, 31, timer(from + 2000)).stop(100_010_000, handle);
    });
    const { sink, scan } = draw(file);
    expect(outline(sink.of(/ch01 phases/))).toEqual([
      '100001100 [kernel ch01 phases] begin initial_sync',
      '100003100 [kernel ch01 phases] end initial_sync',
      '100003100 [kernel ch01 phases] begin compute',
      '100005100 [kernel ch01 phases] end compute',
      '100005100 [kernel ch01 phases] begin final_sync',
      '100007100 [kernel ch01 phases] end final_sync',
    ]);
    expect(scan.odd.unknown.size).toBe(0);
  });

  it('without a name or a timestamp are shown by their number, as noticed', () => {
    const { file, ops, comm, host } = recording({ abi: 7 });
    const parent = coll(host, comm, 100, 120);
    const handle = ops.startKernelPhase(200, { comm, parent, channel: 1, phase: 3 });
    ops.state(300, handle, 31, 0n).stop(300, handle);
    const [begin] = draw(file).sink.of(/phases/);
    expect(begin).toContain('200 ');
    expect(begin).toContain('begin phase 3 op=AllReduce suspect=no start timestamp');
  });
});
