/** From files to the verdict: what ranks called is compared where all of it is recorded, and nothing more need be told of it. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { diagnose } from '../../src/merge/diagnosis.js';
import { temporaryFolder } from '../support/made_up_run.js';
import { RankFileBuilder, type FileOptions } from '../support/rank_file_builder.js';
import type { RingBuilder } from '../support/ring_builder.js';
import type { StartApi } from '../support/ring_starts.js';

const { folder, remove } = temporaryFolder();
afterAll(remove);

const S = 1e9;
const BROADCAST: StartApi = { func: 'Broadcast', datatype: 'ncclFloat32', count: 64, root: 1 };
let runs = 0;

interface Rank {
  /** In turn, a second apart; those in one list in one group. */
  readonly calls: readonly (StartApi | readonly StartApi[])[];
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
      const inGroup = Array.isArray(call) ? (call as readonly StartApi[]) : [call as StartApi];
      const at = (1 + i) * S;
      const parent = host.startGroupApi(at, { comm, groupDepth: inGroup.length > 1 ? 2 : 1 });
      inGroup.forEach((one, k) => {
        host.stop(at + 20 * k + 20, host.startCollApi(at + 20 * k + 10, { comm, parent, ...one }));
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

describe('calls of which NCCL told no more', () => {
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
      besides: { kind: 'nothing' },
    });
  });

  it('have a root only where that means something', async () => {
    const reduce = (root: number): Rank => ({ calls: [{ ...BROADCAST, func: 'AllReduce', root }] });
    expect((await judged(reduce(0), reduce(3))).kind).toBe('nothing');
  });

  it('are compared by group, whatever their order in it', async () => {
    const gather: StartApi = { func: 'AllGather', datatype: 'ncclInt8', count: 8 };
    const both = (...calls: StartApi[]): Rank => ({ calls: [calls, BROADCAST] });
    expect((await judged(both(BROADCAST, gather), both(gather, BROADCAST))).kind).toBe('nothing');
    expect((await judged(both(BROADCAST, gather), both(gather, gather))).kind).toBe('mismatch');
  });

  it.each<readonly [string, Partial<Rank>]>([
    ['were not recorded all', { options: { eventMask: 0xfff & ~0x100 } }],
    ['are of an interface that tells none', { options: { abi: 4 } }],
    [
      'were recorded into a graph',
      { calls: [BROADCAST, { ...BROADCAST, root: 0, graphCaptured: true }, BROADCAST] },
    ],
    ['lost records before', { more: (host) => void host.tear(1) }],
  ])('are not where those of a rank %s', async (_, more) => {
    expect((await judged(usual, { ...otherRoot, ...more }, usual)).kind).not.toBe('mismatch');
  });
});

it('a job that lives, and calls no more, is not said to be well: who called less is named', async () => {
  const lives = 60;
  const less: Rank = { calls: usual.calls.slice(0, 2), lives };
  expect(await judged({ ...usual, lives }, less, { ...usual, lives })).toMatchObject({
    kind: 'unclear',
    unclear: {
      silent: [],
      idle: {
        since: 3 * S + 1000,
        files: [0, 1, 2],
        behind: [{ comm: 'dp', files: [1], calls: 2, most: 3, func: 'Broadcast', count: 64, root: 1 }],
      },
    },
  });
  expect((await judged({ ...usual, lives: 30 }, { ...usual, lives: 30 })).kind).toBe('nothing');
});

it('its pace is what it did before, its start aside', async () => {
  const at = (seconds: number) => (host: RingBuilder, comm: number) => {
    host.startKernelLaunch(seconds * S, { comm });
  };
  // The pause of 37 s comes when it had begun to work.
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
