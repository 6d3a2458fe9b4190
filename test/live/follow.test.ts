/** Which files are the job: the newest run, whatever else lies in the directory, and however often it is started again. */

import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { projectFile } from '../../src/base/project.js';
import { Follower, NO_SIGHT, type Sight } from '../../src/live/follow.js';
import { startRecording } from '../support/jobs/loopback.js';
import { startPuppet } from '../support/jobs/puppet.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

const names = ({ members }: Sight): string[] => members.map(({ path: file }) => path.basename(file));

it('there is no run before there are files, and none when they are gone', () => {
  const run = path.join(folder, 'run');
  const follower = new Follower(run, undefined);
  expect(follower.look(0)).toEqual(NO_SIGHT);
  mkdirSync(run);
  expect(follower.look(1).run).toBeNull();
  cpSync(projectFile('samples/hang'), run, { recursive: true });
  const seen = follower.look(2);
  expect(names(seen)).toEqual(['rank00000.bin', 'rank00002.bin', 'rank00003.bin']);
  // Recorded on another machine, long ago.
  expect(seen).toMatchObject({
    isOver: true,
    events: expect.arrayContaining(['appeared', 'died']) as string[],
  });
  expect(follower.look(3)).toMatchObject({ run: seen.run, events: [], isOver: true });
  rmSync(run, { recursive: true });
  expect(follower.look(4)).toMatchObject({ run: null, members: [] });
});

it('a running process moves when it records, ends in order, and its successor of the same name is another run', async () => {
  const file = path.join(folder, 'rank00000.bin');
  const follower = new Follower(folder, undefined);
  for (let start = 0; start < 5; start++) {
    const puppet = startPuppet({
      NCCL_TRACE_DIR: folder,
      NCCL_TRACE_RING_MB: '1',
      NCCL_TRACE_RING_DIR: 'none',
      RANK: '0',
    });
    await puppet.tell('coll 1');
    const seen = follower.look(1000 * start);
    expect(seen).toMatchObject({
      isOver: false,
      members: [{ path: file, process: 'runs', movedAt: 1000 * start }],
    });
    expect(seen.events).toContain('appeared');
    expect(follower.look(1000 * start + 1)).toMatchObject({
      events: [],
      members: [{ movedAt: 1000 * start }],
    });
    await puppet.tell('coll 10');
    expect(follower.look(1000 * start + 2)).toMatchObject({ members: [{ movedAt: 1000 * start + 2 }] });
    if (start % 2 === 0) await puppet.kill();
    else await puppet.end();
    expect(follower.look(1000 * start + 3)).toMatchObject({
      ...{ isOver: true, events: [start % 2 === 0 ? 'died' : 'ended'] },
    });
    rmSync(file);
  }
});

it('a hundred starts beside each other: the newest is the job, and the others are not read again', async () => {
  await startRecording(folder, '--ranks 2 --iterations 1').ended;
  const recording = path.join(folder, 'recording');
  const follower = new Follower(recording, undefined);
  const first = follower.look(0).run;
  // Ended runs of other machines, under names as the recorder gives them.
  for (let start = 0; start < 100; start++)
    for (const name of readdirSync(projectFile('samples/hang')).filter((one) => one.endsWith('.bin')))
      cpSync(
        path.join(projectFile('samples/hang'), name),
        path.join(recording, name.replace('.bin', `.${start}.bin`)),
      );
  expect(follower.look(1).run).toBe(first);
  const used = process.cpuUsage();
  expect(follower.look(2)).toMatchObject({ run: first, events: [] });
  const { user, system } = process.cpuUsage(used);
  expect(user + system).toBeLessThan(2_000_000);
  renameSync(path.join(recording, 'rank00000.bin'), path.join(recording, 'rank00009.bin'));
  utimesSync(path.join(recording, 'rank00009.bin'), 0, 0);
  expect(names(follower.look(3))).toEqual(['rank00001.bin', 'rank00009.bin']);
});

it('jobs without a name are told apart by their first communicator, also if they start in the same second', () => {
  const idOf = (sample: string): string =>
    new Follower(projectFile(`samples/${sample}`), undefined).look(0).id;
  expect([idOf('hang'), idOf('mismatch')]).toEqual(['0xbccdfd9c96a18897', '0x80aec5607512fa54']);
});

it('a job that runs beside the newest is named, until it ends', async () => {
  const settings = {
    NCCL_TRACE_DIR: folder,
    NCCL_TRACE_RING_MB: '1',
    NCCL_TRACE_RING_DIR: 'none',
    RANK: '0',
  };
  const first = startPuppet({ ...settings, NCCL_TRACE_RUN_ID: 'first' });
  await first.tell('coll 1');
  const follower = new Follower(folder, undefined);
  expect(follower.look(0).beside).toEqual([]);
  const second = startPuppet({ ...settings, NCCL_TRACE_RUN_ID: 'second' });
  await second.tell('coll 1');
  expect(follower.look(1)).toMatchObject({ run: expect.stringMatching(/^second/) as string, beside: [] });
  const { run, beside } = follower.look(30_001);
  expect(run).toMatch(/^second/);
  expect(beside).toEqual([expect.stringMatching(/^first/)]);
  await first.end();
  expect(follower.look(30_002).beside).toEqual([]);
  await second.end();
});
