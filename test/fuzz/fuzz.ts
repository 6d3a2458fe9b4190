/**
 * `npm run fuzz -- --seconds N`: recorded files with forged numbers (test/support/forged/forged_values.ts), read by the kernel and by the
 * tests' own reader, which must agree, and every so often merged with the other files of their run, which must go on without them. A finding
 * is printed with its seed; `--seed S --once` shows it again. Ends with 1 where there was any.
 *
 *   slots   the loops alone (slots_fuzz.ts)                 a third of the time
 *   read    both readers, all samples                       most of the rest
 *   merge   the whole program in this process, all samples   one in `MERGE_EVERY`
 *
 * `--repeats`: only merges, of files in which one record is repeated thousands of times (test/support/forged/grown_file.ts). The most expensive
 * merges are printed at the end.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';

import { RankFileError } from '../../src/base/errors.js';
import { memorySource } from '../../src/rankfile/byte_source.js';
import { KernelFile } from '../../src/kernel/host/kernel_file.js';
import type { FileRecords } from '../../src/rankfile/record_reader.js';
import { parseRankFile } from '../../src/rankfile/rank_file.js';
import type { RankFile } from '../../src/rankfile/file_types.js';
import { type Forgery, forger, type Random, randomOf } from '../support/forged/forged_values.js';
import { ReferenceFile } from '../support/rank_files/reference_records.js';
import { grower } from '../support/forged/grown_file.js';
import { fuzzSlots, windowsOf } from './slots_fuzz.js';
import { mergeWith, recordedAt, type Sample, samplesIn } from './run_with.js';

const MERGE_EVERY = 25;
/** CPU of one merge of a sample; most take 50 ms. */
const MOST_MS = 2000;
/** With `--repeats`: copies of one record. */
const COPIES = 16_384;
const WORST = 5;

export interface Finding {
  readonly seed: number;
  readonly what: string;
}

export interface Cost extends Finding {
  readonly cpuMs: number;
}

export interface Fuzzed {
  readonly reads: number;
  readonly merges: number;
  readonly refused: number;
  readonly findings: readonly Finding[];
  /** The merges that took the most CPU. */
  readonly worst: readonly Cost[];
  readonly nextSeed: number;
}

export interface FuzzOptions {
  readonly samples: readonly Sample[];
  readonly seed: number;
  /** Whichever comes first. */
  readonly seconds: number;
  readonly runs: number;
  readonly mergeEvery: number;
  /** Forged are only fields with such names. */
  readonly fields?: RegExp | undefined;
  /** Only files with so many copies of a record. */
  readonly copies?: number | undefined;
  readonly onFinding?: (finding: Finding) => void;
}

/** What reading gives, or the sentence it fails with. */
function readBy(made: FileRecords, bytes: Uint8Array): RankFile | string {
  try {
    return parseRankFile(memorySource('rank.bin', bytes), made);
  } catch (error) {
    if (error instanceof RankFileError) return error.message;
    throw error;
  }
}

export async function fuzz(options: FuzzOptions): Promise<Fuzzed> {
  const { samples } = options;
  const forgers = new Map<string, ((random: Random) => Forgery) | null>();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'nccl-trace-fuzz-'));
  const findings: Finding[] = [];
  const found = (seed: number, what: string): void => {
    findings.push({ seed, what });
    options.onFinding?.({ seed, what });
  };
  let worst: Cost[] = [];
  let [reads, merges, refused, seed] = [0, 0, 0, options.seed];
  const until = performance.now() + options.seconds * 1000;
  try {
    for (; reads < options.runs && performance.now() < until; seed++) {
      const random = randomOf(seed);
      const sample = samples[random(samples.length)]!;
      const which = random(sample.files.length);
      const file = sample.files[which]!;
      if (!forgers.has(file)) forgers.set(file, forgerOf(recordedAt(sample, which), options));
      const forge = forgers.get(file);
      if (!forge) continue;
      const { bytes, changes } = forge(random);
      const what = `${sample.name}/${which}: ${changes.join(', ')}`;
      try {
        const read = readBy(new ReferenceFile(), bytes);
        if (typeof read === 'string') refused++;
        if (!isDeepStrictEqual(readBy(new KernelFile(), bytes), read))
          found(seed, `${what}\n  the kernel reads something else`);
        reads++;
        if (seed % options.mergeEvery !== 0) continue;
        merges++;
        const { cpuMs } = await mergeWith(sample, which, bytes, folder);
        worst.push({ seed, what, cpuMs });
        worst = worst.sort((a, b) => b.cpuMs - a.cpuMs).slice(0, WORST);
        if (cpuMs > MOST_MS) found(seed, `${what}\n  ${Math.round(cpuMs)} ms of CPU`);
      } catch (error) {
        found(
          seed,
          `${what}\n  ${String((error as Error).stack)
            .split('\n')
            .slice(0, 6)
            .join('\n  ')}`,
        );
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { reads, merges, refused, findings, worst, nextSeed: seed };
}

function forgerOf(
  recorded: Uint8Array,
  { copies, fields }: FuzzOptions,
): ((random: Random) => Forgery) | null {
  if (copies === undefined) return forger(recorded, { fields });
  const grow = grower(recorded);
  return grow && ((random) => grow(random, copies));
}

/** For scripts/fuzz.mjs. */
export async function main(root: string, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      merges: { type: 'boolean', default: false },
      repeats: { type: 'boolean', default: false },
      fields: { type: 'string', default: '.' },
      once: { type: 'boolean', default: false },
    },
  });
  const samples = samplesIn(path.join(root, 'samples'));
  const seconds = Number(values.seconds);
  const windows = samples.flatMap((sample) => windowsOf(recordedAt(sample, 0)));
  const slots =
    values.once || values.repeats
      ? null
      : fuzzSlots(windows, randomOf(Number(values.seed)), { runs: Infinity, seconds: seconds / 3 });
  for (const finding of slots?.findings.slice(0, 20) ?? []) console.log(finding);
  if (slots)
    console.log(
      `${slots.executions} times 64 slots read by the kernel and the reference (${slots.withRecords} with records), ` +
        `${slots.findings.length} findings`,
    );
  const result = await fuzz({
    samples,
    seed: Number(values.seed),
    seconds: (seconds * 2) / 3,
    runs: values.once ? 1 : Infinity,
    mergeEvery: values.once || values.merges || values.repeats ? 1 : MERGE_EVERY,
    copies: values.repeats ? COPIES : undefined,
    fields: new RegExp(values.fields),
    onFinding: ({ seed, what }) => {
      console.log(`seed ${seed}  ${what}`);
    },
  });
  const { reads, merges, refused, findings, worst, nextSeed } = result;
  for (const { seed, what, cpuMs } of worst)
    console.log(`${Math.round(cpuMs)} ms of CPU: seed ${seed}  ${what}`);
  console.log(
    `${reads} files read by the kernel and the reference (${refused} refused), ${merges} runs merged, ${findings.length} findings; ` +
      `go on with --seed ${nextSeed}`,
  );
  process.exitCode = findings.length + (slots?.findings.length ?? 0) > 0 ? 1 : 0;
}
