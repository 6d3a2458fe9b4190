/**
 * What a person reads about dumps of PyTorch's Flight Recorder, case by case, and about variations of each: other backends, operations and
 * ranks. test/fixtures/flight has the cases.
 */

import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runHere } from '../support/program/command_line.js';
import { dumpOf, writeDumps, type MadeUpCall, type MadeUpDumps } from '../support/made_up/flight_dumps.js';
import { unpackRecording } from '../support/jobs/packed_recording.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = folderOfFile();
let count = 0;

async function readAbout(dumps: string): Promise<string[]> {
  const { code, out } = await runHere(root, 'inspect', '--flight-recorder', dumps);
  expect(code).toBe(0);
  return out.trimEnd().split('\n');
}
const caseOf = (name: string): Promise<string[]> => readAbout(unpackRecording(`flight/${name}`, folder));
const newFolder = (): string => path.join(folder, `made-up-${count++}`);
const madeUp = (made: MadeUpDumps): Promise<string[]> => readAbout(writeDumps(newFolder(), made, null));

const SECOND = 1e9;
const DAY = 86_400 * SECOND;
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const call = (group: string, seq: number, op = 'all_reduce', more: Partial<MadeUpCall> = {}): MadeUpCall => ({
  ...{ group, seq, op, at: seq * SECOND },
  ...more,
});
const done = (group: string, seq: number, op?: string, more: Partial<MadeUpCall> = {}): MadeUpCall =>
  call(group, seq, op, { state: 'completed', startedAfter: 1000, endedAfter: 2000, ...more });
/** One group "0" of all ranks. */
const world = (calls: MadeUpDumps['calls'], more: Partial<MadeUpDumps> = {}): MadeUpDumps => ({
  groups: { 0: range(0, calls.length) },
  calls,
  firstRecord: 0,
  ...more,
});

describe('any backend', () => {
  it.each(['nccl', 'nccl2'])('%s: sizes, a half that is missing, a broadcast', async (backend) => {
    expect((await caseOf(`${backend}-sizes`)).slice(0, 3)).toEqual([
      'MISMATCH  2 ranks (2,5) did not call all_reduce 38 of group 0 default_pg as the others did',
      '  6 ranks (0-1,3-4,6-7): all_reduce 38 (1025 Float)',
      '  2 ranks (2,5):  all_reduce 38 (262144 Float)',
    ]);
    expect((await caseOf(`${backend}-p2p`)).slice(0, 3)).toEqual([
      'HUNG  rank 1 never called recv 1<-0 of group 0 default_pg',
      '  rank 1 last:    all_reduce 5, from step train.py:110',
      '  waiting:        rank 0 in send 0->1 of group 0 default_pg',
    ]);
  });

  it.each(['rccl', 'xccl', 'gloo', 'ucc', 'my_backend-2'])('%s', async (backend) => {
    const own = (seq: number): MadeUpCall => call('0', seq, '_all_gather_base', { backend });
    const before = done('0', 6, undefined, { backend });
    const lines = await madeUp(world([[before, own(7)], [before], [before, own(7)]]));
    expect(lines[0]).toBe('HUNG  rank 1 never called all_gather 7 of group 0 0_GROUP');
  });

  it.each(['nccl2-broadcast', 'broadcast'])('%s: says who called and who lists nothing', async (name) => {
    expect((await caseOf(name)).slice(0, 3)).toEqual([
      'PENDING  broadcast 6 of group 0 default_pg',
      '  waiting:        2 ranks (1-2) in broadcast 6 of group 0 default_pg',
      '  not listed:     2 ranks (0,3); may have finished, or not called',
    ]);
  });

  it.each(['nccl-join', 'nccl2-join'])(
    '%s beside rank files: process group and Python line',
    async (name) => {
      const dumps = unpackRecording(`flight/${name}`, folder);
      const { out } = await runHere(root, 'inspect', 'samples/hang', '--flight-recorder', dumps);
      expect(out).toContain('  process group:  0 default_pg, its all_reduce 3 (2 of 2 dumps)');
      expect(out).toContain('  called from:    2 ranks (0,2): step train.py:110');
      const old = world([null, null, null, [done('0', 2, undefined, { at: -400 * DAY })]]);
      writeFileSync(path.join(dumps, 'nccl_trace_rank_3'), JSON.stringify(dumpOf(old, 3)));
      const both = await runHere(root, 'inspect', 'samples/hang', '--flight-recorder', dumps);
      expect(both.out).toContain('  other dumps:    rank 3: an');
    },
  );

  it.each([
    ['all_gather_single', '_allgather_base', 'all_gather'],
    ['ALLTOALL_BASE', 'all_to_all_v_single', 'all_to_all'],
    ['reduce_scatter_v', '_reduce_scatter_base', 'reduce_scatter'],
    ['all_reduce_barrier', 'barrier', 'barrier'],
    ['_broadcast_oop', 'broadcast', 'broadcast'],
  ])('%s and %s are the same call', async (one, other, both) => {
    const lines = await madeUp(world([[call('0', 3, one)], [call('0', 3, other)]]));
    expect(lines[0]).toBe(`PENDING  ${both} 3 of group 0 0_GROUP`);
  });

  it('lists of parts with unequal sizes, and a scatter whose root alone has inputs, are no mismatch', async () => {
    const gathered = { sizes: [[10]], outputs: [[10], [20]] };
    const lines = await madeUp(
      world([
        [
          call('0', 1, 'all_gather', gathered),
          call('0', 2, 'scatter', { sizes: [[5], [5]], outputs: [[5]] }),
        ],
        [
          call('0', 1, 'all_gather', { ...gathered, sizes: [[20]] }),
          call('0', 2, 'scatter', { sizes: [], outputs: [[5]] }),
        ],
      ]),
    );
    expect(lines[0]).toBe('PENDING  all_gather 1 of group 0 0_GROUP');
  });
});

describe('what `retired` means', () => {
  it('torchcomms: finished', async () => {
    expect(await caseOf('torchcomms-healthy')).toEqual([
      'NOTHING PENDING  in the dumps of 4 ranks',
      "  read:           4 dumps of PyTorch's Flight Recorder",
    ]);
    expect((await caseOf('torchcomms-hang')).slice(0, 3)).toEqual([
      'HUNG  rank 2 never called all_reduce 30 of group 0 default_pg',
      '  rank 2 last:    all_reduce 29',
      '  waiting:        3 ranks (0-1,3) in all_reduce 30 of group 0 default_pg',
    ]);
  });

  it('torchcomms: numbers that count all communicators and sends are counted per communicator', async () => {
    const own = (group: string, seq: number, op: string, retired: boolean): MadeUpCall =>
      call(group, seq, op, { backend: 'ncclx', retired, p2pSeq: 0 });
    // Rank 0 sends to rank 1, rank 2 takes no part. So their numbers differ from there on.
    const calls = [
      [own('0', 0, 'all_reduce', true), own('0', 1, 'send', true), own('0', 2, 'all_reduce', false)],
      [own('0', 0, 'all_reduce', true), own('0', 1, 'recv', true)],
      [own('0', 0, 'all_reduce', true), own('0', 1, 'all_reduce', false)],
    ];
    expect((await madeUp(world(calls)))[0]).toBe('HUNG  rank 1 never called all_reduce 1 of group 0 0_GROUP');
  });

  it('gloo: finished', async () => {
    const ended = (seq: number): MadeUpCall => call('0', seq, 'barrier', { backend: 'gloo', retired: true });
    const open = call('0', 3, 'barrier', { backend: 'gloo' });
    expect(
      (
        await madeUp(
          world([
            [ended(1), ended(2)],
            [ended(1), ended(2)],
          ]),
        )
      )[0],
    ).toContain('NOTHING PENDING');
    expect(
      (
        await madeUp(
          world([
            [ended(1), ended(2), open],
            [ended(1), ended(2)],
          ]),
        )
      )[0],
    ).toBe('HUNG  rank 1 never called barrier 3 of group 0 0_GROUP');
  });

  it('ProcessGroupNCCL: an abort ended it, and a kernel that ended with the abort says "completed"', async () => {
    const timedOut = (more: Partial<MadeUpCall>): MadeUpCall[] => [
      done('0', 6),
      call('0', 7, 'all_reduce', { retired: true, ...more }),
    ];
    const lines = await madeUp(
      world([timedOut({}), [done('0', 6)], timedOut({ state: 'completed', endedAfter: 601 * SECOND })]),
    );
    expect(lines[0]).toBe('HUNG  rank 1 never called all_reduce 7 of group 0 0_GROUP');
    expect(lines).toContain('  aborted:        on 2 ranks (0,2), so it is over there');
  });

  it('a batch of sends and receives has the state of its last entry, so a healthy one is not pending', async () => {
    const batch = (ops: readonly string[], state: 'completed' | 'scheduled'): MadeUpCall[] => [
      ...ops.map((op) => call('0', 2, op, { isP2p: true, p2pSeq: 1, retired: false })),
      call('0', 2, 'coalesced', { isP2p: true, p2pSeq: 1, state, sizes: [] }),
    ];
    const ring = (state: 'completed' | 'scheduled'): MadeUpDumps =>
      world([
        [done('0', 2), ...batch(['send 0->1', 'recv 0<-1'], state)],
        [done('0', 2), ...batch(['send 1->0', 'recv 1<-0'], state)],
      ]);
    expect((await madeUp(ring('completed')))[0]).toBe('NOTHING PENDING  in the dumps of 2 ranks');
    expect((await madeUp(ring('scheduled')))[0]).toBe('PENDING  send 0->1 of group 0 0_GROUP');
  });
});

describe('sends and receives', () => {
  it('both send first: a circle, with both calls', async () => {
    expect(await caseOf('both-send')).toEqual([
      'HUNG  2 ranks (0-1) wait for each other in a circle: send 0->1, send 1->0 of group 0 default_pg',
      '  rank 0 waits in: send 0->1, from step train.py:109',
      '  rank 1 waits in: send 1->0, from step train.py:109',
      '  since:          2026-05-28 20:26:40 UTC; dumps do not say until when',
      "  read:           2 dumps of PyTorch's Flight Recorder",
    ]);
  });

  it('a circle of four, of receives, beside ranks that wait for it in a collective', async () => {
    const around = (rank: number): MadeUpCall[] => [
      done('0', 1),
      call('0', 1, `recv ${rank}<-${(rank + 1) % 4}`, { isP2p: true }),
    ];
    const outside = [done('0', 1), call('0', 2, 'barrier')];
    const lines = await madeUp(world([...range(0, 4).map(around), outside, outside]));
    expect(lines[0]).toBe(
      'HUNG  4 ranks (0-3) wait for each other in a circle: recv 0<-1, recv 1<-2, recv 2<-3 … of group 0 0_GROUP',
    );
  });

  it('sizes that differ', async () => {
    const sized = (op: string, size: number): MadeUpCall[] => [
      done('0', 4),
      call('0', 4, op, { isP2p: true, sizes: [[size, 2]] }),
    ];
    const made = world([sized('send 0->1', 512), sized('recv 1<-0', 256), [done('0', 4)]]);
    expect((await madeUp(made)).slice(0, 3)).toEqual([
      'MISMATCH  2 ranks (0-1): the sizes of send 0->1 of group 0 0_GROUP and of recv 1<-0 differ',
      '  rank 0:         send 0->1 (1024 Float)',
      '  rank 1:         recv 1<-0 (512 Float)',
    ]);
  });

  it('a send that ended before its receive: its rank is not missing, and the receiver not for what it would call later', async () => {
    const p2p = (op: string, more: Partial<MadeUpCall> = {}): MadeUpCall =>
      call('0', 0, op, { isP2p: true, ...more });
    const sent = p2p('send 0->1', { state: 'completed' });
    const one = await madeUp(world([[sent], [p2p('recv 1<-0')]]));
    expect(one[0]).toBe('PENDING  recv 1<-0 of group 0 0_GROUP');
    const two = await madeUp(world([[sent, p2p('send 0->1', { at: SECOND })], [p2p('recv 1<-0')]]));
    expect(two[0]).toBe('PENDING  recv 1<-0 of group 0 0_GROUP');
    const returned = p2p('recv 1<-0', { state: 'completed' });
    const missing = await madeUp(world([[sent, p2p('send 0->1', { at: SECOND })], [returned]]));
    expect(missing[0]).toBe('HUNG  rank 1 never called recv 1<-0 of group 0 0_GROUP');
  });

  it('a transfer that stands between two ranks: who waits behind it is not named, nor is its own rank for later calls', async () => {
    const p2p = (op: string): MadeUpCall => call('0', 0, op, { isP2p: true });
    const lines = await madeUp(world([[p2p('send 0->1')], [p2p('recv 1<-0')], [p2p('recv 2<-1')]]));
    expect(lines[0]).toBe('PENDING  send 0->1 of group 0 0_GROUP');
  });
});

describe('who is the cause', () => {
  it('a rank that left out a call and went on to the barrier of all', async () => {
    expect((await caseOf('skipped-alltoall')).slice(0, 3)).toEqual([
      'HUNG  rank 4 never called all_to_all 13 of group 7 EXPERT_MODEL_PARALLEL_GROUP',
      '  rank 4 last:    barrier 1 of group 0 default_pg, from step train.py:107',
      '  waiting:        3 ranks (0,2,6) in all_to_all 13 of group 7 EXPERT_MODEL_PARALLEL_GROUP',
    ]);
  });

  it('another rank, another call', async () => {
    const groups = { 0: range(0, 6), DP0: [0, 2, 4], DP1: [1, 3, 5] };
    const waits = (rank: number): MadeUpCall[] => [call(`DP${rank % 2}`, 8, 'reduce_scatter')];
    const went = (rank: number): MadeUpCall[] => [done(`DP${rank % 2}`, 8, 'reduce_scatter'), call('0', 3)];
    const calls = [went(0), waits(1), went(2), waits(3), went(4), [call('0', 3)]];
    expect((await madeUp({ groups, calls }))[0]).toBe(
      'HUNG  rank 5 never called reduce_scatter 8 of group DP1 DP1_GROUP',
    );
  });

  it('as many left it out as did not: the other groups show which call comes first', async () => {
    const groups = { 0: range(0, 4), EP0: [0, 1], EP1: [2, 3] };
    const descriptions = { EP0: 'EP', EP1: 'EP' };
    const both = [done('EP1', 8, 'all_to_all'), call('0', 3)];
    const calls = [[call('EP0', 8, 'all_to_all')], [call('0', 3)], both, both];
    const lines = await madeUp({ groups, descriptions, calls });
    expect(lines[0]).toBe('HUNG  rank 1 never called all_to_all 8 of group EP0 EP');
  });

  it('two ranks that call two groups in opposite order wait for each other', async () => {
    const groups = { A: [0, 1], B: [0, 1] };
    const lines = await madeUp({ groups, calls: [[call('A', 5)], [call('B', 9, 'barrier')]] });
    expect(lines[0]).toContain(
      'HUNG  2 ranks (0-1) wait for each other in a circle: all_reduce 5 of group A A_GROUP, barrier 9 of group B',
    );
  });

  it('two ranks that stopped at once, in groups of their own, are both in the first line', async () => {
    const groups = { TP0: [0, 1], TP1: [2, 3] };
    const lines = await madeUp({ groups, calls: [[call('TP0', 3)], [], [], [call('TP1', 3)]] });
    expect(lines[0]).toBe(
      'HUNG  2 ranks (1-2) never called all_reduce 3 of group TP0 TP0_GROUP, or a call like it',
    );
  });

  it('a GPU that did not start what all called', async () => {
    const ranks = range(0, 4).map((rank) => [
      done('0', 6),
      call('0', 7, 'all_reduce', rank === 2 ? {} : { state: 'started', startedAfter: 1000 }),
    ]);
    const lines = await madeUp(world(ranks));
    expect(lines[0]).toBe('HUNG  the GPU of rank 2 did not start all_reduce 7 of group 0 0_GROUP');
    expect(lines).toContain('  GPU started it: 3 ranks (0-1,3)');
    // Without timing, "scheduled" says nothing.
    const untimed = ranks.map((calls) => [call('0', 6, 'all_reduce', { state: 'completed' }), calls[1]!]);
    expect((await madeUp(world(untimed)))[0]).toBe('PENDING  all_reduce 7 of group 0 0_GROUP');
  });

  it('a collective that all called and none finished: no rank of it is named for its later calls', async () => {
    const groups = { TP: [0, 1], DP: [1, 2] };
    const made = { groups, calls: [[call('TP', 4)], [call('TP', 4)], [call('DP', 9)]] };
    const lines = await madeUp(made);
    expect(lines[0]).toBe('PENDING  all_reduce 4 of group TP TP_GROUP');
    expect(lines[1]).toBe('  waiting:        all 2 ranks (0-1) in all_reduce 4 of group TP TP_GROUP');
  });

  it('a rank without a dump is said where it is the last of a chain, and after a cause that is certain', async () => {
    expect((await caseOf('one-of-two')).slice(0, 2)).toEqual([
      'PENDING  all_reduce 11 of group 0 default_pg: rank 1 left no dump: look there first',
      '  waiting:        rank 0 in all_reduce 11 of group 0 default_pg',
    ]);
    const groups = { TP: [0, 1], DP: [1, 2] };
    const chain = await madeUp({ groups, calls: [[call('TP', 4)], [call('DP', 2)], null] });
    expect(chain[0]).toBe(
      'PENDING  all_reduce 2 of group DP DP_GROUP: rank 2 left no dump: look there first',
    );
    const both = await madeUp({
      groups: { A: [0, 2], B: [1, 2] },
      calls: [[call('A', 1)], [call('B', 1)], null],
    });
    expect(both[0]).toBe('PENDING  all_reduce 1 of group A A_GROUP: rank 2 left no dump: look there first');
    const certain = await madeUp(world([[call('0', 4)], [], null]));
    expect(certain[0]).toBe('HUNG  rank 1 never called all_reduce 4 of group 0 0_GROUP');
    expect(certain).toContain('  no dump:        rank 2');
  });
});

describe('what the calls contain', () => {
  it('the sizes of an all_to_all of lists, pair by pair: the ranks that differ from the others', async () => {
    expect((await caseOf('unequal-parts')).slice(0, 5)).toEqual([
      'MISMATCH  2 ranks (6-7): what ranks send and what others expect differs in all_to_all 7 of group 4 dp_shard',
      '  rank 6:         sends 0 elements to rank 0, which expects 27648',
      '  rank 6:         sends 0 elements to rank 1, which expects 27648',
      '  rank 6:         sends 0 elements to rank 2, which expects 27648',
      '                  and 21 more',
    ]);
    const parts = (rank: number): MadeUpCall => {
      const sizes = range(0, 4).map((peer) => [rank === 2 && peer === 1 ? 5 : 8]);
      return call('0', 3, 'all_to_all', { sizes, outputs: range(0, 4).map(() => [8]) });
    };
    const one = await madeUp(world(range(0, 4).map((rank) => [parts(rank)])));
    expect(one.slice(0, 2)).toEqual([
      'MISMATCH  2 ranks (1-2): what ranks send and what others expect differs in all_to_all 3 of group 0 0_GROUP',
      '  rank 2:         sends 5 elements to rank 1, which expects 8',
    ]);
  });

  it('the sums of an all_to_all without lists, if all ranks are known', async () => {
    const sized = (sent: number, received: number): MadeUpCall[] => [
      call('0', 3, 'ALLTOALL_BASE', { sizes: [[sent]], outputs: [[received]] }),
    ];
    const three = [sized(100, 100), sized(100, 100), sized(90, 100)];
    expect((await madeUp(world(three))).slice(0, 3)).toEqual([
      'MISMATCH  rank 2: what ranks send and what others expect differs in all_to_all 3 of group 0 0_GROUP',
      '  2 ranks (0-1):  all_to_all 3 (sends 100 Float, receives 100)',
      '  rank 2:         all_to_all 3 (sends 90 Float, receives 100)',
    ]);
    expect((await madeUp(world([...three.slice(0, 2), sized(90, 90)])))[0]).toMatch(/^PENDING/);
    expect((await madeUp(world([...three, null])))[0]).toMatch(/^PENDING/);
  });

  it('batches that do not mirror each other: both ranks and both calls, and no circle', async () => {
    expect((await caseOf('unequal-batches')).slice(0, 3)).toEqual([
      'MISMATCH  2 ranks (0-1): their batches of sends and receives do not mirror each other in group 0 default_pg',
      '  rank 0:         recv 0<-1 (1024 Float): the other rank has no half for it',
      '  rank 1:         recv 1<-0 (512 Float): the other rank has no half for it',
    ]);
  });

  it('hundreds of transfers of one batch are one line', async () => {
    const batch = range(0, 300).map(() => call('0', 1, 'send 0->1', { isP2p: true }));
    const lines = await madeUp(world([[done('0', 1), ...batch], [done('0', 1)]]));
    expect(lines[0]).toBe('HUNG  rank 1 never called recv 1<-0 of group 0 0_GROUP and 299 more like it');
    expect(lines.some((line) => line.includes('also:'))).toBe(false);
  });

  it('a circle over two groups: each call with its own group', async () => {
    expect((await caseOf('two-groups-circle')).slice(0, 3)).toEqual([
      'HUNG  2 ranks (0-1) wait for each other in a circle: all_gather 31 of group 0 default_pg, barrier 1 of group 8 dp_rollout',
      '  rank 0 waits in: all_gather 31, from step train.py:116',
      '  rank 1 waits in: barrier 1 of group 8 dp_rollout, from step train.py:107',
    ]);
  });

  it('a rank that went another way, and both places', async () => {
    const lines = await caseOf('gather-against-reduce');
    expect(lines.slice(0, 3)).toEqual([
      'HUNG  rank 1 never called all_reduce 21 of group 0 default_pg',
      '  rank 1 last:    gather 1 of group 9 gloo_ckpt, from step train.py:106',
      '  waiting:        3 ranks (0,2-3) in all_reduce 21 of group 0 default_pg',
    ]);
    expect(lines).toContain('  also waiting:   rank 1 in gather 1 of group 9 gloo_ckpt');
  });

  it('two calls in another order than on the other ranks', async () => {
    expect((await caseOf('other-order')).slice(0, 2)).toEqual([
      'HUNG  rank 5 called all_reduce 21 of group 112 TENSOR_PARALLEL and all_to_all 21 of group 119 EXPERT_PARALLEL in another order than others did',
      '  rank 5 waits in: all_reduce 21 of group 112 TENSOR_PARALLEL, from step train.py:110',
    ]);
    const groups = { A: [0, 1, 2], B: [0, 1, 2] };
    const [a, b] = [call('A', 4), call('B', 9, 'barrier')];
    const most = await madeUp({
      groups,
      calls: [
        [b, a],
        [a, b],
        [b, a],
      ],
    });
    expect(most[0]).toMatch(/^HUNG {2}rank 1 called all_reduce 4 of group A .* and barrier 9 of group B /);
    const same = await madeUp({
      groups,
      calls: [
        [a, b],
        [a, b],
        [a, b],
      ],
    });
    expect(same[0]).toMatch(/^PENDING/);
  });

  it('entries that are all scheduled: the status of their group tells progress', async () => {
    const calls = range(0, 4).map((rank) => range(38, rank === 2 ? 41 : 42).map((seq) => call('0', seq)));
    const at = (last: number): Record<string, number>[] => range(0, 4).map(() => ({ 0: last }));
    expect((await madeUp(world(calls, { completed: at(40) })))[0]).toBe(
      'HUNG  rank 2 never called all_reduce 41 of group 0 0_GROUP',
    );
    expect(
      (
        await madeUp(
          world(
            calls.map((some) => some.slice(0, 3)),
            { completed: at(40) },
          ),
        )
      )[0],
    ).toBe('NOTHING PENDING  in the dumps of 4 ranks');
    expect((await madeUp(world(calls, { completed: at(-1) })))[0]).toBe(
      'PENDING  all_reduce 38 of group 0 0_GROUP',
    );
  });
});

describe('which dumps belong together', () => {
  const steps = (to: number, ago: number, pause = (seq: number): number => seq * SECOND): MadeUpCall[] =>
    range(1, to).map((seq) => done('0', seq, undefined, { at: pause(seq) - ago }));

  it('a clock that is minutes off, for all calls alike, is corrected and told', async () => {
    for (const off of [400, -400]) {
      const calls = range(0, 8).map((rank) => [
        ...steps(20, rank < 2 ? off * SECOND : 0),
        ...(rank === 5 ? [] : [call('0', 20, 'all_reduce', { at: (rank < 2 ? 20 - off : 20) * SECOND })]),
      ]);
      const lines = await madeUp(world(calls));
      expect(lines[0]).toBe('HUNG  rank 5 never called all_reduce 20 of group 0 0_GROUP');
      expect(lines).toContain(
        `  clock:          2 ranks (0-1): 400 s ${off > 0 ? 'behind' : 'ahead of'} the others; corrected`,
      );
      expect(lines).toContain('  since:          2026-11-22 03:00:20 UTC; dumps do not say until when');
    }
  });

  it('an attempt minutes ago had other pauses between its calls, so it is no clock', async () => {
    const calls = range(0, 4).map((rank) =>
      rank === 3 ? steps(20, 400 * SECOND, (seq) => seq * 1.2 * SECOND) : [...steps(20, 0), call('0', 20)],
    );
    const lines = await madeUp(world(calls));
    expect(lines[0]).toBe('PENDING  all_reduce 20 of group 0 0_GROUP: rank 3 left no dump: look there first');
    expect(lines.find((line) => line.includes('other dumps'))).toContain('rank 3: an older attempt');
  });

  it('of two jobs the one that hangs comes first, though the other one is newer', async () => {
    const dumps = writeDumps(newFolder(), world([[call('0', 9)], [call('0', 9)], []]), null);
    const healthy: MadeUpDumps = {
      groups: { trainer: range(0, 6) },
      calls: [
        ...Array<null>(3).fill(null),
        ...range(3, 6).map(() => [done('trainer', 2, undefined, { at: 1800 * SECOND })]),
      ],
    };
    for (const rank of range(3, 6))
      writeFileSync(path.join(dumps, `nccl_trace_rank_${rank}`), JSON.stringify(dumpOf(healthy, rank)));
    const lines = await readAbout(dumps);
    expect(lines[0]).toBe('HUNG  rank 2 never called all_reduce 9 of group 0 0_GROUP');
    expect(lines).toContain(
      '  other dumps:    3 ranks (3-5): another job (6 ranks, last call 2026-11-22 03:30:00 UTC)',
    );
  });

  it('an older job of another size is left out', async () => {
    const lines = await caseOf('two-jobs');
    expect(lines[0]).toBe('HUNG  rank 3 never called all_reduce 41 of group 0 default_pg');
    expect(lines).toContain('  since:          2026-05-28 20:26:40 UTC; dumps do not say until when');
    expect(lines).toContain(
      '  other dumps:    8 ranks (8-15): another job (16 ranks, last call 2026-05-27 20:26:41 UTC)',
    );
    expect(lines).toContain(
      '                  HUNG  rank 9 never called all_reduce 61 of group 0 default_pg',
    );
    expect(lines.at(-1)).toBe("  read:           8 dumps of PyTorch's Flight Recorder");
  });

  it('an older attempt of the same ranks is left out: its times contradict', async () => {
    const made = (ago: number): MadeUpDumps =>
      world(
        range(0, 4).map((rank) => [
          done('0', 1, undefined, { at: SECOND - ago }),
          done('0', 2, undefined, { at: 2 * SECOND - ago }),
          ...(rank === 1 && ago === 0 ? [] : [call('0', 3, 'all_reduce', { at: 3 * SECOND - ago })]),
        ]),
      );
    for (const ago of [DAY, 300 * SECOND]) {
      const dumps = writeDumps(
        newFolder(),
        { ...made(0), calls: [...made(0).calls.slice(0, 3), null] },
        null,
      );
      const old = writeDumps(
        newFolder(),
        { ...made(ago), calls: [null, null, null, made(ago).calls[3]!] },
        null,
      );
      renameSync(path.join(old, 'nccl_trace_rank_3'), path.join(dumps, 'nccl_trace_rank_3'));
      const lines = await readAbout(dumps);
      expect(lines[0]).toBe('HUNG  rank 1 never called all_reduce 3 of group 0 0_GROUP');
      expect(lines.find((line) => line.includes('other dumps'))).toContain(
        'rank 3: an older attempt (4 ranks',
      );
      expect(lines).toContain('  no dump:        rank 3');
    }
  });

  it('a job with groups of other names is left out', async () => {
    const other: MadeUpDumps = {
      groups: { trainer: range(0, 4) },
      calls: [null, null, null, [call('trainer', 2)]],
    };
    const dumps = writeDumps(newFolder(), world([[call('0', 9)], [call('0', 9)], []]), null);
    writeFileSync(path.join(dumps, 'nccl_trace_rank_3'), JSON.stringify(dumpOf(other, 3)));
    const lines = await readAbout(dumps);
    expect(lines[0]).toBe('HUNG  rank 2 never called all_reduce 9 of group 0 0_GROUP');
    expect(lines.find((line) => line.includes('other dumps'))).toContain('rank 3: another job (4 ranks');
  });

  it('groups of one job that share no rank, and a rank that is late by minutes, belong together', async () => {
    const groups = { TP: [0, 1], PP: [2, 3] };
    const calls = [
      [call('TP', 1)],
      [],
      [done('PP', 1)],
      [done('PP', 1, undefined, { at: -400 * SECOND, endedAfter: 402 * SECOND })],
    ];
    const lines = await madeUp({ groups, calls });
    expect(lines[0]).toBe('HUNG  rank 1 never called all_reduce 1 of group TP TP_GROUP');
    expect(lines.at(-1)).toBe("  read:           4 dumps of PyTorch's Flight Recorder");
  });

  it('one folder per node, and one attempt per folder', async () => {
    const flat = unpackRecording('flight/two-nodes', folder);
    const nodes = newFolder();
    for (const rank of range(0, 8)) {
      const node = path.join(nodes, `node${rank < 4 ? 1 : 2}`);
      mkdirSync(node, { recursive: true });
      renameSync(path.join(flat, `nccl_trace_rank_${rank}`), path.join(node, `nccl_trace_rank_${rank}`));
    }
    const lines = await readAbout(nodes);
    expect(lines[0]).toBe('HUNG  rank 5 never called all_reduce 41 of group 0 default_pg');
    const attempts = newFolder();
    const made = (ago: number): MadeUpDumps =>
      world([
        [call('0', 2, 'barrier', { at: -ago })],
        ago > 0 ? [call('0', 2, 'barrier', { at: -ago })] : [],
      ]);
    writeDumps(path.join(attempts, 'attempt_0'), made(DAY), null);
    writeDumps(path.join(attempts, 'attempt_1'), made(0), null);
    const newest = await readAbout(attempts);
    expect(newest[0]).toBe('HUNG  rank 1 never called barrier 2 of group 0 0_GROUP');
    expect(newest.find((line) => line.includes('other dumps'))).toContain('2 ranks (0-1): an older attempt');
  });

  it('a file with only a reason is no dump, and says its reason', async () => {
    const dumps = writeDumps(newFolder(), world([[call('0', 9)], [call('0', 9)], null]), null);
    writeFileSync(
      path.join(dumps, 'nccl_trace_rank_2.json'),
      JSON.stringify({ ok: false, reason: 'worker did not answer in 30 s' }),
    );
    const lines = await readAbout(dumps);
    expect(lines[0]).toBe('PENDING  all_reduce 9 of group 0 0_GROUP: rank 2 left no dump: look there first');
    expect(lines).toContain('  rank 2:         its file only says: worker did not answer in 30 s');
  });
});

describe('a job that recovered in its processes', () => {
  it('hangs again: the present group is judged, the old one is history', async () => {
    expect(await caseOf('restarted-again')).toEqual([
      'HUNG  rank 3 never called all_reduce 51 of group 5 default_pg',
      '  rank 3 last:    all_reduce 50, from step train.py:110',
      '  waiting:        2 ranks (0-1) in all_reduce 51 of group 5 default_pg',
      '  since:          2026-05-28 20:26:40 UTC; dumps do not say until when',
      '  called from:    rank 0: step train.py:110',
      '  given up before: all_reduce 11 of group 0 default_pg, called 2026-05-28 20:26:40 UTC',
      "  read:           4 dumps of PyTorch's Flight Recorder",
    ]);
  });

  it('goes on: nothing is pending', async () => {
    expect((await caseOf('restarted-recovered')).slice(0, 2)).toEqual([
      'NOTHING PENDING  in the dumps of 3 ranks',
      '  given up before: all_reduce 11 of group 0 default_pg, called 2026-05-28 20:26:40 UTC',
    ]);
  });

  it('makes a group of the same name anew, whose numbers begin again', async () => {
    const old = [done('0', 4), call('0', 5, 'all_reduce', { retired: true })];
    const anew = (seq: number, more: Partial<MadeUpCall> = {}): MadeUpCall =>
      done('0', seq, undefined, { groupId: 7, at: (100 + seq) * SECOND, ...more });
    const calls = range(0, 3).map((rank) => [
      ...old,
      anew(1),
      anew(2),
      ...(rank === 2 ? [] : [anew(3, { state: 'scheduled', retired: false })]),
    ]);
    const lines = await madeUp(world(calls));
    expect(lines[0]).toBe('HUNG  rank 2 never called all_reduce 3 of group 0 0_GROUP');
    expect(lines.some((line) => line.includes('given up before: all_reduce 5'))).toBe(true);
  });

  it('a second group that is first used after an abort replaces nothing if it has few of the ranks', async () => {
    const groups = { 0: range(0, 4), TP0: [0, 1], TP1: [2, 3] };
    const calls = range(0, 4).map((rank) => [
      ...(rank === 3 ? [] : [call('0', 1, 'all_reduce', { retired: true })]),
      done(rank < 2 ? 'TP0' : 'TP1', 1),
    ]);
    expect((await madeUp({ groups, calls }))[0]).toBe(
      'HUNG  rank 3 never called all_reduce 1 of group 0 0_GROUP',
    );
  });
});
