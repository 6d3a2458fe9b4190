/** Plays a case: the loopback runs, and its files are read when and how the case says. */

import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRecording, type Running } from '../../test/support/jobs/loopback.js';
import { PROJECT } from '../../test/support/jobs/native.js';
import { drawSkews, skewRun } from '../../test/support/clocks/skewed_run.js';
import type { Case, FileFate } from './case.js';
import { dumpTruth } from './dumps.js';
import { judge, type Outcome } from './judge.js';
import { joinProcesses } from './one_process.js';
import { MEMORY } from './shapes.js';
import { isTrulySlow } from './truly_slow.js';
import { namingOf, namingOfDiff, namingOfDumps, type Naming } from './naming.js';

export interface Played {
  readonly case: Case;
  readonly naming: Naming;
  readonly outcome: Outcome;
  /** The loopback's exit code; null: it was ended after the look. */
  readonly code: number | null;
  readonly diagnosis: unknown;
  readonly seconds: number;
}

/** s: a job hangs for a few seconds only. */
export const HUNG_AFTER = 1;
/** ms: limit for a live look, which waits until the job is stuck. */
const PATIENCE = 30_000;
const ANY_HZ = 2e9;
const MEMORY_OF_THE_MACHINE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Gives the diagnosis of the files in a folder, as JSON; null: there is none. */
export type Look = (folder: string) => Promise<unknown>;

/** `folder` is made, and left to the caller. */
export async function play(one: Case, folder: string, look: Look = inspected): Promise<Played> {
  const begin = performance.now();
  mkdirSync(folder, { recursive: true });
  const memory = mkdtempSync(join(MEMORY_OF_THE_MACHINE, 'nccl-trace-verdict-'));
  try {
    return await playIn(one, folder, memory, begin, look);
  } finally {
    rmSync(memory, { recursive: true, force: true });
  }
}

async function playIn(one: Case, folder: string, memory: string, begin: number, look: Look): Promise<Played> {
  const placed = (text: string): string => text.replace(MEMORY, memory);
  const settings = Object.entries(one.settings).map(([name, value]) => [name, placed(value)]);
  const start = (place: string, args: string): Running =>
    startRecording(place, placed(args), {
      ...(Object.fromEntries(settings) as Record<string, string>),
      NCCL_TRACE_DIR: join(one.look.how === 'diff' ? place : folder, 'recording'),
    });
  const other = one.earlier && start(join(folder, 'earlier'), one.earlier.args);
  if (one.earlier?.isOver) {
    await other?.ended;
    removeAllBut(one.earlier.left, join(folder, 'recording'));
  } else if (one.earlier) await allThere(one.earlier, join(folder, 'recording'));
  const job = start(folder, one.args);
  const recording = join(folder, 'recording');
  let code: number | null = null;
  if (one.control) await allThere(one, recording);
  for (const options of one.control ?? []) {
    await sleep(1000);
    await program(['control', recording, ...options.split(' '), '--quiet']);
  }
  if (one.look.isLive) {
    let isOver = false;
    void job.ended.then(() => (isOver = true));
    await begun(one, folder, () => isOver);
  } else {
    ({ code } = await job.ended);
  }
  await sleep(one.look.after);
  const looked = await filesOf(one, folder, join(folder, 'looked'), memory);
  spoil(looked, one.files);
  const [diagnosis, naming] = await lookedAt(one, looked, join(folder, 'earlier', 'recording'), look);
  if (one.look.isLive) {
    job.end();
    await job.ended;
  }
  other?.end();
  await other?.ended;
  return {
    case: one,
    naming,
    // A healthy job that gave up, as on a machine that is too busy, did break off.
    outcome:
      one.truth === null && code !== null && code !== 0 && naming.kind === 'broken'
        ? 'true'
        : judge(one.truth, naming, (...slow) => isTrulySlow(join(folder, 'truth'), ...slow)),
    code,
    diagnosis,
    seconds: (performance.now() - begin) / 1000,
  };
}

async function lookedAt(one: Case, looked: string, earlier: string, look: Look): Promise<[unknown, Naming]> {
  switch (one.look.how) {
    case 'dumps': {
      const found = await inspectedDumps(looked);
      return [found, namingOfDumps(found as Parameters<typeof namingOfDumps>[0])];
    }
    case 'diff': {
      const found: unknown = JSON.parse(await program(['diff', earlier, looked, '--json']));
      return [found, namingOfDiff(found as Parameters<typeof namingOfDiff>[0])];
    }
    default: {
      const found = await look(looked);
      return [found, namingOf(found as Parameters<typeof namingOf>[0])];
    }
  }
}

/** The fault of a faulty job; of a healthy one that all ranks have a file. */
const begun = (one: Case, folder: string, isOver: () => boolean): Promise<void> =>
  one.truth === null
    ? allThere(one, join(folder, 'recording'))
    : waitUntil(() => existsSync(join(folder, 'truth', 'fault')) || isOver());

const ranksOf = ({ args }: { readonly args: string }): number => Number(/--ranks (\d+)/.exec(args)?.[1] ?? 2);

function allThere(job: { readonly args: string }, recording: string): Promise<void> {
  const ranks = ranksOf(job);
  return waitUntil(() => existsSync(recording) && rankFiles(recording).length >= ranks);
}

async function waitUntil(isSo: () => boolean): Promise<void> {
  const until = performance.now() + PATIENCE;
  while (!isSo() && performance.now() < until) await sleep(50);
}

const rankFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /rank\d+(\.\d+)?\.bin$/.test(name),
  );

/** Where to look; files that will be spoiled must be copies. */
async function filesOf(one: Case, folder: string, copy: string, memory: string): Promise<string> {
  const { look } = one;
  const recording = join(folder, 'recording');
  if (look.gpusPerProcess !== undefined) {
    await joinProcesses(recording, rankFiles(recording).sort(), look.gpusPerProcess, copy, program);
    return copy;
  }
  const isSpoiled = one.files.missing.length + one.files.cut.length > 0;
  switch (look.how === 'in place' && isSpoiled ? 'copy' : look.how) {
    case 'in place':
    case 'diff':
      return recording;
    case 'copy':
      cpSync(recording, copy, { recursive: true, preserveTimestamps: look.after % 2 === 0 });
      return copy;
    case 'hosts':
      skewRun(recording, copy, drawSkews(look.after + 1, rankFiles(recording).length, ANY_HZ));
      return copy;
    case 'dumps':
      dumpTruth(join(folder, 'truth'), copy, ranksOf(one), look.aheadMinutes);
      // PyTorch's default is one folder per user.
      if (one.earlier)
        dumpTruth(join(folder, 'earlier', 'truth'), join(copy, 'earlier'), ranksOf(one.earlier));
      return copy;
    case 'snapshot':
      await program(['snapshot', recording, '-o', copy, '--ring-dir', memory, '--quiet']);
      return copy;
  }
}

const rankIn = (name: string): number => Number(/rank(\d+)\.bin$/.exec(name)?.[1]);

function removeAllBut(ranks: readonly number[] | undefined, folder: string): void {
  if (ranks === undefined) return;
  for (const name of rankFiles(folder)) if (!ranks.includes(rankIn(name))) rmSync(join(folder, name));
}

function spoil(folder: string, { missing, cut }: FileFate): void {
  for (const name of rankFiles(folder)) {
    const rank = rankIn(name);
    if (missing.includes(rank)) rmSync(join(folder, name));
    const shortened = cut.find((file) => file.rank === rank);
    if (shortened !== undefined) truncateSync(join(folder, name), shortened.bytes);
  }
}

/** What `inspect --json` says of a folder. null: no verdict. */
export async function inspected(folder: string): Promise<unknown> {
  const out = await program(['inspect', folder, '--json', '--hung-after', String(HUNG_AFTER)]);
  const [line] = out.split('\n', 1);
  const parsed = line === undefined || line === '' ? {} : (JSON.parse(line) as { diagnosis?: unknown });
  return parsed.diagnosis ?? null;
}

async function inspectedDumps(folder: string): Promise<unknown> {
  const out = await program(['inspect', '--flight-recorder', folder, '--json']);
  return out === '' ? null : (JSON.parse(out) as { flightRecorder?: unknown }).flightRecorder;
}

function program(args: readonly string[]): Promise<string> {
  return new Promise((done) => {
    const options = { maxBuffer: 1 << 28 };
    execFile(process.execPath, [join(PROJECT, 'bin', 'nccl-trace.js'), ...args], options, (_, out) => {
      done(out);
    });
  });
}
