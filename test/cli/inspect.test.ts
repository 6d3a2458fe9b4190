/** `nccl-trace inspect`: data on stdout, messages on stderr, and nothing from a file that a terminal would obey. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { inspectCommand } from '../../src/cli/inspect.js';
import { writeRun } from '../support/made_up/made_up_run.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();

interface Ran {
  readonly out: string;
  readonly err: string;
  readonly exit: number;
}

async function inspect(...args: string[]): Promise<Ran> {
  const ran = { out: '', err: '', exit: -1 };
  vi.spyOn(process.stdout, 'write').mockImplementation((text, done) => {
    ran.out += String(text);
    if (typeof done === 'function') (done as () => void)();
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    ran.err += String(text);
    return true;
  });
  const command = inspectCommand((code) => {
    ran.exit = code;
  });
  await command.exitOverride().parseAsync(args, { from: 'user' });
  return { ...ran, out: ran.out.replaceAll(`${folder}/`, ''), err: ran.err.replaceAll(`${folder}/`, '') };
}

afterEach(() => {
  vi.restoreAllMocks();
});

function sample(name: string): string {
  const file = new RankFileBuilder({
    rank: 3,
    worldSize: 8,
    localRank: 1,
    gpu: 'GPU-7',
    options: 'NCCL_TRACE_MODE=flight',
  });
  const comm = file.communicator({ name: 'dp', commId: 0xabcn, nRanks: 8, nNodes: 2, initTick: 1e6 });
  const host = file.ring('host', 16, { tid: 41, threadName: 'python' });
  const steps = file.ring('steps', 8, { tid: 42, threadName: 'NCCL Progress 0' });
  const coll = host.startColl(1e9, { comm, seqNumber: 7 });
  host.stop(1.5e9, coll);
  const op = steps.startProxyOp(1.1e9, { comm, parent: coll, isSend: true, peer: 4 });
  for (let i = 0; i < 3; i++) {
    const step = steps.startProxyStep(1.2e9 + i * 1e8, { comm, parent: op, step: i });
    steps.state(1.25e9 + i * 1e8, step, 9, 4096).stop(1.29e9 + i * 1e8, step);
  }
  steps.openFold(steps.handleAt(8), 20, 31_000_000, 31e9).tear(6);
  steps.record(0x99, 2e9, 1n, 2n);
  host.count({ muted: 12 });
  file.heartbeat(30e9);
  file.write(path.join(folder, name));
  return path.join(folder, name);
}

describe('inspect', () => {
  it('shows the facts of a file', async () => {
    const { out, err, exit } = await inspect(sample('rank00003.bin'));
    expect(out).toMatchInlineSnapshot(`
      "rank00003.bin  (8.0 KiB, format 2)
        rank       3 of 8, local 1
        host       node000, gpu GPU-7
        process    train, pid 1003, run run1
        started    2025-10-09T08:53:20.000Z, tsc at 1000 MHz
        life       recording (not closed)
        newest     31.000 s; heartbeat 1.0 s earlier, record 29.0 s earlier
        recorder   0.1.0, flight mode, NCCL_TRACE_MODE=flight
        NCCL       version unknown
        events     Group Coll P2p ProxyOp ProxyStep ProxyCtrl KernelCh NetPlugin
                   GroupApi CollApi P2pApi KernelLaunch
        communicators
            0  dp  rank 3 of 8 on 2 nodes, id 0x0000000000000abc, API v5, since 0.001 s
        rings (lost: in slots)
          ring  class  records     from     last  overwritten  torn  copy    folded
             0   host        2  1.000 s  1.500 s            0     0     0         0
             1  steps        7  1.290 s  2.000 s            4     1     0  31000000
          ring 0: muted 12
          ring 1: tornSlots 1
        threads
          ring  0  tid 41  python, positions 0 on
          ring  1  tid 42  NCCL Progress 0, positions 0 on
        records
          Coll start                      1
          ProxyStep start                 2
          State                           1
          Stop                            4
          kind 0x99                       1
        still repeating
          ring  1  SendPeerWait of 1:8: 31000000 times, last at 31.000 s
        PROBLEMS
                 1 x  records of a kind this version does not read: kind 0x99
      "
    `);
    expect([err, exit]).toEqual(['', 0]);
  });

  it('begins with the verdict where there are several files, once', async () => {
    const run = path.join(folder, 'several');
    mkdirSync(run);
    writeRun(run);
    const { out, err, exit } = await inspect(run);
    expect([err, exit]).toEqual(['', 0]);
    expect(out).toMatch(/^HEALTHY {2}everything that began also ended\n/);
    expect(out).toMatch(/\nnext: nccl-trace merge several\n$/);
    const facts = (await inspect(run, '--files')).out;
    expect(facts).toMatch(/^HEALTHY[^]*\nnext: nccl-trace merge several\n\nseveral\/rank00000\.bin /);
    const lines = (await inspect(run, '--json')).out.trimEnd().split('\n');
    const [first, ...files] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(first).toMatchObject({
      diagnosis: { verdict: { kind: 'healthy' }, worldSize: 4, missingRanks: [] },
    });
    expect(files.map((line) => Object.keys(line))).toEqual([['file'], ['file'], ['file'], ['file']]);
  });

  it('judges replicas that ran at the same time, the one that hangs first', async () => {
    const folderOf = path.join(folder, 'replicas');
    mkdirSync(folderOf);
    /** Two ranks that call AllReduce each second, and live for `lives` s. If it hangs, rank 1 lacks the last call. */
    const replica = (name: string, began: number, lives: number, hangs: boolean): void => {
      for (const rank of [0, 1]) {
        const startRealtime = 1_760_000_000_000_000_000n + BigInt(began) * 1_000_000_000n;
        const life = hangs ? 'recording' : 'closed';
        const ids = { runId: name, pid: 100 + began + rank, startRealtime };
        const file = new RankFileBuilder({ rank, worldSize: 2, life, ...ids });
        const comm = file.communicator({ name: 'world', commId: BigInt(0xa00 + began), rank, nRanks: 2 });
        const host = file.ring('host', 64, { tid: 1 });
        const ops = file.ring('ops', 64, { tid: 2 });
        for (let seqNumber = 0; seqNumber < 4; seqNumber++) {
          const [at, isStuck] = [(1 + seqNumber) * 1e9, hangs && seqNumber === 3];
          if (isStuck && rank === 1) continue;
          const parent = host.startColl(at, { comm, seqNumber, nChannels: 1 });
          host.stop(at + 1000, parent);
          const op = ops.startProxyOp(at + 5000, { comm, parent, peer: 1 - rank, isSend: false });
          if (!isStuck) ops.stop(at + 1e6, op);
        }
        file
          .clockSample(0)
          .heartbeat(lives * 1e9)
          .write(path.join(folderOf, `rank0000${rank}.${100 + began + rank}.bin`));
      }
    };
    replica('before', 0, 12, true);
    replica('beside', 20, 100, true);
    replica('newest', 40, 60, false);
    writeFileSync(path.join(folderOf, 'rank00009.bin'), 'nothing');
    const { out, err, exit } = await inspect(folderOf, '--hung-after', '30', '--fail-on', 'hung');
    expect(err.match(/rank00009\.bin: not a rank file/g)).toHaveLength(1);
    expect(out).toMatch(
      /^At the same time, beside:\nHUNG {2}AllReduce seq 3 on world \(2 ranks\): rank 1 [^]*\n\nThe newest run:\nHEALTHY /,
    );
    expect(out).toMatch(/nccl-trace merge replicas (\\\n +)?--run (\\\n +)?beside /);
    expect(out).not.toContain('before');
    expect(exit).toBe(5);
    rmSync(path.join(folderOf, 'rank00009.bin'));
    const lines = (await inspect(folderOf, '--json')).out.trimEnd().split('\n');
    const [worst, newest] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(worst).toMatchObject({ run: 'beside', diagnosis: { verdict: { kind: 'hung' } } });
    expect(newest).toMatchObject({ diagnosis: { otherRuns: [{ isBeside: true }, { isBeside: false }] } });
    expect((await inspect(folderOf, '--run', 'newest')).out).toMatch(/^HEALTHY /);
  });

  it('shows the chunks of a stream-mode file, and the ones dropped by the disk limit', async () => {
    const file = new RankFileBuilder({ mode: 'stream' });
    const [steps, host] = [file.ring('steps', 64), file.ring('host', 64)];
    for (let i = 0; i < 300; i++) {
      if (i % 50 === 49) steps.drain({ codec: 'zstd' });
      steps.stop(1e6 * i, 1n);
    }
    host.stop(5, 1n).drain();
    const target = path.join(folder, 'stream.bin');
    file.dropChunks(4).write(target);
    const { out } = await inspect(target);
    const lines = out.split('\n').filter((line) => /chunk|ring|steps|host /.test(line));
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "  host       node000
        chunks     4, 3 compressed, 4.7 KiB of slots in 1.4 KiB; 3 older ones dropped
        rings (lost: in slots)
          ring  class  records     from     last  overwritten  torn  copy  folded
             0  steps      151  0.149 s  0.299 s            0     0     0       0
             1   host        1  0.000 s  0.000 s            0     0     0       0
          ring 0: dropped 149
        chunks
          ring  0  3 of them, positions 149 to 298
          ring  1  1 of them, positions 0 to 0"
    `);
    const json = JSON.parse((await inspect(target, '--json')).out) as { file: unknown };
    expect(json.file).toMatchObject({
      chunks: { count: 4, compressed: 3, rawBytes: 151 * 32, dropped: 3, missing: 0 },
      rings: [
        {
          chunks: { count: 3, from: 149, end: 299 },
          lost: { overwritten: 0, dropped: 149, torn: 0, copy: 0 },
        },
        { chunks: { count: 1, from: 0, end: 1 }, lost: { dropped: 0 } },
      ],
    });
  });

  it('shows records in the order of time, all or the newest', async () => {
    const { out } = await inspect(sample('rank00003.bin'), '--records', '4');
    expect(out.split('\n\n')[1]).toMatchInlineSnapshot(`
      "    1.450000000 1:9        State handle=1:8 state=SendWait value=4096
          1.490000000 1:10       Stop handle=1:8
          1.500000000 0:4        Stop handle=0:0
          2.000000000 1:11       kind 0x99 s0w1=0x1 s0w2=0x2
      "
    `);
  });

  it('gives JSON, one object per line', async () => {
    const { out } = await inspect(sample('rank00003.bin'), '--json', '--records', '2');
    const objects = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { file?: unknown });
    expect(objects).toHaveLength(3);
    expect(objects[0]?.file).toMatchObject({
      version: 1,
      life: 'recording',
      newest: { any: 31, heartbeat: 30, record: 2, repeat: 31 },
      process: { rank: 3, hostName: 'node000' },
      communicators: [{ number: 0, name: 'dp', commId: '0x0000000000000abc' }],
      rings: [{ ring: 0 }, { ring: 1, lost: { overwritten: 4, torn: 1, copy: 0 }, tornSlots: 1 }],
      openFolds: [{ state: 'SendPeerWait', repeats: 31_000_000, last: 31 }],
    });
    expect(objects[2]).toEqual({
      record: {
        ring: 1,
        position: 11,
        tick: 2e9,
        kind: 0x99,
        name: 'kind 0x99',
        fields: { s0w1: '0x1', s0w2: '0x2' },
      },
    });
  });

  it('reads on after a file that cannot be used', async () => {
    const broken = path.join(folder, 'broken.bin');
    writeFileSync(broken, 'hello');
    const { out, err, exit } = await inspect(broken, sample('rank00003.bin'));
    expect(out).toContain('rank00003.bin');
    expect(err).toMatch(/^nccl-trace: broken\.bin: not a rank file at byte 0 .*; name the files .*\n$/);
    expect(exit).toBe(0);
    expect((await inspect(broken)).exit).toBe(3);
    expect((await inspect('--strict', broken, sample('rank00003.bin'))).exit).toBe(1);
  });

  it('lets nothing of a file reach the terminal that it would obey', async () => {
    const evil = '\x1b[2J\x07\x9b31m\u202e\r\nx';
    const file = new RankFileBuilder({
      hostName: evil,
      program: evil,
      gpu: evil,
      options: evil,
      runId: evil,
    });
    file.communicator({ name: evil });
    file.ring('host', 8, { tid: 1, threadName: '\x1b[2J' }).startColl(5, { func: evil });
    const target = path.join(folder, 'evil.bin');
    file.write(target);
    // eslint-disable-next-line no-control-regex -- exactly these must not be there
    const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
    const text = await inspect(target, '--records');
    expect(text.out).not.toMatch(obeyed);
    expect(text.out.split('\n').filter((line) => line.startsWith('x'))).toEqual([]);
    const json = await inspect(target, '--records', '--json');
    expect(json.out).not.toMatch(obeyed);
    expect(JSON.parse(json.out.split('\n')[0] ?? '')).toMatchObject({
      file: { process: { hostName: evil } },
    });
  });
});
