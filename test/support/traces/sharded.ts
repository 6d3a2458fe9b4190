/** Merges a run in steps, as many hosts would do it: random shards to scan, and other random shards to convert. */

import { join } from 'node:path';
import { makePart } from '../../../src/shards/convert_step.js';
import { joinTrace } from '../../../src/shards/join_step.js';
import { makeScan } from '../../../src/shards/scan_step.js';
import { makeStudy, type StudyStepOptions } from '../../../src/shards/study_step.js';
import { traceTexts } from '../../../src/report/headline.js';

export type SharedOptions = Partial<Omit<StudyStepOptions, 'inputs' | 'output'>>;

/** Puts each file into one of at most `most` shards. No shard is empty. */
export function randomShards(files: readonly string[], random: () => number, most = 4): string[][] {
  const shards: string[][] = Array.from({ length: 1 + Math.floor(random() * most) }, () => []);
  for (const file of files) shards[Math.floor(random() * shards.length)]!.push(file);
  return shards.filter((shard) => shard.length > 0);
}

/** Writes the trace `name` and all intermediate files into `folder`. Returns the path of the trace. */
export async function mergeInSteps(
  files: readonly string[],
  folder: string,
  random: () => number,
  options: SharedOptions = {},
  name = 'steps.pftrace',
): Promise<string> {
  const scans: string[] = [];
  for (const [i, inputs] of randomShards(files, random).entries()) {
    const output = join(folder, `${i}.scan`);
    await makeScan({ inputs, output, jobs: 1, run: options.run });
    scans.push(output);
  }
  const study = join(folder, 'run.study');
  const shuffled = scans.sort(() => random() - 0.5);
  await makeStudy({ ...options, inputs: shuffled, output: study, allowMissing: true });
  const parts: string[] = [];
  for (const [i, inputs] of randomShards(files, random).entries()) {
    const output = join(folder, `${i}.part`);
    await makePart({ study, inputs, output, jobs: 1 });
    parts.push(output);
  }
  const output = join(folder, name);
  await joinTrace({ study, parts, output, texts: traceTexts });
  return output;
}
