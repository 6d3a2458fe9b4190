/** From files to the verdict: a rank is not idle while `control` has turned its events off, and a time with lost records is no pause. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EventType } from '../../../src/rankfile/format/nccl.js';
import { diagnose } from '../../../src/report/diagnosis.js';
import { RankFileBuilder, type FileOptions } from '../../support/rank_files/rank_file_builder.js';
import { folderOfFile } from '../../support/program/temporary_folder.js';

const folder = folderOfFile();

const S = 1e9;
const ALL = 0xfff;
let runs = 0;

interface Change {
  /** s. */
  readonly at: number;
  readonly events: number;
  readonly sampleEvery?: number;
}

interface Job {
  /** s: a collective each. */
  readonly calls: readonly number[];
  readonly changes?: readonly Change[];
  /** s. */
  readonly lives: number;
  /** Of its ring. */
  readonly slots?: number;
  /** The number of the first change. */
  readonly firstChange?: number;
  /** Records of this call are lost. */
  readonly lost?: number;
  readonly options?: FileOptions & { readonly abi?: number };
}

/** Two ranks that do the same. */
async function judged({ calls, changes = [], firstChange, lost, lives, slots = 1024, options = {} }: Job) {
  const run = join(folder, `${runs++}`);
  mkdirSync(run);
  const { abi = 6, ...more } = options;
  const newest = changes.at(-1);
  const changed = newest && {
    tick: newest.at * S,
    events: newest.events,
    sampleEvery: newest.sampleEvery ?? 1,
  };
  for (const rank of [0, 1]) {
    const file = new RankFileBuilder({
      rank,
      worldSize: 2,
      eventMask: ALL,
      ...(changed && { changed }),
      ...more,
    });
    const comm = file.communicator({ name: 'dp', commId: 0xabcn, rank, nRanks: 2, abi });
    const host = file.ring('host', slots, { tid: 1 });
    calls.forEach((second, i) => {
      const at = second * S;
      const { head } = host;
      const parent = host.startGroupApi(at, { comm, groupDepth: 1 });
      const api = host.startCollApi(at + 10, { comm, parent, func: 'AllReduce' });
      host.stop(at + 20, api);
      host.stop(at + 900, host.startColl(at + 800, { comm, parent: api, func: 'AllReduce', seqNumber: i }));
      host.stop(at + 1000, parent);
      for (let slot = head; i === lost && slot < host.head; slot++) host.tear(slot);
    });
    if (changes.length > 0)
      file.changes(
        changes.map(({ at, events, sampleEvery = 1 }) => ({
          tick: at * S,
          done: at * S + 10,
          events,
          sampleEvery,
        })),
        firstChange,
      );
    file
      .clockSample(0)
      .heartbeat(lives * S)
      .write(join(run, `rank0000${rank}.bin`));
  }
  return (await diagnose([run])).verdict;
}

/** Each half second from one on, up to another one. */
const steady = (from: number, end: number): number[] =>
  Array.from({ length: 2 * (end - from) }, (_, i) => from + i / 2);

describe('a live job without any newer records', () => {
  const idle = { calls: steady(1, 11), lives: 60 };
  const changed = (events: number, sampleEvery = 1): Job => ({
    ...idle,
    changes: [{ at: 11, events, sampleEvery }],
  });

  it('is not called healthy', async () => {
    expect((await judged(idle)).kind).toBe('unclear');
  });

  it.each([
    ['all was turned off', changed(0)],
    ['its calls were turned off', changed(EventType.Coll, 100_000)],
    ['its sends and receives were turned off', changed(ALL & ~EventType.P2pApi)],
    [
      'fewer collectives are sampled, and calls are not reported',
      { ...changed(ALL, 100_000), options: { abi: 4 } },
    ],
  ])('is not called stuck, where %s', async (_, job) => {
    expect((await judged(job)).kind).toBe('working');
  });

  it.each([
    ['other things were turned off', changed(ALL & ~EventType.ProxyStep)],
    ['fewer collectives are sampled, and calls are reported', changed(ALL, 100_000)],
    [
      'all events were turned on again',
      { ...idle, changes: [...changed(0).changes!, { at: 12, events: ALL }], lives: 400 },
    ],
  ])('is not healthy, where %s', async (_, job) => {
    expect((await judged(job)).kind).toBe('unclear');
  });
});

describe('an earlier pause', () => {
  const later = { calls: [...steady(1, 6), ...steady(606, 611)], lives: 1000 };

  it('is no time in which calls were turned off', async () => {
    const off = { at: 6, events: 0 };
    const on = { at: 605, events: ALL };
    expect((await judged(later)).kind).toBe('working');
    expect(await judged({ ...later, changes: [off, on] })).toMatchObject({
      kind: 'unclear',
      unclear: { idle: { longestBefore: 0.5 * S - 1000 } },
    });
    // What else was changed then does not matter.
    const steps = { at: 100, events: ALL & ~EventType.ProxyStep };
    expect((await judged({ ...later, changes: [steps] })).kind).toBe('working');
  });

  it('is not counted where changes by control are lost', async () => {
    const unknown = { ...later, changes: [{ at: 605, events: ALL }], firstChange: 1 };
    expect((await judged(unknown)).kind).toBe('unclear');
  });

  it('is not counted where records are lost', async () => {
    const whole = { ...later, calls: [...steady(1, 6), 300, ...steady(606, 611)] };
    expect((await judged(whole)).kind).toBe('working');
    expect((await judged({ ...whole, lost: 10 })).kind).toBe('unclear');
  });

  it('may be longer than a full ring still shows', async () => {
    const wrapped = { calls: [...steady(1, 11), ...steady(111, 200)], slots: 256 };
    expect((await judged({ ...wrapped, lives: 270 })).kind).toBe('working');
    expect(await judged({ ...wrapped, lives: 600 })).toMatchObject({
      kind: 'unclear',
      unclear: { idle: { isPaceWhole: false, longestBefore: 0.5 * S - 1000 } },
    });
  });
});
