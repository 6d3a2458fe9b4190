/**
 * `npm run fuzz -- --seconds N`: recorded files with forged numbers (test/support/forged/forged_values.ts), read by the kernel and by the
 * stranger's reader (test/strangers), which must agree, and every so often merged with the other files of their run, which must go on without
 * them. A finding is printed with its seed; `--seed S --once` shows it again. Ends with 1 where there was any.
 *
 * `--repeats`: only merges, of files in which one record is repeated thousands of times (test/support/forged/grown_file.ts). The most expensive
 * merges are printed at the end.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';

import { FILE_HEADER } from '../../src/rankfile/format/constants.js';
import { type Forgery, forger, type Random, randomOf } from '../support/forged/forged_values.js';
import { grower } from '../support/forged/grown_file.js';
import { readByStranger, readByUs, type Reading } from '../strangers/readings.js';
import { mergeWith, recordedAt, type Sample, samplesIn } from './run_with.js';

const MERGE_EVERY = 25;
/** Files for the stranger at a time: it starts Python. */
const READ_AT_ONCE = 20;
/** Bytes. The stranger takes ten seconds for the large ones. */
const LARGEST = 500e3;
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
  /** Where rank_file.py is, if not where it was. */
  readonly stranger?: string;
  /** Only files with so many copies of a record. */
  readonly copies?: number | undefined;
  readonly onFinding?: (finding: Finding) => void;
}

/** A tick further from the start than 2^53: our reader may return a neighbour of it (rule 5 of schemas/rank-file.md). */
function isRounded(change: string, recorded: Uint8Array): boolean {
  const start = new DataView(recorded.buffer).getBigUint64(FILE_HEADER.startTick, true);
  const apart = BigInt(change.split(' = ')[1]!) - start;
  return /tick\[|received\[|done\[/i.test(change) && (apart > 2n ** 53n || apart < -(2n ** 53n));
}

interface Read extends Finding {
  readonly file: string;
  readonly ours: Reading;
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
  const forStranger: Read[] = [];
  const compare = (): void => {
    const theirs = readByStranger(
      forStranger.map(({ file }) => file),
      options.stranger,
    );
    forStranger.splice(0).forEach(({ seed, what, ours }, i) => {
      if (!isDeepStrictEqual(theirs[i], ours)) found(seed, `${what}\n  the stranger reads something else`);
    });
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
        const place = path.join(folder, `${forStranger.length}.bin`);
        writeFileSync(place, bytes);
        const ours = readByUs(place);
        if (ours === 'refused') refused++;
        reads++;
        const recorded = recordedAt(sample, which);
        const isExact =
          options.copies === undefined && !changes.some((change) => isRounded(change, recorded));
        if (isExact && bytes.length <= LARGEST) forStranger.push({ seed, what, file: place, ours });
        if (forStranger.length === READ_AT_ONCE) compare();
        if (seed % options.mergeEvery !== 0) continue;
        merges++;
        const { cpuMs } = await mergeWith(sample, which, bytes, path.join(folder, 'run'));
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
    compare();
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
  const result = await fuzz({
    samples,
    seed: Number(values.seed),
    seconds: Number(values.seconds),
    runs: values.once ? 1 : Infinity,
    mergeEvery: values.once || values.merges || values.repeats ? 1 : MERGE_EVERY,
    stranger: path.join(root, 'test/strangers/rank_file.py'),
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
    `${reads} files read (${refused} refused), ${merges} runs merged, ${findings.length} findings; ` +
      `go on with --seed ${nextSeed}`,
  );
  process.exitCode = findings.length > 0 ? 1 : 0;
}
