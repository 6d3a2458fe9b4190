/** `watch` beside real jobs that hang: what it says, when, and what it takes of the processes. */

import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Incident } from '../../src/live/incident.js';
import { hasFrames } from '../../src/live/stacks.js';
import { SLOT_BYTES } from '../../src/rankfile/format/constants.js';
import { readPulse } from '../../src/rankfile/index.js';
import { runHere } from '../support/program/command_line.js';
import { liveJob, startWatch, type Watched } from './watched.js';

const live = liveJob();

interface WatchedHang extends Watched {
  readonly incident: Incident;
  readonly folder: string;
  /** ms from the stall's beginning, as the verdict tells it, to the line. */
  readonly after: number;
}

/** A job with this fault, watched until it is announced and everything is taken. */
async function watchedHang(args: string, hungAfter: number, ...more: string[]): Promise<WatchedHang> {
  void live.start(`${args} --hang-seconds 200 --timeout 240`, {
    NCCL_TRACE_RING_DIR: '/dev/shm',
  });
  const watcher = startWatch(
    live.recording,
    '--json',
    '--linger',
    '1',
    '--hung-after',
    String(hungAfter),
    ...more,
  );
  await watcher.says(/"incident":/);
  await live.end();
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

/** ms: after 10 s of standstill, and before a person would look. A busy machine takes several times the second or two of an idle one. */
const IN_TIME = 60_000;

const LOOP = '--iterations 100000 --ops allreduce:1M,sleep:20ms';

describe('a job that hangs in mid-run', () => {
  it('is announced in time, with the rank that did not come, and what its threads do', async () => {
    const hang = await watchedHang(`--ranks 8 ${LOOP} --fault skip:5@100`, 10);
    expect(hang.after).toBeLessThan(IN_TIME);
    expect(hang.incident).toMatchObject({ kind: 'hung', ranks: '5' });
    expect(hang.incident.headline).toMatch(
      /^HUNG: AllReduce seq 100 on world \(8 ranks\): rank 5 never entered it/,
    );
    const [suspect, ...others] = hang.incident.suspects;
    expect(others).toEqual([]);
    // A busy machine may keep gdb for longer than the second that it has. Then it gave no stack, and that is said.
    const isCut = suspect!.stacks !== null && !hasFrames(suspect!.stacks);
    const cut = expect.stringMatching(/^rank00005\.bin: its stacks: gdb: ended before it was done/) as string;
    expect(hang.incident.missing).toEqual(isCut ? [cut] : []);
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
    expect((await runHere(live.folder, 'inspect', hang.folder, '--hung-after', '10')).out).toMatch(
      /^HUNG {2}AllReduce seq 100 on world \(8 ranks\): rank 5 never entered it\n/,
    );
    expect(
      (await runHere(live.folder, 'report', hang.folder, '--hung-after', '10', '--markdown')).out,
    ).toContain('rank 5');
    const page = path.join(live.folder, 'incident.html');
    await runHere(live.folder, 'report', hang.folder, '--hung-after', '10', '-qo', page, '--no-trace');
    const html = readFileSync(page, 'utf8');
    expect(html).toMatch(/<h3>Rank 5: nccl-trace-loop, pid \d+, [RS] \(\w+\)<\/h3>/);
    expect(html).toMatch(/<td>\d+<\/td><td>nccl-trace<\/td><td>S<\/td><td>futex/);
    await runHere(live.folder, 'report', hang.folder, '--redact', '-fqo', page, '--no-trace');
    expect(readFileSync(page, 'utf8')).not.toContain('<h3>Rank 5');
  });

  it('in stream mode, when its rings have lapped', async () => {
    void live.start(
      '--ranks 2 --channels 16 --iterations 100000 --ops allreduce:4M*4,sleep:5ms --fault skip:1@30 --hang-seconds 200 --timeout 240',
      { NCCL_TRACE_MODE: 'stream', NCCL_TRACE_RING_MB: '1' },
    );
    const watcher = startWatch(live.recording, '--every', '1', '--hung-after', '5', '--act-on', 'none');
    await watcher.says(/HUNG: AllReduce seq 120 on world \(2 ranks\): rank 1 never entered it/);
    const slots = 2 ** 20 / SLOT_BYTES;
    expect(readPulse(path.join(live.recording, 'rank00000.bin')).slots).toBeGreaterThan(2 * slots);
    watcher.process.kill('SIGTERM');
    await watcher.ended;
  });

  it('because a rank is stopped', async () => {
    const hang = await watchedHang(`--ranks 4 ${LOOP} --fault stop:1@100`, 10);
    expect(hang.incident).toMatchObject({ kind: 'hung', ranks: '1' });
    expect(hang.incident.suspects[0]!.process!.state).toMatch(/^T /);
    expect(hang.after).toBeLessThan(IN_TIME);
  });

  it('because a rank was killed, and waits for no time limit then', async () => {
    const hang = await watchedHang(`--ranks 4 ${LOOP} --fault kill:2@100`, 100);
    expect(hang.incident).toMatchObject({ kind: 'hung', ranks: '2' });
    expect(hang.after).toBeLessThan(IN_TIME);
  });

  it('and whose culprit has its files on another node', async () => {
    void live.start(`--ranks 4 ${LOOP} --fault skip:3@100 --hang-seconds 200 --timeout 240`);
    const node = path.join(live.folder, 'node');
    mkdirSync(node);
    for (const rank of [0, 1]) {
      const name = `rank0000${rank}.bin`;
      for (;;) {
        try {
          linkSync(path.join(live.recording, name), path.join(node, name));
          break;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    }
    const watcher = startWatch(node, '--hung-after', '5', '--linger', '1', '--stacks', 'off');
    await watcher.says(/incident:/);
    await live.end();
    const { out } = await watcher.ended;
    expect(out).toMatch(
      /HUNG: AllReduce seq 100 on world \(4 ranks\): this node waits for others: rank 3, no file here\n/,
    );
  });
});

it.skipIf(spawnSync('gdb', ['--version']).error !== undefined)(
  'stacks of a native process, by gdb',
  async () => {
    const { incident } = await watchedHang(`--ranks 2 ${LOOP} --fault skip:1@50`, 2, '--stacks', 'gdb');
    const { stacks } = incident.suspects[0]!;
    expect(stacks).toMatchObject({ by: 'gdb', why: null });
    expect(stacks!.text).toContain('nccl_trace::RecorderThread::Loop');
  },
);

it('the output of --exec does not mix with ours', async () => {
  const file = path.join(live.folder, 'pid');
  const hang = await watchedHang(
    `--ranks 2 ${LOOP} --fault kill:1@10`,
    100,
    ...['--every', '1', '--exec', `echo hello; cat > ${file}`],
  );
  expect(hang.err).toContain('hello\n');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ kind: 'hung' });
});
