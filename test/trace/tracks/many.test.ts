/** Pictures of many records, which a fixture (drawn.test.ts) would be too long for, and what a picture's lines do not show. */

import { expect, it } from 'vitest';
import { unpackRecording } from '../../support/jobs/packed_recording.js';
import { outline, recording } from '../../support/made_up/recording.js';
import { temporaryFolder } from '../../support/program/temporary_folder.js';
import { draw, drawFile } from '../../support/traces/picture.js';

it('lanes of an operation lie in the order of their numbers, below its connection, above the next one', () => {
  const { file, comm, ops } = recording();
  for (const peer of [2, 3])
    for (let i = 0; i < 12; i++) ops.startProxyOp(200 + i, { comm, peer, isSend: true });
  const lanes = draw(file).sink.specs.filter(({ name }) => name.includes(' · ch00 send'));
  expect(lanes).toHaveLength(24);
  expect(new Set(lanes.map(({ rank }) => rank)).size).toBe(24);
  expect([...lanes].sort((a, b) => a.rank - b.rank)).toEqual(lanes);
});

it('hundreds of operations without a start, one after the other, take one lane', () => {
  const { file, comm, ops } = recording();
  const steps = file.ring('steps', 2048, { threadName: 'NCCL Progress 1', tid: 13 });
  for (let i = 0; i < 300; i++) {
    const step = steps.startProxyStep(1000 + 10 * i, { comm, parent: ops.handleAt(i), step: 0 });
    steps.state(1001 + 10 * i, step, 10).stop(1008 + 10 * i, step);
  }
  const { sink, scan } = draw(file);
  const lines = outline(sink.of(/before the window[^/]*$/));
  expect(new Set(lines.map((line) => /\[(.*)\]/.exec(line)![1])).size).toBe(1);
  expect(scan.size.comms.map(({ counts }) => counts.op.total)).toContain(300);
});

it('a connection of CollNet that moves after a long pause is not endless', () => {
  const { file, comm } = recording();
  const ops = file.ring('ops', 1 << 13);
  let last = 0n;
  for (let i = 0; i < 1030; i++) last = ops.startProxyOp(100 + i, { comm, peer: 3, ordinal: i });
  ops.state(5000, last, 19).stop(6000, last);
  const { sink, scan } = draw(file);
  expect(outline(sink.of(/ch00/))[0]).toBe('100 [ch00 recv from 3] begin proxy recv');
  expect(scan.endlessConnections).toEqual([]);
});

it('at most 1000 strays are drawn, and all are counted', () => {
  const { file, comm } = recording();
  const ops = file.ring('ops', 1 << 12);
  const op = ops.startProxyOp(100, { comm });
  for (let i = 0; i < 1500; i++) ops.stop(200 + i, op);
  const { sink, scan } = draw(file);
  expect(sink.of(/fit nothing/)).toHaveLength(1000);
  expect(scan.odd.afterStop).toBe(1499);
});

it('kernels of other work: 16 of 20 that NCCL reported with the block before, after a send to itself', () => {
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
