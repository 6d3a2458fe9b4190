/**
 * What two readers make of the same file: ours, and rank_file.py, which was written from schemas/rank-file.md alone, in another language, by
 * someone who did not know the code.
 */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { RankFileError } from '../../src/base/errors.js';
import { openRankFile } from '../../src/rankfile/index.js';
import { factsOf, type RankFileFacts, type StrangersLine, strangersFacts } from './facts.js';

const script = fileURLToPath(new URL('rank_file.py', import.meta.url));

export type Reading = RankFileFacts | 'refused';

/** `where`: of rank_file.py. */
export function readByStranger(files: readonly string[], where = script): Reading[] {
  if (files.length === 0) return [];
  const run = spawnSync('python3', [where, ...files], { encoding: 'utf8', maxBuffer: 2 ** 29 });
  if (run.error !== undefined) throw new Error('this test needs python3 on the PATH', { cause: run.error });
  if (run.status !== 0) throw new Error(`rank_file.py failed: ${run.stderr}`);
  const lines = run.stdout.trimEnd().split('\n');
  return strangersFacts(lines.map((line) => JSON.parse(line) as StrangersLine));
}

export function readByUs(file: string): Reading {
  try {
    return factsOf(openRankFile(file));
  } catch (error) {
    if (error instanceof RankFileError) return 'refused';
    throw error;
  }
}
