/** A run of which one file is forged: what merge and inspect make of it, and what that costs. */

import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { NoUsableInput } from '../../src/base/errors.js';
import { merge } from '../../src/merge.js';
import type { MergeReport } from '../../src/report/report.js';

export interface Sample {
  readonly name: string;
  readonly files: readonly string[];
}

export function samplesIn(folder: string): Sample[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((name) => ({
      name,
      files: readdirSync(path.join(folder, name))
        .filter((file) => file.endsWith('.bin'))
        .sort()
        .map((file) => path.join(folder, name, file)),
    }));
}

export interface Outcome {
  /** Null where no file could be used; then the sentence says so. */
  readonly report: MergeReport | null;
  readonly refused: string | null;
  readonly cpuMs: number;
}

/** Throws what is no answer to bad input. The forged file takes the place of file `which`. */
export async function mergeWith(
  { files }: Sample,
  which: number,
  forged: Uint8Array,
  folder: string,
): Promise<Outcome> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  files.forEach((file, i) => {
    const place = path.join(folder, path.basename(file));
    if (i === which) writeFileSync(place, forged);
    else symlinkSync(path.resolve(file), place);
  });
  const output = path.join(folder, 'run.pftrace');
  const before = process.cpuUsage();
  const cpuMs = (): number => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  try {
    const report = await merge({ inputs: [folder], output, jobs: 1 });
    return { report, refused: null, cpuMs: cpuMs() };
  } catch (error) {
    if (!(error instanceof NoUsableInput)) throw error;
    return { report: null, refused: error.message, cpuMs: cpuMs() };
  }
}

export const recordedAt = (sample: Sample, which: number): Uint8Array =>
  new Uint8Array(readFileSync(sample.files[which]!));
