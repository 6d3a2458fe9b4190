// User-buffer registration: the network reads and writes the user's memory, in steps of up to 1 GiB.

import { describe, expect, test } from 'vitest';
import { Log, field } from './log.js';
import { Run, runRaw } from './loopback.js';

const GIB = 2 ** 30;

async function partitionOf(args: string): Promise<Record<string, unknown>[]> {
  const { code, stdout } = await runRaw(`${args} --partition`);
  expect(code).toBe(0);
  return (JSON.parse(stdout) as { partition: Record<string, unknown>[] }).partition;
}

describe('how data is cut into steps', () => {
  test.each([
    [1, 'allgather:8M', 4, 3, GIB],
    [1, 'allgather:10G', 4, 9, GIB],
    [1, 'send:1M', 2, 1, 128 * 1024],
    [1, 'send:2500M', 2, 3, 128 * 1024],
    [2, 'send:2500M', 2, 2, 128 * 1024],
  ])('%i channels, %s on %i ranks: %i steps', async (channels, op, ranks, stepsPerOp, chunkSize) => {
    const [partition] = await partitionOf(
      `--registered --ranks ${ranks} --channels ${channels} --peer-channels ${channels} --ops ${op}`,
    );
    expect(partition).toMatchObject({ proto: 'SIMPLE', stepsPerOp, chunkSize });
  });

  test('other collectives are cut as without it', async () => {
    const partitions = async (args: string) =>
      partitionOf(`${args} --ranks 4 --ops allreduce:8M,reducescatter:8M,broadcast:8M`);
    expect(await partitions('--registered')).toEqual(await partitions('--channels 2'));
  });
});

test('the first receive starts until its kernel has begun, with no state and no stop between', async () => {
  const log = await Log.of(
    '--ranks 2 --channels 1 --iterations 2 --registered --slow-rank 1 --slow-us 3000 --ops allreduce:64K,group{send+recv:1M}',
  );
  const recvs = log.ofType('ProxyOp').filter((op) => {
    return field(op, 'isSend') === '0' && log.events.get(Number(field(op, 'parent')))!.start.type === 'P2p';
  });
  expect(recvs).toHaveLength(2);
  for (const op of recvs) {
    const steps = log.childrenOf(op, 'ProxyStep');
    expect(new Set(steps.map((step) => field(step, 'step')))).toEqual(new Set(['0']));
    // NCCL keeps the handle of the newest.
    expect(steps.map(({ stops }) => stops)).toEqual([...Array<number>(steps.length - 1).fill(0), 1]);
  }
});

test.each([
  ['rings and transfers', '--ranks 4 --channels 3 --ops allgather:1M*3,allreduce:1M,group{send+recv:1M}'],
  ['as many steps as slots', '--ranks 9 --channels 1 --net socket --ops allgather:900K*3'],
  [
    'replays and transfers to itself',
    '--ranks 3 --ops graph{allgather:300K+alltoall:300K}*3,alltoall:90K --irecv-busy 2',
  ],
])('the data is right: %s', async (_, args) => {
  const run = await Run.of(`--registered ${args}`);
  expect(run.summary).toMatchObject({ ending: 'finished', counts: { wrong: 0 } });
  run.remove();
});

test('and PXN exclude each other', async () => {
  const { code, stderr } = await runRaw('--registered --pxn 0:1 --ranks 3');
  expect(code).toBe(2);
  expect(stderr).toContain('exclude each other');
});
