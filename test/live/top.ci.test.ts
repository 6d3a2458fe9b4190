/** `top` in a real terminal (tmux) beside a job that hangs while it is watched: what a person sees, and that the terminal is as before. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { columns } from '../../src/report/text.js';
import { startRecording, type Running } from '../support/jobs/loopback.js';
import { PROGRAM } from '../support/program/program.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

const noTmux = spawnSync('tmux', ['-V']).error !== undefined;

let folder: string;
let remove: () => void;
let job: Running | undefined;
beforeEach(() => {
  ({ folder, remove } = temporaryFolder());
});
afterEach(async () => {
  if (existsSync(socket())) tmux('kill-server');
  job?.end();
  await job?.ended;
  job = undefined;
  remove();
});

const socket = (): string => path.join(folder, 'tmux');
const tmux = (...args: string[]): string =>
  execFileSync('tmux', ['-S', socket(), '-f', '/dev/null', ...args], { encoding: 'utf8' });
const screen = (): string => tmux('capture-pane', '-p');
const keys = (...names: string[]): void => void tmux('send-keys', ...names);

async function see(what: RegExp): Promise<string> {
  let text = '';
  await expect.poll(() => (text = screen())).toMatch(what);
  return text;
}

async function startTop(settings = '', more = ''): Promise<void> {
  // Its server keeps what it is given.
  execFileSync(
    'tmux',
    [
      '-S',
      socket(),
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      '80',
      '-y',
      '24',
      '-c',
      folder,
      'env PS1="$ " bash --norc',
    ],
    { stdio: 'ignore' },
  );
  await see(/^\$/m);
  keys(`echo before; ${settings} ${process.execPath} ${PROGRAM} top recording --every 1 --hung-after 5 ${more}; echo code $?; stty -a`, 'Enter'); // prettier-ignore
}

const startJob = (): void => {
  const loop = '--ranks 4 --iterations 100000 --ops allreduce:64K,sleep:20ms';
  job = startRecording(folder, `${loop} --fault skip:3@60 --hang-seconds 200 --timeout 240`);
};

describe.skipIf(noTmux)('top', () => {
  it('shows a hang with its suspects first, at 80x24, and each key does what it says', async () => {
    startJob();
    await startTop();
    const hung = await see(/HUNG: AllReduce seq 60/);
    for (const line of hung.split('\n')) expect(columns(line)).toBeLessThanOrEqual(80);
    expect(hung).toMatch(/rank 3 never entered it/);
    const ranks = [...hung.matchAll(/^ (.)(\d) .*runs/gm)].map(([, mark, rank]) => `${mark}${rank}`);
    expect(ranks).toHaveLength(4);
    expect(ranks.filter((one) => one.startsWith('!'))).toContain('!3');
    expect(ranks[0]).toMatch(/^!/);
    expect(hung).toMatch(/^ [! ]1 .*AllReduce 60 +\d.*s +ch \d (send|recv) \d+\/\d+/m);
    expect(hung).toMatch(/^q quit/m);
    keys('s');
    expect(await see(/by rank/)).toMatch(/^ .0 [^]*^ .1 [^]*^ .2 [^]*^ !3 /m);
    keys('c');
    await see(/on world \(4 ranks\)/);
    keys('Down', 'Enter');
    expect(await see(/^rank 0: runs, pid \d+/m)).toMatch(/world: entered AllReduce 60.*1 open/);
    keys('Escape');
    await see(/^>.0 /m);
    keys('w');
    await see(/snapshot: \S/);
    const [made] = readdirSync(folder).filter((name) => name.startsWith('nccl-trace-snapshot-'));
    expect(readdirSync(path.join(folder, made!))).toHaveLength(4);
    keys('q');
    expect(await see(/code 0/)).toMatch(/before\ncode 0/);
  });

  it.each([
    ['C-c', 130],
    ['SIGTERM', 143],
    ['crash', null],
  ])('after %s the terminal is as it was', async (how, code) => {
    startJob();
    const module = 'process.once("SIGUSR2", () => { throw new Error("on purpose"); });';
    writeFileSync(path.join(folder, 'crash.mjs'), module);
    await startTop(how === 'crash' ? 'NODE_OPTIONS=--import=./crash.mjs' : '');
    await see(/rank +state/);
    if (how === 'C-c') keys('C-c');
    else {
      const pane = tmux('display-message', '-p', '#{pane_pid}').trim();
      const [pid] = execFileSync('pgrep', ['-P', pane], { encoding: 'utf8' }).split('\n');
      process.kill(Number(pid), how === 'crash' ? 'SIGUSR2' : 'SIGTERM');
    }
    const after = await see(/code \d+/);
    expect(after).toMatch(/before\n/);
    expect(after).not.toMatch(/by trouble/);
    if (code === null) expect(after).toMatch(/on purpose[^]*code [1-9]/);
    else expect(after).toMatch(new RegExp(`code ${code}$`, 'm'));
    expect(await see(/ icanon[^]* echo /)).not.toMatch(/-icanon|-echo /);
    expect(tmux('display-message', '-p', '#{cursor_flag} #{alternate_on}').trim()).toBe('1 0');
  });

  it('has colours, and none with NO_COLOR', async () => {
    startJob();
    await startTop('NO_COLOR=1');
    await see(/HUNG/);
    expect(tmux('capture-pane', '-p', '-e')).not.toMatch(/\[[\d;]*3[0-7]mHUNG/);
    keys('q');
    await see(/code 0/);
    keys(`${process.execPath} ${PROGRAM} top recording --every 1 --hung-after 5`, 'Enter');
    await see(/HUNG[^]*runs/);
    expect(tmux('capture-pane', '-p', '-e')).toMatch(/\[[\d;]*3[0-7]mHUNG/);
  });

  it('without a terminal it prints a line when the verdict changes', async () => {
    startJob();
    await startTop('', '> top.log & sleep 1; tail -f top.log');
    const said = await see(/HUNG: AllReduce seq 60/);
    expect(said).toMatch(/^\d{4}-\d\d-\d\dT\S+Z {2}HUNG/m);
    expect(said).not.toContain('by trouble');
  });
});
