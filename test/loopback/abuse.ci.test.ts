// Calls that a plugin must survive: transports that start operations and never stop them, receives without stops,
// and wrong calls. The job goes on, and every call is in the truth.

import { describe, expect, test } from 'vitest';
import { Log, field, states } from './log.js';

const isSend = ({ fields }: { fields: Record<string, string> }) => fields.isSend === '1';

describe.each(['collnet', 'memcpy'])('transport %s', (transport) => {
  test.each([1, 2, 3, 4, 6, 7])('v%i: operations start as receives, and nothing follows', async (abi) => {
    const log = await Log.of(
      `--ranks 2 --channels 2 --abi ${abi} --transport ${transport} --ops allreduce:256K --iterations 2`,
    );
    const ops = log.ofType('ProxyOp');
    expect(ops).toHaveLength(2 * 4);
    expect(ops.map(({ start }) => isSend(start))).toEqual(Array(8).fill(false));
    expect(ops.map((op) => [states(op), op.stops])).toEqual(Array(8).fill([[], 0]));
    expect(log.ofType('ProxyStep')).toEqual([]);
    if (abi < 2) return;
    const [coll] = log.ofType('Coll');
    expect(field(coll!, 'algo')).toBe(transport === 'collnet' ? 'COLLNET_CHAIN' : 'RING');
    expect(field(coll!, abi < 4 ? 'nMaxChannels' : 'nChannels')).toBe(transport === 'collnet' ? '0' : '2');
  });
});

test('CollNet is for collectives: sends and receives are reported as without it', async () => {
  const log = await Log.of(
    '--ranks 2 --channels 1 --transport collnet --ops allreduce:64K,group{send+recv:64K}',
  );
  const ofTransfers = log.ofType('ProxyOp').filter((op) => {
    return log.events.get(Number(field(op, 'parent')))!.start.type === 'P2p';
  });
  expect(ofTransfers.map((op) => [field(op, 'isSend'), op.stops])).toEqual([
    ['0', 1],
    ['1', 1],
  ]);
});

describe('receives where only the first is stopped', () => {
  // Two of four are used up at once, or more.
  test.each([
    [1, 8, 8, 8],
    [2, 4, 1, 2],
    [3, 4, 1, 2],
    [4, 4, 4, 4],
  ])('v%i: of %i steps %i to %i', async (abi, starts, least, most) => {
    const log = await Log.of(
      `--ranks 2 --channels 1 --abi ${abi} --lost-recv-stops --ops allreduce:1M --iterations 1`,
    );
    const recv = log.ofType('ProxyOp').find((op) => field(op, 'isSend') === '0')!;
    const steps = log.childrenOf(recv, 'ProxyStep');
    expect(steps).toHaveLength(starts);
    const stopped = steps.filter((step) => step.stops === 1).length;
    expect(stopped >= least && stopped <= most).toBe(true);
    expect(recv.stops).toBe(1);
  });
});

describe('abuse', () => {
  const run = (args: string) =>
    Log.of(
      `--ranks 2 --channels 2 --iterations 3 --ops allreduce:256K,allreduce:16K/ll,group{send+recv:64K} ${args}`,
      { echo: { ECHO_MASK: String(0xffff) } },
    );
  const count = (log: Log, call: string) => log.lines.filter((line) => line.call === call).length;
  const total = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0);

  test.each([1, 2, 3, 4, 5, 6, 7])('v%i: the job goes on, and the truth has every call', async (abi) => {
    const log = await run(`--abi ${abi} --abuse all`);
    expect(log.run.summary.counts).toMatchObject({ wrong: 0, verified: 2 * 4 * 3 });
    const { starts, states: said, stops } = log.totals;
    expect([total(starts), total(said), stops]).toEqual(['start', 'state', 'stop'].map((c) => count(log, c)));
    // No version has this type, and without an adapter nothing keeps it away.
    expect(starts.Unknown).toBeGreaterThan(0);
    expect(starts.Unknown).toBe(log.ofType('?').length);
    expect(said['99']).toBe(log.lines.filter(({ state }) => state === 99).length);
    expect(said['99']).toBeGreaterThan(0);
    const ofNull = log.lines.filter(
      ({ call, handle }) => handle === 0 && (call === 'stop' || call === 'state'),
    );
    expect(new Set(ofNull.map(({ call }) => call))).toEqual(new Set(['stop', 'state']));
    expect([...log.events.values()].some((event) => event.stops > 1)).toBe(true);
    expect([...log.events.values()].some(({ start }) => start.fields.context === '0')).toBe(true);
    if (abi > 1) {
      const named = [...log.events.values()].filter(({ start }) => 'func' in start.fields);
      expect(named.some(({ start }) => start.fields.func === '(null)')).toBe(true);
    }
  });

  test.each([1, 2, 3, 4, 5])('an adapter to v%i lets nothing unknown through', async (table) => {
    const log = await run(`--abi 6 --plugin-abi ${table} --abuse all`);
    expect(log.ofType('?')).toEqual([]);
    expect(log.lines.filter(({ state }) => state === 99)).toEqual([]);
    expect(log.run.summary.counts.wrong).toBe(0);
  });

  test('with everything else at once', async () => {
    const log = await run(
      '--abi 7 --abuse all --net-events ib:2 --ce --symmetric --kernel-marks lag:3,torn:5',
    );
    expect(log.run.summary.counts.wrong).toBe(0);
    expect([total(log.totals.starts), log.totals.stops]).toEqual([count(log, 'start'), count(log, 'stop')]);
  });
});

test('bytes that no version defines are garbage, in every version', async () => {
  for (const abi of [1, 2, 3, 4, 5, 6, 7]) {
    const log = await Log.of(
      `--ranks 2 --abi ${abi} --net-events ib --ops allreduce:64K,group{send+recv:64K}`,
    );
    expect(log.lines.filter(({ fields }) => 'padding' in fields)).toEqual([]);
  }
});
