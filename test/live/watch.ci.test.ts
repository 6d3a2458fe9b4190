/** `watch` beside real jobs that recover, are healthy, end or start again, and in a world that fails. */

import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { projectFile } from '../../src/base/project.js';
import { openRankFileHeader } from '../../src/rankfile/index.js';
import { PROGRAM } from '../support/program/program.js';
import { liveJob, startWatch, startWatchWith } from './watched.js';

const live = liveJob();

const incidents = (where = live.recording): string[] => readdirSync(path.join(where, 'incidents'));

const LOOP = '--iterations 100000 --ops allreduce:1M,sleep:20ms';

it('a job that goes on after a hang has recovered', async () => {
  void live.start(`--ranks 3 ${LOOP} --timeout 240`);
  const watcher = startWatch(
    live.recording,
    '--every',
    '1',
    '--linger',
    '0',
    '--stacks',
    'off',
    '--no-snapshot',
  );
  const file = path.join(live.recording, 'rank00001.bin');
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 50));
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const { pid } = openRankFileHeader(file).process;
  process.kill(pid, 'SIGSTOP');
  await watcher.says(/Z {2}HUNG: AllReduce .* rank 1 is stopped.*\n/);
  process.kill(pid, 'SIGCONT');
  await watcher.says(/Z {2}RECOVERED: no longer HUNG: AllReduce .* rank 1 is stopped/);
  await live.end();
  await watcher.ended;
});

it('starts the command at once and takes the stacks meanwhile; the input of the command ends with the evidence', async () => {
  const told = path.join(live.folder, 'told');
  // A debugger that has nothing to say before the command has run.
  const bin = path.join(live.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(
    path.join(bin, 'gdb'),
    `#!/bin/sh\nwhile [ ! -e ${told} ]; do sleep 0.05; done; echo '#0  main'\n`,
    { mode: 0o755 },
  );
  void live.start(`--ranks 2 ${LOOP} --timeout 240`);
  const command = `read -r verdict; touch ${told}; cat; ls $NCCL_TRACE_FOLDER >&2; echo "all taken" >&2`;
  const settings = { PATH: `${bin}:${process.env.PATH}` };
  const args = ['--every', '1', '--linger', '0', '--exec', command];
  const watcher = startWatchWith({ settings }, live.recording, ...args);
  const file = path.join(live.recording, 'rank00001.bin');
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 50));
  await new Promise((resolve) => setTimeout(resolve, 3000));
  process.kill(openRankFileHeader(file).process.pid, 'SIGSTOP');
  await watcher.says(/incident\.json\nrank00000\.bin\nrank00001\.bin\nall taken/);
  await watcher.says(/: 2 rank files, 1 process, stacks of 1\n/);
  await live.end();
  await watcher.ended;
});

describe('a healthy job', () => {
  it.each([
    [
      'with jitter',
      '--ranks 4 --iterations 120 --ops allreduce:256K,allreduce:32K*4,sleep:20ms --jitter 2ms',
    ],
    ['that pauses for checkpoints', '--ranks 4 --iterations 2 --ops allreduce:1M*50,sleep:7000ms'],
    ['of idle ranks', '--ranks 2 --iterations 1 --ops allreduce:1M,sleep:18000ms'],
  ])('%s is not announced', async (_, args) => {
    const watcher = startWatch(
      live.recording,
      '--linger',
      '0',
      '--fail-on',
      'hung,broken,mismatch,slow,unclear',
    );
    await live.start(`${args} --timeout 100`);
    const { code, out } = await watcher.ended;
    expect({ code, out }).toEqual({ code: 0, out: '' });
  });
});

it('a job that is ended while it works is no incident', async () => {
  void live.start(`--ranks 2 ${LOOP} --timeout 240`);
  const watcher = startWatch(live.recording, '--every', '1', '--linger', '1');
  await new Promise((resolve) => setTimeout(resolve, 5000));
  await live.end();
  expect(await watcher.ended).toMatchObject({ code: 0, out: '' });
});

it('follows a job that is started again and again, and names the rank of each start', async () => {
  const watcher = startWatch(
    live.recording,
    '--every',
    '1',
    '--linger',
    '20',
    '--stacks',
    'off',
    '--incidents',
    '2',
  );
  const starts = 4;
  for (let start = 0; start < starts; start++) {
    const victim = start % 2;
    void live.start(`--ranks 2 ${LOOP} --fault kill:${victim}@30 --hang-seconds 200 --timeout 240`);
    await watcher.says(new RegExp(`(HUNG: .* rank ${victim} fell silent[^]*){${Math.floor(start / 2) + 1}}`));
    await live.end();
    if (start === 1) rmSync(path.join(live.recording, 'rank00000.bin')); // a file that is gone
  }
  watcher.process.kill('SIGINT');
  const { code, err } = await watcher.ended;
  expect(code).toBe(130);
  expect(err.match(/another run began/g)?.length).toBe(starts - 1);
  expect(incidents().length).toBe(2);
  expect(err).toContain('no further incident is taken (--incidents 2)');
});

it('a job that was started with it and is over before its first window is the job', async () => {
  // As on a busy machine: Node has begun, and the job is over before the command is loaded.
  const wait = path.join(live.folder, 'wait.mjs');
  writeFileSync(
    wait,
    `import { existsSync } from 'node:fs';
     process.stderr.write('begun');
     while (!existsSync(${JSON.stringify(path.join(live.folder, 'over'))}))
       await new Promise((resolve) => setTimeout(resolve, 20));`,
  );
  const watcher = startWatchWith(
    { node: ['--import', wait] },
    live.recording,
    '--linger',
    '0',
    '--fail-on',
    'hung',
    '--act-on',
    'none',
  );
  await watcher.says(/begun/);
  await live.start('--ranks 2 --iterations 5 --fault kill:1@2 --hang-seconds 4');
  writeFileSync(path.join(live.folder, 'over'), '');
  const { code, out } = await watcher.ended;
  expect(code).toBe(5);
  expect(out).toMatch(/HUNG: AllReduce .* rank 1 fell silent/);
});

it('a run that is over at the start is not the job; with --run it is', async () => {
  cpSync(projectFile('samples/hang'), live.recording, { recursive: true });
  const watcher = startWatch(live.recording, '--every', '1', '--linger', '0');
  await watcher.says(/the newest run, \S+, is over; waits for the next one \(--run (\S+) judges it\)/);
  await live.start('--ranks 2 --iterations 5');
  expect(await watcher.ended).toMatchObject({ code: 0, out: '' });
  const old = ['--run', '@2026-11-21T19:02:00'];
  const judged = startWatch(live.recording, ...old, '--linger', '0', '--fail-on', 'hung', '--act-on', 'none');
  const { code, out } = await judged.ended;
  expect(code).toBe(5);
  expect(out).toMatch(/HUNG: AllReduce seq 2 on world \(4 ranks\): rank 3 fell silent/);
});

describe('survives', () => {
  it('its own stop, and a directory that vanishes', async () => {
    void live.start(`--ranks 2 ${LOOP} --timeout 240`);
    const watcher = startWatch(live.recording, '--every', '1', '--linger', '3');
    await new Promise((resolve) => setTimeout(resolve, 3000));
    watcher.process.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 5000));
    watcher.process.kill('SIGCONT');
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(watcher.process.exitCode).toBeNull();
    renameSync(live.recording, path.join(live.folder, 'elsewhere'));
    expect(await watcher.ended).toMatchObject({ code: 0, out: '' });
  });

  const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
  it.skipIf(!canMount)('a disk without room for the incident', async () => {
    const killed = '--ranks 2 --iterations 5 --fault kill:1@2 --hang-seconds 8';
    await live.start(killed, { NCCL_TRACE_RUN_ID: 'killed' });
    const script = 'mount -t tmpfs -o size=64k none /mnt && exec "$@"';
    const args = ['watch', live.recording, '--run', 'killed', '--linger', '0', '-o', '/mnt/incidents'];
    const { stdout, stderr } = await promisify(execFile)('unshare', [
      ...['-rm', 'sh', '-c', script, 'sh', process.execPath, PROGRAM, ...args],
      ...['--exec', 'echo "run for $NCCL_TRACE_RANKS"'],
    ]);
    expect(stdout).toContain('HUNG');
    expect(stderr).toContain(
      'no copies of the rank files: they would take more than half of the space that is left',
    );
    expect(stderr).toContain('run for 1');
  });
});
