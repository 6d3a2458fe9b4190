/** A snapshot has all records up to the moment it was made, also of a stopped process that cannot help. */

import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kind } from '../../src/rankfile/format/constants.js';
import { openRankFile } from '../../src/rankfile/index.js';
import { IN_MEMORY } from '../recorder/programs.js';
import { type Puppet, startPuppet } from '../support/jobs/puppet.js';
import { runHere, type TextResult } from '../support/program/command_line.js';
import { runProgram } from '../support/program/program.js';

let folder: string;
let job: Puppet;
beforeEach(() => {
  folder = mkdtempSync(path.join(IN_MEMORY, 'nccl-trace-snapshot-'));
});
afterEach(async () => {
  await job.kill();
  rmSync(folder, { recursive: true });
});

function puppet(settings: Readonly<Record<string, string>>): Puppet['tell'] {
  const env = { NCCL_TRACE_DIR: path.join(folder, 'run'), RANK: '0', ...settings };
  job = startPuppet(env);
  return job.tell;
}

const rankFile = (): string => path.join(folder, 'run/rank00000.bin');
const colls = (file: string): number =>
  openRankFile(file).rings.reduce(
    (sum, { records }) => sum + records.kind.filter((kind) => kind === Kind.StartColl).length,
    0,
  );

const snapshot = (...args: string[]): Promise<TextResult> => runHere(folder, 'snapshot', ...args);

describe.each(['flight', 'stream'])('of a process that is stopped, in %s mode,', (mode) => {
  it.each(['none', 'rings'])('with NCCL_TRACE_RING_DIR=%s', async (place) => {
    const rings = path.join(folder, 'rings');
    mkdirSync(rings);
    const tell = puppet({ NCCL_TRACE_MODE: mode, NCCL_TRACE_RING_DIR: place === 'none' ? place : rings });
    // In stream mode more than the ring holds, so that there are chunks.
    const calls = mode === 'flight' ? 500 : 6_000;
    for (let said = 0; said < calls; said += 500) await tell('coll 500');
    job.process.kill('SIGSTOP');
    const out = path.join(folder, 'snap');
    const { err, ...said } = await snapshot(path.join(folder, 'run'), '-o', out, '--ring-dir', rings);
    expect(said).toEqual({ code: 0, out: `${out}/rank00000.bin\n` });
    expect(err).toContain(place === 'none' ? 'rings from its rank file' : 'rings from its ring file');
    const copy = openRankFile(path.join(out, 'rank00000.bin'));
    expect(copy.header).toMatchObject({ placement: 'in-file', life: 'recording', mode });
    // The snapshot states its time, so that it is not taken for the file of a rank that disappeared.
    expect(copy.header.snapshotRealtime).toBeGreaterThan(copy.header.startRealtime);
    expect(openRankFile(rankFile()).header.snapshotRealtime).toBeNull();
    // Five slots each, a start and a stop; a gap may cut those it begins and ends in.
    const missing = copy.rings
      .flatMap(({ gaps }) => gaps)
      .reduce((sum, { from, end }) => sum + end - from + 10, 0);
    expect(colls(path.join(out, 'rank00000.bin')) * 5 + missing).toBeGreaterThanOrEqual(calls * 5);
    if (mode === 'flight') expect(colls(path.join(out, 'rank00000.bin'))).toBe(calls);
    expect(readdirSync(out)).toEqual(['rank00000.bin']);
  });
});

it('follows no path that it cannot trust, and says so', async () => {
  const rings = path.join(folder, 'rings');
  mkdirSync(rings);
  const tell = puppet({ NCCL_TRACE_RING_DIR: rings });
  await tell('coll 10');
  job.process.kill('SIGSTOP');
  let number = 0;
  const reason = async (...args: string[]): Promise<string> => {
    const to = path.join(folder, `snap${number++}`);
    const { code, err } = await snapshot(rankFile(), '-o', to, '--strict', ...args);
    expect(code).toBe(1);
    return err;
  };
  // Also with --quiet: the exit code alone would not say why.
  for (const args of [['--quiet'], []])
    expect(await reason(...args)).toMatch(
      /rings from the copy in the rank file, which may be older: .* is not in \/dev\/shm/,
    );
  const place = path.join(rings, `nccl-trace-${process.getuid!()}`);
  const [name] = readdirSync(place);
  const file = path.join(place, name!);
  chmodSync(place, 0o755);
  expect(await reason('--ring-dir', rings)).toContain('is not private');
  chmodSync(place, 0o700);
  // Another process's rings, and a link.
  const bytes = readFileSync(file);
  await job.kill();
  unlinkSync(file);
  expect(await reason('--ring-dir', rings)).toContain('is not here');
  symlinkSync(path.join(folder, 'elsewhere'), file);
  writeFileSync(path.join(folder, 'elsewhere'), bytes);
  expect(await reason('--ring-dir', rings)).toContain('cannot be opened (ELOOP)');
  unlinkSync(file);
  bytes[60] = bytes[60]! ^ 1; // of the boot id
  writeFileSync(file, bytes);
  expect(await reason('--ring-dir', rings)).toContain('is of another process');
});

it('overwrites nothing', async () => {
  const tell = puppet({ NCCL_TRACE_RING_DIR: 'none' });
  await tell('coll 10');
  const out = path.join(folder, 'snap');
  expect((await snapshot(rankFile(), '-o', out)).code).toBe(0);
  const again = await snapshot(rankFile(), '-o', out);
  expect(again.code).toBe(4);
  expect(again.err).toContain('rank00000.bin: exists');
  // Neither is a link to nothing replaced, nor a file that has an unlucky name, nor anything left.
  const other = path.join(folder, 'other');
  mkdirSync(other);
  symlinkSync('nowhere', path.join(other, 'rank00000.bin'));
  writeFileSync(path.join(other, 'rank00000.bin.part'), 'precious');
  expect((await snapshot(rankFile(), '-o', other)).err).toContain('rank00000.bin: exists');
  expect(readdirSync(other).sort()).toEqual(['rank00000.bin', 'rank00000.bin.part']);
  expect(readFileSync(path.join(other, 'rank00000.bin.part'), 'utf8')).toBe('precious');
  const onto = await snapshot(rankFile(), '-o', path.join(other, 'rank00000.bin.part'));
  expect(onto).toMatchObject({ code: 4 });
  expect(onto.err).toMatch(/cannot be written: .*; name another folder/);
  expect((await snapshot(rankFile(), '-o', path.dirname(rankFile()))).err).toContain('rank00000.bin: exists');
});

it('two snapshots into one folder: each file is there once, whole, and one of the two says so', async () => {
  await puppet({ NCCL_TRACE_RING_DIR: 'none' })('coll 10');
  // Many files, as of a node with many ranks.
  for (let i = 1; i < 16; i++) cpSync(rankFile(), path.join(folder, 'run', `rank000${10 + i}.bin`));
  const out = path.join(folder, 'snap');
  const both = await Promise.all([1, 2].map(() => runProgram(folder, 'snapshot', 'run', '-o', out)));
  const made = both.flatMap((one) => one.out.toString().trim().split('\n'));
  expect(new Set(made).size).toBe(made.length);
  for (const { code, err } of both) {
    expect(err).not.toContain('Warning');
    if (code !== 0) expect(err).toMatch(/rank000\d\d.bin: (exists|was made meanwhile, by another process)/);
  }
  expect(both.map(({ code }) => code).sort()).toEqual([0, 4]);
  // Neither leaves a work folder.
  const names = readdirSync(out);
  expect(names.filter((name) => !/^rank\d+\.bin$/.test(name))).toEqual([]);
  for (const name of names) expect(colls(path.join(out, name))).toBe(10);
});
