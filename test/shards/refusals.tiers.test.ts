/** What the steps of a merge refuse, and in which words; and that a step does nothing twice. */

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { NoUsableInput } from '../../src/base/errors.js';
import { makePart } from '../../src/shards/convert_step.js';
import { joinTrace } from '../../src/shards/join_step.js';
import { makeScan } from '../../src/shards/scan_step.js';
import { SectionWriter } from '../../src/shards/sections.js';
import { diagnoseStudy } from '../../src/shards/study_file.js';
import { makeStudy } from '../../src/shards/study_step.js';
import { diagnose } from '../../src/report/diagnosis.js';
import { runHere } from '../support/program/command_line.js';
import { seeded } from '../support/clocks/simulated_links.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { inTier } from '../support/tiers/tier.js';

const samples = fileURLToPath(new URL('../../samples', import.meta.url));
const rank = (number: number, sample = 'hosts'): string =>
  path.join(samples, sample, `rank0000${number}.bin`);
const folder = folderOfFile();
const at = (name: string): string => path.join(folder, name);

beforeAll(async () => {
  await makeScan({ inputs: [rank(0), rank(1)], output: at('a.scan'), jobs: 1 });
  await makeScan({ inputs: [rank(2), rank(3)], output: at('b.scan'), jobs: 1 });
  await makeScan({ inputs: [path.join(samples, 'hang')], output: at('other.scan'), jobs: 1 });
  await makeStudy({ inputs: [at('a.scan'), at('b.scan')], output: at('run.study') });
  await makePart({ study: at('run.study'), inputs: [rank(0), rank(1)], output: at('a.part'), jobs: 1 });
});

const study = (scans: readonly string[], more = {}) =>
  makeStudy({ inputs: scans.map(at), output: at('new.study'), ...more });
const join = (parts: readonly string[], more = {}) =>
  joinTrace({
    study: at('run.study'),
    parts: parts.map(at),
    output: at('new.pftrace'),
    force: true,
    ...more,
  });

describe('study refuses', () => {
  it('an incomplete run, and names the ranks', async () => {
    await expect(study(['a.scan'])).rejects.toThrow(/^no scan has ranks 2-3 \(of 4\);.*--allow-missing$/);
  });

  it('scans of two runs', async () => {
    await expect(study(['a.scan', 'b.scan', 'other.scan'])).rejects.toThrow(
      /\.scan: is of run .*, but the newest run of these scans is .*; name the scans of one run, or choose with --run/,
    );
  });

  it('one scan twice, and one rank file in two scans', async () => {
    writeFileSync(at('copy.scan'), readFileSync(at('a.scan')));
    await expect(study(['a.scan', 'copy.scan', 'b.scan'])).rejects.toThrow(
      /copy\.scan: is the same as .*a\.scan/,
    );
    await makeScan({ inputs: [rank(1), rank(2)], output: at('c.scan'), jobs: 1 });
    await expect(study(['a.scan', 'c.scan', 'b.scan'])).rejects.toThrow(
      /has the scan of .*; name one of them/,
    );
  });

  it('a file of another build', async () => {
    const bytes = readFileSync(at('a.scan'));
    bytes.write('7f3a', bytes.indexOf('\n') + 1);
    writeFileSync(at('old.scan'), bytes);
    await expect(study(['old.scan', 'b.scan'])).rejects.toThrow(
      /old\.scan: was made by another version of nccl-trace; make it again with this one \("nccl-trace scan"\)/,
    );
  });

  it('values that only a newer Node can read', async () => {
    const writer = new SectionWriter(at('newer.scan'), 'scan');
    writer.bytes('head', Buffer.from([0xff, 0x7f, 0x30]));
    writer.close();
    await expect(study(['newer.scan', 'b.scan'])).rejects.toThrow(
      /newer\.scan: is damaged: this version of Node cannot read its values \(a newer one wrote it\?\); make it again/,
    );
  });

  it('a rank file in place of a scan', async () => {
    const mistaken = makeStudy({ inputs: [rank(0)], output: at('new.study') });
    await expect(mistaken).rejects.toThrow(
      /is not a \.scan file of nccl-trace; "nccl-trace scan FILES -o node\.scan" makes one/,
    );
  });
});

describe('join refuses', () => {
  it('missing ranks, which it names; --allow-missing goes on without them', async () => {
    await expect(join(['a.part'])).rejects.toThrow(/^no part has ranks 2-3; .*--allow-missing$/);
    const { problems } = await join(['a.part'], { allowMissing: true });
    expect(problems).toContain('no part has ranks 2-3: not drawn');
  });

  it('a part of another study, and a rank twice', async () => {
    await makeStudy({ inputs: [at('a.scan'), at('b.scan')], output: at('other.study'), hungAfter: 5e9 });
    await makePart({ study: at('other.study'), inputs: [rank(2), rank(3)], output: at('x.part'), jobs: 1 });
    await expect(join(['a.part', 'x.part'])).rejects.toThrow(/x\.part: was made for another study/);
    await makePart({ study: at('run.study'), inputs: [rank(1)], output: at('again.part'), jobs: 1 });
    await expect(join(['a.part', 'again.part'])).rejects.toThrow(
      /again\.part: has rank 1, and so has .*a\.part/,
    );
  });
});

describe('a step', () => {
  it('does nothing if its file is there, valid, and of the same input', async () => {
    const before = statSync(at('a.scan')).mtimeMs;
    expect(await makeScan({ inputs: [rank(0), rank(1)], output: at('a.scan'), jobs: 1 })).toBeNull();
    expect(await makeStudy({ inputs: [at('b.scan'), at('a.scan')], output: at('run.study') })).toBeNull();
    const part = { study: at('run.study'), inputs: [rank(0), rank(1)], output: at('a.part'), jobs: 1 };
    expect(await makePart(part)).toBeNull();
    expect(statSync(at('a.scan')).mtimeMs).toBe(before);
  });

  it('makes a damaged file again, and replaces one of other input with --force alone', async () => {
    const whole = readFileSync(at('a.scan'));
    writeFileSync(at('cut.scan'), whole.subarray(0, whole.length - 100));
    expect(await makeScan({ inputs: [rank(0), rank(1)], output: at('cut.scan'), jobs: 1 })).not.toBeNull();
    const other = { inputs: [rank(2)], output: at('cut.scan'), jobs: 1 };
    await expect(makeScan(other)).rejects.toThrow(/already exists; use --force/);
    expect(await makeScan({ ...other, force: true })).not.toBeNull();
  });
});

it('inspect and report take a .study', async () => {
  const expected = await diagnose([path.join(samples, 'hosts')]);
  expect(diagnoseStudy(at('run.study')).verdict).toEqual(expected.verdict);
  const inspected = await runHere(folder, 'inspect', at('run.study'));
  expect([inspected.code, inspected.out.split(' ')[0]]).toEqual([0, 'HEALTHY']);
  const report = await runHere(folder, 'report', at('run.study'), '--json');
  const ofFiles = await runHere(folder, 'report', path.join(samples, 'hosts'), '--json');
  // Only the suggested command differs: it names the folder instead of the files.
  const numbers = (text: string): object => ({ ...(JSON.parse(text) as object), next: null });
  expect(numbers(report.out)).toEqual(numbers(ofFiles.out));
});

it('every command that only reads takes a .study, and refuses options that came too late', async () => {
  const hosts = path.join(samples, 'hosts');
  for (const words of [
    ['collectives', '--json'],
    ['clocks', '--json'],
  ]) {
    const [command, form] = words as [string, string];
    const ofStudy = await runHere(folder, command, at('run.study'), form);
    const ofFiles = await runHere(folder, command, hosts, form);
    expect([command, ofStudy.out]).toEqual([command, ofFiles.out]);
  }
  const page = await runHere(folder, 'report', at('run.study'), '-o', at('page.html'));
  expect([page.code, page.err]).toEqual([0, expect.stringContaining('without its trace')]);
  expect(readFileSync(at('page.html'), 'utf8')).toContain('HEALTHY');
  const late = await runHere(folder, 'report', at('run.study'), '--json', '--redact');
  expect([late.code, late.err]).toEqual([2, expect.stringContaining('give --redact to "nccl-trace study"')]);
  const merged = await runHere(folder, 'merge', at('run.study'));
  expect([merged.code, merged.err]).toEqual([
    3,
    expect.stringContaining('is a .study of nccl-trace, not a rank file'),
  ]);
});

/** Each changed byte is in the first lines, in a frame, in the table or in the end, and each of them is checked. */
it('damaged and cut files are refused with one sentence, never with another error', async () => {
  const random = seeded(77);
  const whole = readFileSync(at('a.scan'));
  const sentences = new Set<string>();
  for (let round = 0; round < inTier({ first: 50, long: 20_000 }); round++) {
    const bytes = Buffer.from(whole);
    const place = Math.floor(random() * (round % 10 === 0 ? 64 : bytes.length));
    bytes[place]! ^= 1 + Math.floor(random() * 255);
    const cut = round % 5 === 0 ? place : bytes.length;
    writeFileSync(at('damaged.scan'), bytes.subarray(0, cut));
    const made = await study(['damaged.scan', 'b.scan'], { force: true }).catch((error: unknown) => error);
    expect(made, `byte ${place} of ${cut}`).toBeInstanceOf(NoUsableInput);
    sentences.add((made as Error).message.replace(/^.*damaged\.scan: /, ''));
  }
  expect([...sentences].map((one) => one.slice(0, 40)).sort()).toEqual([
    'is damaged: a check does not match; make',
    'is damaged: its end is missing (the copy',
    'is not a .scan file of nccl-trace; "nccl',
    'was made by another version of nccl-trac',
  ]);
});
