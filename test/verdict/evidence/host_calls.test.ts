/** From files to the verdict: calls are compared where all of them are recorded, even if NCCL reported nothing else. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verdictText } from '../../../src/report/verdict_text.js';
import { diagnose } from '../../../src/report/diagnosis.js';
import { RankFileBuilder, type FileOptions } from '../../support/rank_files/rank_file_builder.js';
import type { RingBuilder } from '../../support/rank_files/ring_builder.js';
import type { StartApi } from '../../support/rank_files/ring_starts.js';
import { folderOfFile } from '../../support/program/temporary_folder.js';

const folder = folderOfFile();

const S = 1e9;
/** `told`: NCCL reports a Coll with this number for it. `parent` 0n: its group is not known. */
type Call = StartApi & { readonly told?: number };
const BROADCAST: Call = { func: 'Broadcast', datatype: 'ncclFloat32', count: 64, root: 1 };
let runs = 0;

interface Rank {
  /** One after the other, a second apart. Those in one list are one group. */
  readonly calls: readonly (Call | readonly Call[])[];
  readonly options?: FileOptions & { readonly abi?: number };
  /** s. */
  readonly lives?: number;
  readonly more?: (host: RingBuilder, comm: number) => void;
}

async function judged(...ranks: readonly Rank[]) {
  const run = join(folder, `${runs++}`);
  mkdirSync(run);
  ranks.forEach(({ calls, options = {}, lives, more }, rank) => {
    const { abi = 6, ...of } = options;
    const life = lives === undefined ? 'closed' : 'recording';
    const file = new RankFileBuilder({ rank, worldSize: ranks.length, life, ...of });
    const comm = file.communicator({ name: 'dp', commId: 0xabcn, rank, nRanks: ranks.length, abi });
    const host = file.ring('host', 256, { tid: 1 });
    calls.forEach((call, i) => {
      const inGroup = Array.isArray(call) ? (call as readonly Call[]) : [call as Call];
      const at = (1 + i) * S;
      const parent = host.startGroupApi(at, { comm, groupDepth: inGroup.length > 1 ? 2 : 1 });
      inGroup.forEach(({ told, ...one }, k) => {
        const api = host.startCollApi(at + 20 * k + 10, { comm, parent, ...one });
        host.stop(at + 20 * k + 20, api);
        const { func = '', count = 0 } = one;
        if (told !== undefined)
          host.stop(at + 900, host.startColl(at + 800, { comm, parent: api, func, count, seqNumber: told }));
      });
      host.stop(at + 1000, parent);
    });
    more?.(host, comm);
    file
      .clockSample(0)
      .heartbeat((lives ?? 10) * S)
      .write(join(run, `rank0000${rank}.bin`));
  });
  return (await diagnose([run])).verdict;
}

const usual: Rank = { calls: [BROADCAST, BROADCAST, BROADCAST] };
const otherRoot: Rank = { calls: [BROADCAST, { ...BROADCAST, root: 0 }, BROADCAST] };

describe('bare calls', () => {
  it('are compared: which one differs, by whom, and its record', async () => {
    const verdict = await judged(usual, otherRoot, usual);
    expect(verdict).toMatchObject({
      kind: 'mismatch',
      mismatch: {
        comm: 'dp',
        what: 'arguments',
        call: 1,
        ways: [
          { func: 'Broadcast', seq: null, count: 64, root: 1, entered: [{ file: 0 }, { file: 2 }] },
          { root: 0, entered: [{ file: 1, record: '0:6', at: 2 * S + 10 }] },
        ],
      },
      findings: [{ kind: 'mismatch' }, { kind: 'nothing' }],
    });
  });

  it('have a root only where that means something', async () => {
    const reduce = (root: number): Rank => ({ calls: [{ ...BROADCAST, func: 'AllReduce', root }] });
    expect((await judged(reduce(0), reduce(3))).kind).toBe('nothing');
  });

  it.each(['Broadcast', 'AllGather', 'AllReduce'])(
    'are compared by bytes where NCCL moves bytes: %s',
    async (func) => {
      const of = (datatype: string, count: number): Rank => ({
        calls: [{ ...BROADCAST, func, datatype, count }],
      });
      const floats = of('ncclFloat32', 64);
      const asBytes = (await judged(floats, of('ncclInt8', 256))).kind;
      expect(asBytes).toBe(func === 'AllReduce' ? 'mismatch' : 'nothing');
      expect((await judged(floats, of('ncclInt8', 64))).kind).toBe('mismatch');
      // NCCL has no name for its type.
      expect((await judged(floats, of('Unknown', 7), of('Unknown', 8))).kind).toBe('nothing');
    },
  );

  it('with two types of the same size are compared as well', async () => {
    const [floats, bytes] = [BROADCAST, { ...BROADCAST, datatype: 'ncclInt8', count: 256 }];
    const of = (...calls: Call[]): Rank => ({ calls });
    expect((await judged(of(floats, bytes, floats), of(bytes, floats, bytes))).kind).toBe('nothing');
    expect((await judged(of([floats, bytes] as never), of([bytes, bytes] as never))).kind).toBe('nothing');
  });

  it('are compared by group, whatever their order in it', async () => {
    const gather: StartApi = { func: 'AllGather', datatype: 'ncclInt8', count: 8 };
    const both = (...calls: StartApi[]): Rank => ({ calls: [calls, BROADCAST] });
    expect((await judged(both(BROADCAST, gather), both(gather, BROADCAST))).kind).toBe('nothing');
    expect((await judged(both(BROADCAST, gather), both(gather, gather))).kind).toBe('mismatch');
  });

  it.each<readonly [string, Partial<Rank>]>([
    ['were not all recorded', { options: { eventMask: 0xfff & ~0x100 } }],
    ['are of an interface that reports none', { options: { abi: 4 } }],
    [
      'were recorded into a graph',
      { calls: [BROADCAST, { ...BROADCAST, root: 0, graphCaptured: true }, BROADCAST] },
    ],
    ['have lost records before them', { more: (host) => void host.tear(1) }],
  ])('are not compared where those of a rank %s', async (_, more) => {
    expect((await judged(usual, { ...otherRoot, ...more }, usual)).kind).not.toBe('mismatch');
  });
});

it('a live job that calls nothing more is not healthy, and the rank that called less is named', async () => {
  const lives = 60;
  const less: Rank = { calls: usual.calls.slice(0, 2), lives };
  expect(await judged({ ...usual, lives }, less, { ...usual, lives })).toMatchObject({
    kind: 'unclear',
    unclear: {
      silent: [],
      idle: {
        since: 3 * S + 1000,
        files: [0, 1, 2],
        behind: [{ comm: 'dp', files: [1], by: 1, func: 'Broadcast', count: 64, root: 1 }],
      },
    },
  });
  expect((await judged({ ...usual, lives: 30 }, { ...usual, lives: 30 })).kind).toBe('nothing');
});

it('the longest earlier pause does not include the start of the job', async () => {
  const at = (seconds: number) => (host: RingBuilder, comm: number) => {
    host.startKernelLaunch(seconds * S, { comm });
  };
  // The pause of 37 s comes after the first calls.
  const paused: Rank = { ...usual, more: at(40), lives: 100 };
  expect((await judged(paused, paused)).kind).toBe('nothing');
  expect(await judged({ ...paused, lives: 120 }, { ...paused, lives: 120 })).toMatchObject({
    kind: 'unclear',
    unclear: { idle: { longestBefore: expect.closeTo(37 * S, -4) as number } },
  });
  const started: Rank = { calls: [BROADCAST], more: at(40), lives: 75 };
  expect(await judged(started, started)).toMatchObject({
    kind: 'unclear',
    unclear: { idle: { longestBefore: 0 } },
  });
});

describe('if the first calls of a rank are lost', () => {
  const gather = (told: number): Call => ({ func: 'AllGather', count: 8, told });
  const whole: Rank = { calls: [BROADCAST, gather(0), gather(1), BROADCAST, gather(2)] };
  /** A slot of its first group of calls, and so all that group's records. */
  const lost = (host: RingBuilder): void => {
    host.tear(1);
  };
  const otherwise: Rank = { calls: [BROADCAST, gather(0), gather(1), { ...BROADCAST, root: 0 }, gather(2)] };

  it('the numbers of the others are known from a collective that NCCL reported', async () => {
    expect((await judged(whole, { ...whole, more: lost }, whole)).kind).not.toBe('mismatch');
    expect(await judged(whole, { ...otherwise, more: lost }, whole)).toMatchObject({
      kind: 'mismatch',
      mismatch: { call: 3, ways: [{ root: 1 }, { root: 0, entered: [{ file: 1 }] }] },
    });
  });

  it('calls before the loss are not counted', async () => {
    const calls = [BROADCAST, gather(0), gather(1), BROADCAST, BROADCAST, gather(2)];
    const differs = calls.map((call, i) => (i === 4 ? { ...BROADCAST, root: 0 } : call));
    // The third call: behind two of 5 slots, one of them with 5 more of its Coll each, and the start of its group.
    const more = (host: RingBuilder): void => {
      host.tear(5 + 10 + 1);
    };
    expect(await judged({ calls }, { calls: differs, more }, { calls })).toMatchObject({
      kind: 'mismatch',
      mismatch: { call: 4, ways: [{ root: 1 }, { root: 0 }] },
    });
  });

  it('no number is known if NCCL reported more than was called: the calls of a graph are lost', async () => {
    const replay = (host: RingBuilder, comm: number): void => {
      host.stop(7 * S, host.startColl(6.5 * S, { comm, func: 'AllGather', seqNumber: 0, ordinal: 1 }));
    };
    const more = (host: RingBuilder, comm: number): void => {
      lost(host);
      replay(host, comm);
    };
    const usually = { ...whole, more: replay };
    expect((await judged(usually, { ...otherwise, more }, usually)).kind).not.toBe('mismatch');
    expect((await judged(usually, { ...otherwise, more: replay }, usually)).kind).toBe('mismatch');
  });

  it('no number is known for a call whose group is not known', async () => {
    const differs: Call = { ...BROADCAST, root: 0, parent: 0n };
    const calls = [BROADCAST, differs, gather(0), BROADCAST];
    const usually: Rank = { calls: [BROADCAST, BROADCAST, gather(0), BROADCAST] };
    expect((await judged(usually, { calls }, usually)).kind).not.toBe('mismatch');
  });
});

describe('calls of two threads with rings that are read one after the other', () => {
  const gather: StartApi = { func: 'AllGather', datatype: 'ncclFloat32', count: 8 };
  /** The first thread calls at full seconds, the second one half a second later. The last calls of rank 1's first thread are missing. */
  async function ofTwoThreads(
    lacks: number,
    options: FileOptions = {},
    other: Partial<StartApi> = {},
    { lives = 12, differs = 5 } = {},
  ) {
    const run = join(folder, `${runs++}`);
    mkdirSync(run);
    for (let rank = 0; rank < 3; rank++) {
      const file = new RankFileBuilder({ rank, worldSize: 3, life: 'recording', ...options });
      const comm = file.communicator({ name: 'fsdp', commId: 0xabcn, rank, nRanks: 3, abi: 6 });
      const [forward, backward] = [1, 2].map((tid) => file.ring('host', 256, { tid })) as [
        RingBuilder,
        RingBuilder,
      ];
      const call = (host: RingBuilder, at: number, one: StartApi): void => {
        const parent = host.startGroupApi(at, { comm, groupDepth: 1 });
        host.stop(at + 20, host.startCollApi(at + 10, { comm, parent, ...one }));
        host.stop(at + 1000, parent);
      };
      for (let i = 1; i <= 10; i++) {
        if (rank !== 1 || i + lacks <= 10) call(forward, i * S, gather);
        const isOther = rank === 1 && i === differs;
        call(backward, (i + 0.5) * S, { ...BROADCAST, ...(isOther && other) });
      }
      file
        .clockSample(0)
        .heartbeat(lives * S)
        .write(join(run, `rank0000${rank}.bin`));
    }
    return (await diagnose([run])).verdict;
  }

  it('are compared only up to where all of them are recorded', async () => {
    expect((await ofTwoThreads(2)).kind).toBe('nothing');
    expect(await ofTwoThreads(2, {}, { root: 0 })).toMatchObject({
      kind: 'mismatch',
      mismatch: { call: 9, ways: [{ root: 1 }, { root: 0, entered: [{ file: 1 }] }] },
    });
    // A rank is not called behind if its calls may only be missing from the file.
    expect(await ofTwoThreads(2, {}, {}, { lives: 50 })).toMatchObject({
      kind: 'unclear',
      unclear: { idle: { behind: [] } },
    });
  });

  it('are all recorded in a file that was closed, or that has no call for longer than a copy takes', async () => {
    expect((await ofTwoThreads(2, { life: 'closed' })).kind).toBe('mismatch');
    // Before that time, calls after the other thread's last call are not compared.
    expect((await ofTwoThreads(0, {}, { root: 0 }, { differs: 10 })).kind).toBe('nothing');
    const late = await ofTwoThreads(0, {}, { root: 0 }, { differs: 10, lives: 80 });
    expect(late).toMatchObject({ kind: 'mismatch', mismatch: { call: 19 } });
  });

  it('have no order where both called at once', async () => {
    const atOnce = async (isOther: boolean) => {
      const run = join(folder, `${runs++}`);
      mkdirSync(run);
      for (let rank = 0; rank < 2; rank++) {
        const file = new RankFileBuilder({ rank, worldSize: 2, life: 'closed' });
        const comm = file.communicator({ name: 'dp', commId: 0xabcn, rank, nRanks: 2, abi: 6 });
        const [one, other] = [1, 2].map((tid) => file.ring('host', 64, { tid })) as [
          RingBuilder,
          RingBuilder,
        ];
        const parent = one.startGroupApi(S, { comm, groupDepth: 2 });
        const inOther = other.startGroupApi(2 * S, { comm, groupDepth: 1 });
        one.startCollApi((isOther && rank === 1 ? 2.2 : 1.1) * S, { comm, parent, ...gather });
        other.startCollApi(2.1 * S, { comm, parent: inOther, ...BROADCAST });
        other.stop(3 * S, inOther);
        one.stop(4 * S, parent);
        file.clockSample(0).heartbeat(5 * S);
        file.write(join(run, `rank0000${rank}.bin`));
      }
      return (await diagnose([run])).verdict.kind;
    };
    expect([await atOnce(false), await atOnce(true)]).toEqual(['nothing', 'nothing']);
  });
});

describe('processes with two ranks of a communicator', () => {
  /** Two processes. `last`: the last call of the first process's second rank. null: it did not make it. */
  async function ofTwo(last: StartApi | null) {
    const run = join(folder, `${runs++}`);
    mkdirSync(run);
    for (const rank of [0, 1]) {
      const file = new RankFileBuilder({ rank, worldSize: 2, life: 'recording' });
      const host = file.ring('host', 256, { tid: 1 });
      for (const k of [0, 1]) {
        const comm = file.communicator({ name: 'dp', commId: 0xabcn, rank: 2 * rank + k, nRanks: 4, abi: 6 });
        for (const [i, one] of [BROADCAST, rank === 0 && k === 1 ? last : BROADCAST].entries()) {
          if (one === null) continue;
          const at = (1 + i + 0.1 * k) * S;
          const parent = host.startGroupApi(at, { comm, groupDepth: 1 });
          host.stop(at + 20, host.startCollApi(at + 10, { comm, parent, ...one }));
          host.stop(at + 1000, parent);
        }
      }
      file
        .clockSample(0)
        .heartbeat(50 * S)
        .write(join(run, `rank0000${rank}.bin`));
    }
    return diagnose([run]);
  }

  it('the rank that called something else is named', async () => {
    const found = await ofTwo({ ...BROADCAST, root: 0 });
    expect(found.verdict).toMatchObject({
      kind: 'mismatch',
      mismatch: {
        ways: [{ entered: [{ file: 0, inComm: [0] }, { file: 1 }] }, { entered: [{ file: 0, inComm: [1] }] }],
      },
    });
    const text = verdictText({ ...found, otherRuns: [] }).join('\n');
    expect(text).toContain('3 ranks (0,2-3): Broadcast call 1');
    expect(text).toContain('rank 1:         Broadcast call 1');
  });

  it('the rank that called less is named', async () => {
    expect((await ofTwo(null)).verdict).toMatchObject({
      kind: 'unclear',
      unclear: { idle: { behind: [{ files: [0], callers: [{ file: 0, inComm: [1] }], nRanks: 4 }] } },
    });
  });
});

describe('where NCCL reports no calls (before 2.28)', () => {
  type Coll = readonly [func: string, seqNumber: number, ordinal?: number];
  const colls = (...order: readonly Coll[]): Rank => ({
    calls: [],
    options: { abi: 4 },
    more: (host, comm) => {
      order.forEach(([func, seqNumber, ordinal = 0], i) => {
        const at = (1 + i) * S;
        const coll = { comm, func, seqNumber, ordinal, count: 64, datatype: 'ncclInt8' };
        host.stop(at + 900, host.startColl(at + 800, coll));
      });
    },
  });
  const right = colls(['AllReduce', 0], ['AllReduce', 1], ['AllGather', 0], ['AllReduce', 2]);

  it('its collectives have their order: a rank that swapped two is named', async () => {
    const swapped = colls(['AllReduce', 0], ['AllGather', 0], ['AllReduce', 1], ['AllReduce', 2]);
    expect(await judged(right, right, swapped)).toMatchObject({
      kind: 'mismatch',
      mismatch: {
        what: 'calls',
        call: 1,
        ways: [
          { func: 'AllReduce', entered: [{ file: 0 }, { file: 1 }] },
          { func: 'AllGather', entered: [{ file: 2 }] },
        ],
      },
    });
  });

  it('replays of a graph have none: another thread begins them', async () => {
    const replayed = (...order: readonly Coll[]): Rank =>
      colls(...order, ['AllReduce', 5], ['AllReduce', 5, 1]);
    const swapped = replayed(['AllGather', 0], ['AllReduce', 0]);
    const verdict = await judged(replayed(['AllReduce', 0], ['AllGather', 0]), swapped);
    expect(verdict.kind).not.toBe('mismatch');
  });
});
