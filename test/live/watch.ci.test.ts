/** `watch` beside real jobs that hang, lose a rank, stop, start again or are healthy, and in a world that fails. */

import { execFile, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Incident } from '../../src/live/incident.js';
import { projectFile } from '../../src/base/project.js';
import { SLOT_BYTES } from '../../src/rankfile/format/constants.js';
import { openRankFileHeader, readPulse } from '../../src/rankfile/index.js';
import { startRecording, type Running } from '../support/jobs/loopback.js';
import { runHere } from '../support/program/command_line.js';
import { PROGRAM } from '../support/program/program.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import { startWatch, startWatchWith, type Watched } from './watched.js';

let folder: string;
let remove: () => void;
let job: Running | undefined;
beforeEach(() => {
  ({ folder, remove } = temporaryFolder());
});
afterEach(async () => {
  job?.end();
  await job?.ended;
  job = undefined;
  remove();
});

const recording = (): string => path.join(folder, 'recording');
const incidents = (where = recording()): string[] => readdirSync(path.join(where, 'incidents'));

interface WatchedHang extends Watched {
  readonly incident: Incident;
  readonly folder: string;
  /** ms from the stall's beginning, as the verdict tells it, to the line. */
  readonly after: number;
}

/** A job with this fault, watched until it is announced and everything is taken. */
async function watchedHang(args: string, hungAfter: number, ...more: string[]): Promise<WatchedHang> {
  job = startRecording(folder, `${args} --hang-seconds 200 --timeout 240`, {
    NCCL_TRACE_RING_DIR: '/dev/shm',
  });
  const watcher = startWatch(
    recording(),
    '--json',
    '--linger',
    '1',
    '--hung-after',
    String(hungAfter),
    ...more,
  );
  await watcher.says(/"incident":/);
  job.end();
  await job.ended;
  const ended = await watcher.ended;
  const lines = ended.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const at = lines.findIndex(({ change }) => change === 'hung');
  const { diagnosis } = lines[at]!;
  const { since } = diagnosis!.verdict.hang;
  const taken = lines.find((line) => line.incident !== undefined)!;
  return {
    ...{ ...ended, incident: taken.incident!, folder: taken.folder! },
    after: ended.saidAt[at]! - Number(BigInt(diagnosis!.traceStart) / 1_000_000n) - since / 1e6,
  };
}

interface Line {
  readonly change?: string;
  readonly diagnosis?: {
    readonly traceStart: string;
    readonly verdict: { readonly hang: { readonly since: number } };
  };
  readonly folder?: string;
  readonly incident?: Incident;
}

const LOOP = '--iterations 100000 --ops allreduce:1M,sleep:20ms';

describe('a job that hangs in mid-run', () => {
  it('is announced in time, with the rank that did not come, and what its threads do', async () => {
    const hang = await watchedHang(`--ranks 8 ${LOOP} --skip-rank 5 --skip-at 100`, 10);
    expect(hang.after).toBeLessThan(15_000);
    expect(hang.incident).toMatchObject({ kind: 'hung', ranks: '5', missing: [] });
    expect(hang.incident.headline).toMatch(
      /^HUNG: AllReduce seq 100 on world \(8 ranks\): rank 5 never entered it/,
    );
    const [suspect, ...others] = hang.incident.suspects;
    expect(others).toEqual([]);
    expect(suspect).toMatchObject({
      ranks: [5],
      file: 'rank00005.bin',
      process: { name: 'nccl-trace-loop' },
    });
    const { threads, connections } = suspect!.process!;
    expect(threads.map(({ name }) => name)).toContain('nccl-trace');
    for (const thread of threads) expect(thread.state).toMatch(/^[RSD]$/);
    // Each rank sends to the next one, and receives from the one before.
    expect(connections!.filter(({ state }) => state === 'established').length).toBeGreaterThan(1);
    expect(connections![0]!.remote).toMatch(/^127\.0\.0\.1:\d+$/);
    // The next command that it prints, and the one of a person who has only the folder.
    expect(hang.err).toContain(`next: nccl-trace report ${hang.folder} --hung-after 10 -o incident.html`);
    expect((await runHere(folder, 'inspect', hang.folder, '--hung-after', '10')).out).toMatch(
      /^HUNG {2}AllReduce seq 100 on world \(8 ranks\): rank 5 never entered it\n/,
    );
    expect((await runHere(folder, 'report', hang.folder, '--hung-after', '10', '--markdown')).out).toContain(
      'rank 5',
    );
    const page = path.join(folder, 'incident.html');
    await runHere(folder, 'report', hang.folder, '--hung-after', '10', '-qo', page, '--no-trace');
    const html = readFileSync(page, 'utf8');
    expect(html).toMatch(/<h3>Rank 5: nccl-trace-loop, pid \d+, [RS] \(\w+\)<\/h3>/);
    expect(html).toMatch(/<td>\d+<\/td><td>nccl-trace<\/td><td>S<\/td><td>futex/);
    await runHere(folder, 'report', hang.folder, '--redact', '-fqo', page, '--no-trace');
    expect(readFileSync(page, 'utf8')).not.toContain('<h3>Rank 5');
  });

  it('in stream mode, when its rings have lapped', async () => {
    job = startRecording(
      folder,
      '--ranks 2 --channels 16 --iterations 100000 --ops allreduce:4M*4,sleep:5ms --skip-rank 1 --skip-at 30 --hang-seconds 200 --timeout 240',
      { NCCL_TRACE_MODE: 'stream', NCCL_TRACE_RING_MB: '1' },
    );
    const watcher = startWatch(recording(), '--every', '1', '--hung-after', '5', '--act-on', 'none');
    await watcher.says(/HUNG: AllReduce seq 120 on world \(2 ranks\): rank 1 never entered it/);
    const slots = 2 ** 20 / SLOT_BYTES;
    expect(readPulse(path.join(recording(), 'rank00000.bin')).slots).toBeGreaterThan(2 * slots);
    watcher.process.kill('SIGTERM');
    await watcher.ended;
  });

  it('because a rank is stopped', async () => {
    const hang = await watchedHang(`--ranks 4 ${LOOP} --fault stop:1@100`, 10);
    expect(hang.incident).toMatchObject({ kind: 'hung', ranks: '1' });
    expect(hang.incident.suspects[0]!.process!.state).toMatch(/^T /);
    expect(hang.after).toBeLessThan(15_000);
  });

  it('because a rank was killed, and waits for no time limit then', async () => {
    const hang = await watchedHang(`--ranks 4 ${LOOP} --kill-rank 2 --kill-at 100`, 100);
    expect(hang.incident).toMatchObject({ kind: 'hung', ranks: '2' });
    expect(hang.after).toBeLessThan(15_000);
  });

  it('and whose culprit has its files on another node', async () => {
    job = startRecording(
      folder,
      `--ranks 4 ${LOOP} --skip-rank 3 --skip-at 100 --hang-seconds 200 --timeout 240`,
    );
    const node = path.join(folder, 'node');
    mkdirSync(node);
    for (const rank of [0, 1]) {
      const name = `rank0000${rank}.bin`;
      for (;;) {
        try {
          linkSync(path.join(recording(), name), path.join(node, name));
          break;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    }
    const watcher = startWatch(node, '--hung-after', '5', '--linger', '1', '--stacks', 'off');
    await watcher.says(/incident:/);
    job.end();
    const { out } = await watcher.ended;
    expect(out).toMatch(
      /HUNG: AllReduce seq 100 on world \(4 ranks\): this node waits for others: rank 3, no file here\n/,
    );
  });
});

it.skipIf(spawnSync('gdb', ['--version']).error !== undefined)(
  'stacks of a native process, by gdb',
  async () => {
    const { incident } = await watchedHang(
      `--ranks 2 ${LOOP} --skip-rank 1 --skip-at 50`,
      2,
      '--stacks',
      'gdb',
    );
    const { stacks } = incident.suspects[0]!;
    expect(stacks).toMatchObject({ by: 'gdb', why: null });
    expect(stacks!.text).toContain('nccl_trace::RecorderThread::Loop');
  },
);

it('a job that goes on after a hang has recovered', async () => {
  job = startRecording(folder, `--ranks 3 ${LOOP} --timeout 240`);
  const watcher = startWatch(
    recording(),
    '--every',
    '1',
    '--linger',
    '0',
    '--stacks',
    'off',
    '--no-snapshot',
  );
  const file = path.join(recording(), 'rank00001.bin');
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 50));
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const { pid } = openRankFileHeader(file).process;
  process.kill(pid, 'SIGSTOP');
  await watcher.says(/Z {2}HUNG: AllReduce .* rank 1 is stopped.*\n/);
  process.kill(pid, 'SIGCONT');
  await watcher.says(/Z {2}RECOVERED: no longer HUNG: AllReduce .* rank 1 is stopped/);
  job.end();
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
      recording(),
      '--linger',
      '0',
      '--fail-on',
      'hung,broken,mismatch,slow,unclear',
    );
    await startRecording(folder, `${args} --timeout 100`).ended;
    const { code, out } = await watcher.ended;
    expect({ code, out }).toEqual({ code: 0, out: '' });
  });
});

it('a job that is ended while it works is no incident', async () => {
  job = startRecording(folder, `--ranks 2 ${LOOP} --timeout 240`);
  const watcher = startWatch(recording(), '--every', '1', '--linger', '1');
  await new Promise((resolve) => setTimeout(resolve, 5000));
  job.end();
  expect(await watcher.ended).toMatchObject({ code: 0, out: '' });
});

it('follows a job that is started again and again, and names the rank of each start', async () => {
  const watcher = startWatch(
    recording(),
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
    job = startRecording(
      folder,
      `--ranks 2 ${LOOP} --kill-rank ${victim} --kill-at 30 --hang-seconds 200 --timeout 240`,
    );
    await watcher.says(new RegExp(`(HUNG: .* rank ${victim} fell silent[^]*){${Math.floor(start / 2) + 1}}`));
    job.end();
    await job.ended;
    if (start === 1) rmSync(path.join(recording(), 'rank00000.bin')); // a file that is gone
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
  const wait = path.join(folder, 'wait.mjs');
  writeFileSync(
    wait,
    `import { existsSync } from 'node:fs';
     process.stderr.write('begun');
     while (!existsSync(${JSON.stringify(path.join(folder, 'over'))}))
       await new Promise((resolve) => setTimeout(resolve, 20));`,
  );
  const watcher = startWatchWith(
    ['--import', wait],
    recording(),
    '--linger',
    '0',
    '--fail-on',
    'hung',
    '--act-on',
    'none',
  );
  await watcher.says(/begun/);
  await startRecording(folder, '--ranks 2 --iterations 5 --kill-rank 1 --kill-at 2 --hang-seconds 4').ended;
  writeFileSync(path.join(folder, 'over'), '');
  const { code, out } = await watcher.ended;
  expect(code).toBe(5);
  expect(out).toMatch(/HUNG: AllReduce .* rank 1 fell silent/);
});

it('a run that is over at the start is not the job; with --run it is', async () => {
  cpSync(projectFile('samples/hang'), recording(), { recursive: true });
  const watcher = startWatch(recording(), '--every', '1', '--linger', '0');
  await watcher.says(/the newest run, \S+, is over; waits for the next one \(--run (\S+) judges it\)/);
  await startRecording(folder, '--ranks 2 --iterations 5').ended;
  expect(await watcher.ended).toMatchObject({ code: 0, out: '' });
  const old = ['--run', '@2026-11-21T19:02:00'];
  const judged = startWatch(recording(), ...old, '--linger', '0', '--fail-on', 'hung', '--act-on', 'none');
  const { code, out } = await judged.ended;
  expect(code).toBe(5);
  expect(out).toMatch(/HUNG: AllReduce seq 2 on world \(4 ranks\): rank 3 fell silent/);
});

describe('survives', () => {
  it('its own stop, and a directory that vanishes', async () => {
    job = startRecording(folder, `--ranks 2 ${LOOP} --timeout 240`);
    const watcher = startWatch(recording(), '--every', '1', '--linger', '3');
    await new Promise((resolve) => setTimeout(resolve, 3000));
    watcher.process.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 5000));
    watcher.process.kill('SIGCONT');
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(watcher.process.exitCode).toBeNull();
    renameSync(recording(), path.join(folder, 'elsewhere'));
    expect(await watcher.ended).toMatchObject({ code: 0, out: '' });
  });

  const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
  it.skipIf(!canMount)('a disk without room for the incident', async () => {
    const killed = '--ranks 2 --iterations 5 --kill-rank 1 --kill-at 2 --hang-seconds 2';
    await startRecording(folder, killed, { NCCL_TRACE_RUN_ID: 'killed' }).ended;
    const script = 'mount -t tmpfs -o size=64k none /mnt && exec "$@"';
    const args = ['watch', recording(), '--run', 'killed', '--linger', '0', '-o', '/mnt/incidents'];
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

it('the output of --exec does not mix with ours', async () => {
  const file = path.join(folder, 'pid');
  const hang = await watchedHang(
    `--ranks 2 ${LOOP} --kill-rank 1 --kill-at 10`,
    100,
    ...['--every', '1', '--exec', `echo hello; cat > ${file}`],
  );
  expect(hang.err).toContain('hello\n');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ kind: 'hung' });
});
