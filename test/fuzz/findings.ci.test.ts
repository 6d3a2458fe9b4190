/**
 * What fuzzing has found, each as the change that showed it: one number of a recorded file, every check made good again.
 * The run of the other files is merged as ever, the file is named with what is wrong, and nothing takes long.
 */

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

import { ForgedFile } from '../support/forged/forged_file.js';
import { randomOf } from '../support/forged/forged_values.js';
import { grower } from '../support/forged/grown_file.js';
import { merge } from '../../src/merge.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';
import { mergeWith, recordedAt, type Sample, samplesIn } from './run_with.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const samples = new Map(samplesIn(path.join(root, 'samples')).map((sample) => [sample.name, sample]));

const MOST_64 = 2n ** 64n - 1n;
const MOST_32 = 2n ** 31n - 1n;
const RECORD = 'records with an impossible time or count, left out';

type Finding = readonly [sample: string, field: string, value: bigint | number, told: string];

const findings: readonly Finding[] = [
  ['mismatch', 'host.StartColl.tick', MOST_64, RECORD],
  ['healthy', 'host.StartColl.tick', MOST_64, RECORD],
  ['healthy', 'host.Stop.tick', 2n ** 63n, RECORD],
  ['healthy', 'steps.Fold.lastTick', 2n ** 63n, RECORD],
  ['healthy', 'steps.Fold.repeats', MOST_64, RECORD],
  ['healthy', 'communicators.Communicator.tick', MOST_64, RECORD],
  ['healthy', 'communicators.Communicator.rank', MOST_32, 'impossible rank'],
  ['healthy', 'communicators.Communicator.nRanks', MOST_32, 'impossible nRanks'],
  ['healthy', 'communicators.Communicator.nRanks', 2 ** 24, 'impossible nRanks'],
  ['healthy', 'heartbeat.ClockSample.tick', MOST_64, RECORD],
  ['healthy', 'clock.ClockSample.tick', 0, RECORD],
  ['healthy', 'clock.ClockSample.realtime', MOST_64, 'impossible realtime'],
  ['healthy', 'clock.ClockSample.realtime', 0, 'impossible realtime'],
  ['healthy', 'clock.ClockSample.monotonic', MOST_64, 'impossible monotonic'],
  ['healthy', 'leases.Lease.position', MOST_64, 'impossible position'],
  ['healthy', 'header.startRealtime', MOST_64, 'the wall clock at its start cannot be true'],
  ['healthy', 'header.startRealtime', 0, 'the wall clock at its start cannot be true'],
  ['healthy', 'header.startMonotonic', MOST_64, 'the monotonic clock at its start cannot be true'],
  ['healthy', 'header.startTick', MOST_64, RECORD],
  ['mismatch', 'header.tickHz', 13, 'the frequency of its counter cannot be true'],
  ['healthy', 'header.rank', MOST_32, 'rank cannot be true, read as unknown'],
  ['healthy', 'header.rank', 2 ** 24, 'rank cannot be true, read as unknown'],
  ['healthy', 'header.worldSize', MOST_32, 'world_size cannot be true, read as unknown'],
  ['healthy', 'header.sampleEvery', 0, 'sample_every cannot be true, read as 0'],
  ['healthy', 'header.eventMask', MOST_64, 'event_mask cannot be true, read as 0'],
  ['healthy', 'host.live.folded', MOST_64, 'heads and counters of areas that cannot be true'],
];

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

const forged = (sample: Sample, field: string, value: bigint | number): Uint8Array =>
  new ForgedFile(recordedAt(sample, 1)).set(field, value).bytes;

it.each(findings)('%s: %s is %d', async (name, field, value, told) => {
  const whole = samples.get(name)!;
  const sample = { ...whole, files: whole.files.slice(0, 2) };
  const { report, refused, cpuMs } = await mergeWith(sample, 1, forged(sample, field, value), folder);
  expect(refused).toBeNull();
  expect(JSON.stringify(report)).toContain(told);
  // A clock that cannot be true costs its file, anything else costs no file at all.
  const leftOut = sample.files.length - report!.ranks.length;
  expect(leftOut).toBe(told.startsWith('the ') ? 1 : 0);
  expect(cpuMs).toBeLessThan(4000);
});

it('a name that does not end does not become an option of the suggested command', async () => {
  const sample = samples.get('slow-gpu')!;
  const bytes = forged(sample, 'communicators.Communicator.nameLength', 261);
  const { report } = await mergeWith(sample, 1, bytes, folder);
  expect(report!.ranks.flatMap(({ problems }) => problems)).toEqual([]);
  expect(JSON.stringify(report)).not.toContain('\\u0000');
});

it('a communicator that a rank knows by another id does not end the run of the others', async () => {
  const sample = samples.get('dead-node')!;
  const bytes = forged(sample, 'communicators.Communicator.commId', 7_455_189_851_770);
  const { report } = await mergeWith(sample, 1, bytes, folder);
  expect(report!.ranks).toHaveLength(sample.files.length);
  // If the suggested command names a communicator, a file has it.
  const comm = /--comm (\S+)/.exec(report!.suggestion?.command ?? '')?.[1];
  const select = comm === undefined ? {} : { comms: [comm] };
  const output = path.join(folder, 'closer.pftrace');
  await expect(merge({ inputs: [folder], output, jobs: 1, select })).resolves.toMatchObject({ output });
});

it('a host with a wall clock in 1970 is merged with the others', async () => {
  const sample = samples.get('hosts')!;
  for (const [which, ns] of [
    [3, 2_696_385],
    [1, 1],
  ] as const) {
    const bytes = new ForgedFile(recordedAt(sample, which)).set('header.startRealtime', ns).bytes;
    const { report } = await mergeWith(sample, which, bytes, folder);
    expect(report!.ranks).toHaveLength(sample.files.length);
  }
});

it('a tick just before the start of the file draws no gap before the trace', async () => {
  const sample = samples.get('slow-gpu')!;
  const bytes = new ForgedFile(recordedAt(sample, 2)).set('header.startTick', 2n ** 48n - 1n).bytes;
  expect((await mergeWith(sample, 2, bytes, folder)).refused).toBeNull();
});

it('one step that began 65 hours later costs neither minutes nor the clocks of other hosts', async () => {
  const sample = samples.get('hosts')!;
  const file = new ForgedFile(recordedAt(sample, 0)).set('steps.StartProxyStep.tick', 2 ** 49 - 1, 38);
  const { report, cpuMs } = await mergeWith(sample, 0, file.bytes, folder);
  expect(report!.clocks.map(({ source }) => source)).toEqual(['realtime', 'traffic', 'traffic', 'traffic']);
  const impossible =
    /^\d+ pairs? of stamps from node003 to node000 would arrive more than an hour before they were sent/;
  expect(report!.traffic!.leftOut.filter((text) => impossible.test(text))).toHaveLength(1);
  expect(cpuMs).toBeLessThan(4000);
});

it('a wrong frequency of one counter costs nobody the clock', async () => {
  for (const [name, tickHz] of [
    ['hosts', 1e5],
    ['hosts', 1e11],
    ['dead-node', 1e11],
  ] as const) {
    const sample = samples.get(name)!;
    const [asRecorded, forged] = [
      await mergeWith(sample, 0, recordedAt(sample, 0), folder),
      await mergeWith(
        sample,
        0,
        new ForgedFile(recordedAt(sample, 0)).set('header.tickHz', tickHz).bytes,
        folder,
      ),
    ];
    const [before, after] = [asRecorded.report!, forged.report!];
    expect(after.clocks.map(({ source }) => source)).toEqual(before.clocks.map(({ source }) => source));
    expect(after.verdict.kind).toBe(before.verdict.kind);
    expect(after.ranks[0]!.problems).toContainEqual(expect.stringContaining('contradicts its clock samples'));
    expect(after.ranks.slice(1)).toEqual(before.ranks.slice(1));
  }
});

it('32,768 collectives in flight do not cost time with the square of their number', async () => {
  const sample = samples.get('graph')!;
  const { bytes, changes } = grower(recordedAt(sample, 0))!(randomOf(101), 32_768);
  expect(changes[0]).toBe('32768 times host.StartColl');
  const { refused, cpuMs } = await mergeWith(sample, 0, bytes, folder);
  expect(refused).toBeNull();
  expect(cpuMs).toBeLessThan(4000);
});
