/** `control` makes a running process record less, and then all again. Nothing else can be changed with it. */

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FILE_HEADER, HEADER_FIXED_BYTES, Kind } from '../../src/rankfile/format/constants.js';
import { crc32 } from '../../src/rankfile/format/crc32.js';
import { openRankFile, openRankFileHeader, requestControl } from '../../src/rankfile/index.js';
import { IN_MEMORY } from '../recorder/programs.js';
import { PROJECT } from '../support/jobs/native.js';
import { runHere } from '../support/program/command_line.js';
import { type Puppet, startPuppet } from '../support/jobs/puppet.js';

/** The file of a killed process, which still says that it records. */
const SAMPLE = path.join(PROJECT, 'samples/hang/rank00003.bin');

let folder: string;
let job: Puppet;
beforeEach(() => {
  folder = mkdtempSync(path.join(IN_MEMORY, 'nccl-trace-control-'));
  mkdirSync(path.join(folder, 'rings'));
});
afterEach(async () => {
  await job.kill();
  rmSync(folder, { recursive: true });
});

const start = (settings: Readonly<Record<string, string>>): void => {
  job = startPuppet({
    NCCL_TRACE_DIR: path.join(folder, 'run'),
    RANK: '0',
    ...settings,
  });
};
const file = (): string => path.join(folder, 'run/rank00000.bin');
const mask = async (): Promise<number> => Number(/mask (0x\w+)/.exec(await job.tell('coll 0'))?.[1]);
const count = (kind: number): number =>
  openRankFile(file()).rings.reduce(
    (sum, { records }) => sum + records.kind.filter((k) => k === kind).length,
    0,
  );

/** Long enough for any machine: the recorder gives way to everybody. */
const control = (...args: string[]) => runHere(folder, 'control', file(), '--wait', '60', ...args);

describe.each(['none', 'rings'])('with NCCL_TRACE_RING_DIR=%s', (place) => {
  const settings = (): Record<string, string> => ({
    NCCL_TRACE_RING_DIR: place === 'none' ? place : path.join(folder, 'rings'),
    NCCL_TRACE_EVENTS: 'Coll,ProxyOp,ProxyStep',
  });

  it('bits that were on at init are cleared and restored', async () => {
    start(settings());
    expect(await mask()).toBe(0x1a);
    const fewer = await control('--events', 'coll');
    expect(fewer.out).toBe(`${file()}: records Coll\n`);
    expect(fewer.code).toBe(0);
    expect(await mask()).toBe(0x2);
    await job.tell('communicator'); // and init does not bring them back
    expect(await mask()).toBe(0x2);
    expect(openRankFileHeader(file())).toMatchObject({ maskNow: 0x2, eventMask: 0x1a, hasChanged: true });
    const none = await control('--events', 'none', '--quiet');
    expect({ code: none.code, output: none.out + none.err }).toEqual({ code: 0, output: '' });
    expect(await mask()).toBe(0);
    const all = await control('--events', 'all');
    expect(all.out).toBe(`${file()}: records Coll,ProxyOp,ProxyStep\n`);
    expect(await mask()).toBe(0x1a);
  });

  it('bits that were off are not added, whoever asks', async () => {
    start(settings());
    expect(await mask()).toBe(0x1a);
    const more = await control('--events', 'Coll,KernelCh');
    expect(more.code).toBe(2);
    expect(more.err).toContain('KernelCh cannot be added');
    const { number } = requestControl(file(), openRankFileHeader(file()).tag, { events: 0x42, sample: 0 });
    await untilAnswered(number);
    expect(openRankFileHeader(file())).toMatchObject({ controlRefused: 1, maskNow: 0x1a, hasChanged: false });
    expect(await mask()).toBe(0x1a);
  });

  it('sampling changes', async () => {
    start(settings());
    await job.tell('coll 100');
    const { out } = await control('--sample', '4');
    expect(out).toBe(`${file()}: records Coll,ProxyOp,ProxyStep, 1 of 4 collectives\n`);
    await job.tell('coll 400'); // numbers 100 to 499
    await control('--sample', '1');
    await job.tell('coll 10');
    await job.end();
    expect(count(Kind.StartColl)).toBe(100 + 100 + 10);
    expect(openRankFileHeader(file())).toMatchObject({ sampleEvery: 1, sampleNow: 1, hasChanged: true });
  });
});

it('each change is in the file, also of a process that is killed', async () => {
  // Rings elsewhere: what is in the rank file has been copied there.
  start({ NCCL_TRACE_RING_DIR: path.join(folder, 'rings'), NCCL_TRACE_EVENTS: 'Coll,ProxyOp,ProxyStep' });
  expect(await mask()).toBe(0x1a);
  await control('--events', 'coll');
  await control('--events', 'all', '--sample', '4');
  await job.kill();
  const { changes, header, problems } = openRankFile(file());
  expect(problems).toEqual([]);
  expect(changes.map(({ number, events, sampleEvery }) => [number, events, sampleEvery])).toEqual([
    [0, 0x2, 1],
    [1, 0x1a, 4],
  ]);
  for (const { tick, done } of changes) expect(done).toBeGreaterThanOrEqual(tick);
  expect(header.changedTick).toBe(changes[1]!.tick);
});

it('a mask that NCCL itself replaces is a change, once', async () => {
  start({ NCCL_TRACE_RING_DIR: 'none', NCCL_TRACE_EVENTS: 'Coll,ProxyOp,ProxyStep' });
  await job.tell('mask 0x42');
  while (openRankFileHeader(file()).maskNow !== 0x42) await sleep(50);
  await job.tell('communicator'); // init writes its own mask, and NCCL the other one again
  const { out } = await control('--sample', '4', '--events', 'all');
  expect(out).toBe(`${file()}: records Coll,ProxyOp,ProxyStep, 1 of 4 collectives\n`);
  expect(await mask()).toBe(0x1a);
  await job.tell('mask 0');
  while (openRankFileHeader(file()).maskNow !== 0) await sleep(50);
  await job.end();
  const { changes, header, problems } = openRankFile(file());
  expect({ problems, eventMask: header.eventMask }).toEqual({ problems: [], eventMask: 0x1a });
  expect(changes.map(({ events, sampleEvery }) => [events, sampleEvery])).toEqual([
    [0x42, 1],
    [0x1a, 4],
    [0, 4],
  ]);
  for (const { tick, done } of changes) expect(done).toBeGreaterThan(tick);
});

it('garbage in the two words is no request', async () => {
  start({ NCCL_TRACE_RING_DIR: 'none', NCCL_TRACE_EVENTS: 'Coll' });
  expect(await mask()).toBe(0x2);
  const target = openSync(file(), 'r+');
  const end = Date.now() + 2_500; // the recorder looks once a second
  while (Date.now() < end) {
    writeSync(target, randomBytes(16), 0, 16, FILE_HEADER.controlWord);
    await job.tell('coll 10');
  }
  closeSync(target);
  expect(await mask()).toBe(0x2);
  expect(openRankFileHeader(file())).toMatchObject({ controlAnswered: 0, controlRefused: 0, maskNow: 0x2 });
});

it('a request that was replaced by another one is reported', async () => {
  start({ NCCL_TRACE_RING_DIR: 'none', NCCL_TRACE_EVENTS: 'Coll,ProxyOp,ProxyStep' });
  expect(await mask()).toBe(0x1a);
  job.process.kill('SIGSTOP'); // nobody answers meanwhile
  const overtaken = control('--events', 'coll');
  const isAsked = (): boolean => readFileSync(file()).readBigUInt64LE(FILE_HEADER.controlGeneration) !== 0n;
  while (!isAsked()) await new Promise((resolve) => setTimeout(resolve, 20));
  const { number } = requestControl(file(), openRankFileHeader(file()).tag, { events: 0x8, sample: 0 });
  const { code, out } = await overtaken;
  expect(out).toBe(`${file()}: another request has replaced this one; ask again\n`);
  expect(code).toBe(1);
  job.process.kill('SIGCONT');
  await untilAnswered(number);
  expect(await mask()).toBe(0x8);
});

it('if one file cannot be asked, none is; a file that disappears does not suppress other answers', async () => {
  start({ NCCL_TRACE_RING_DIR: 'none', NCCL_TRACE_EVENTS: 'Coll,ProxyOp,ProxyStep' });
  expect(await mask()).toBe(0x1a);
  const [copy, link] = ['copy.bin', 'rank-link.bin'].map((name) => path.join(folder, name)) as [
    string,
    string,
  ];
  copyFileSync(file(), copy);
  // It names our job's process, which has another file.
  const left = await control(copy, '--events', 'Coll,ProxyOp,ProxyStep');
  expect(left.err).toContain(`${copy}: it names a process that is not of this job; left out`);
  expect(await mask()).toBe(0x1a);
  symlinkSync(file(), link); // which no request follows
  const refused = await control(link, '--events', 'coll');
  expect(refused.code).toBe(4);
  expect(refused.err).toMatch(/rank-link\.bin: is a symbolic link, .*; no recorder was asked/);
  expect(await mask()).toBe(0x1a);
  expect(openRankFileHeader(copy).controlAnswered).toBe(0);
  expect(readFileSync(copy).readBigUInt64LE(FILE_HEADER.controlGeneration)).toBe(0n);

  const bytes = readFileSync(copy);
  bytes[FILE_HEADER.bootId]! ^= 1;
  bytes.writeUInt32LE(0, FILE_HEADER.headerCrc);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, HEADER_FIXED_BYTES)), FILE_HEADER.headerCrc);
  writeFileSync(copy, bytes);
  // Of a process of another node. Nobody answers for it; it goes while its answer is waited for.
  const asked = control(copy, '--events', 'coll');
  const isAsked = (): boolean => readFileSync(copy).readBigUInt64LE(FILE_HEADER.controlGeneration) !== 0n;
  while (!isAsked()) await new Promise((resolve) => setTimeout(resolve, 20));
  rmSync(copy);
  const { code, out } = await asked;
  expect(code).toBe(1);
  expect(out.split('\n').sort()).toEqual([
    '',
    `${copy}: no answer: does not exist`,
    `${file()}: records Coll`,
  ]);
  expect(await mask()).toBe(0x2);
});

it('a file that is closed is left out', async () => {
  start({ NCCL_TRACE_RING_DIR: 'none' });
  await job.tell('coll 1');
  await job.end();
  const { code, err } = await control('--events', 'none');
  expect(code).toBe(3);
  expect(err).toContain('closed; left out');
});

it('a file without a heartbeat for a minute is left out, and stays as it is', async () => {
  start({ NCCL_TRACE_RING_DIR: 'none' });
  const before = readFileSync(SAMPLE);
  const old = path.join(folder, 'old.bin');
  copyFileSync(SAMPLE, old);
  const { code, err } = await runHere(folder, 'control', old, '--events', 'none');
  expect(code).toBe(3);
  expect(err).toMatch(/old\.bin: no heartbeat for .*; left out/);
  expect(readFileSync(old).equals(before)).toBe(true);
});

async function untilAnswered(number: number): Promise<void> {
  for (let i = 0; i < 600 && openRankFileHeader(file()).controlAnswered !== number; i++)
    await new Promise((resolve) => setTimeout(resolve, 100));
  expect(openRankFileHeader(file()).controlAnswered).toBe(number);
}
