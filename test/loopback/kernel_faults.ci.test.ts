// Kernels with wrong marks, or marks that are read at the wrong moment: what NCCL then reports.

import { describe, expect, test } from 'vitest';
import { Log, field, stateLine, states } from './log.js';
import { Run } from './loopback.js';

/** One kernel with one block in each iteration. */
const run = (abi: number, faults: string, iterations: number) =>
  Log.of(
    `--ranks 2 --channels 1 --abi ${abi} --ops allreduce:4K/ll --kernel-marks ${faults} --iterations ${iterations}`,
  );
const beginsOf = (log: Log) => log.ofType('KernelCh').map((kernel) => BigInt(field(kernel, 'pTimer')!));
const endsOf = (log: Log) =>
  log.ofType('KernelCh').map((kernel) => BigInt(stateLine(kernel, 22).fields.pTimer!));

describe.each([4, 6])('v%i: an end that is seen before its start', (abi) => {
  test('has no event, and ends that of an earlier kernel once more', async () => {
    // 5 is prime to every order in which three operations can swap their memory.
    const log = await run(abi, 'missed-start:5', 40);
    const kernels = log.ofType('KernelCh');
    expect(kernels).toHaveLength(32);
    for (const kernel of kernels) expect(kernel.stops).toBe(states(kernel).length);
    expect(kernels.some((kernel) => kernel.stops > 1)).toBe(true);
    expect(kernels.every((kernel) => kernel.stops >= 1)).toBe(true);
  });
});

test('v7: the start is always seen first', async () => {
  const log = await run(7, 'missed-start:2', 6);
  expect(log.ofType('KernelCh').map(({ stops }) => stops)).toEqual([1, 1, 1, 1, 1, 1]);
});

describe.each([4, 6, 7])('v%i: marks', (abi) => {
  test('of earlier works, when NCCL has counted two less than the GPU', async () => {
    const log = await run(abi, 'lag:2', 6);
    const begins = beginsOf(log);
    expect(begins).toHaveLength(6);
    // The second kernel leaves three marks, its own and two that NCCL does not expect: all show its times.
    expect([begins[2], begins[3]]).toEqual([begins[1], begins[1]]);
    expect([...begins].sort()).toEqual(begins);
    expect(new Set(begins).size).toBe(4);
    expect(new Set(endsOf(log)).size).toBe(4);
  });

  test('without a time', async () => {
    const log = await run(abi, 'torn:2', 4);
    expect(beginsOf(log).map((time) => time > 0n)).toEqual([true, false, true, false]);
    expect(endsOf(log).map((time) => time > 0n)).toEqual([true, false, true, false]);
  });

  test('with the time of 64 works ago', async () => {
    const log = await Log.of(
      `--ranks 2 --channels 1 --abi ${abi} --ops allreduce:4K/ll*70 --kernel-marks torn:7 --iterations 1`,
    );
    // The ring has 64 places: mark 70 is in the place of mark 6.
    const begins = beginsOf(log);
    expect(begins[69]).toBe(begins[5]);
    expect(begins.filter((time) => time === 0n)).toHaveLength(9);
  });

  test('overwritten, when more than 64 were left', async () => {
    const log = await Log.of(
      `--ranks 2 --channels 1 --abi ${abi} --ops allreduce:4K/ll*70 --kernel-marks late --iterations 1`,
    );
    const begins = beginsOf(log);
    expect(begins).toHaveLength(70);
    expect(begins.slice(0, 6)).toEqual(begins.slice(64));
    expect(begins[6]).toBeLessThan(begins[0]!);
  });
});

describe('a mark that never comes', () => {
  const lost = (abi: number) =>
    Run.of(
      `--ranks 2 --channels 1 --abi ${abi} --ops allreduce:4K/ll --kernel-marks lost:1 --iterations 3 --hang-seconds 0.2`,
      { echo: {} },
    );

  test('v6: ncclCommDestroy hangs, when all data has arrived', async () => {
    const run = await lost(6);
    expect(run.summary).toMatchObject({ ending: 'hung', exitCode: 4, counts: { verified: 6, wrong: 0 } });
    const totals = run.totals(0);
    // The third kernel's watch waits behind the second's.
    expect(totals).toMatchObject({ final: true, finalizes: 0, starts: { KernelCh: 2 }, states: { 22: 1 } });
    run.remove();
  });

  test('v7: a kernel that never ends is dropped', async () => {
    const run = await lost(7);
    expect(run.summary).toMatchObject({ ending: 'finished', counts: { verified: 6, wrong: 0 } });
    expect(run.totals(0)).toMatchObject({ finalizes: 1, starts: { KernelCh: 3 }, states: { 22: 2 } });
    run.remove();
  });

  test('a rank that does not watch kernels does not hang', async () => {
    const run = await Run.of(
      '--ranks 2 --channels 1 --ops allreduce:4K/ll --kernel-marks lost:1 --iterations 3',
      { echo: { ECHO_MASK: '2' } },
    );
    expect(run.summary.ending).toBe('finished');
    run.remove();
  });
});
