/**
 * A rank file that changes between the two passes over it, or while it is read: it was cut off, removed, replaced, or zeroed by
 * a disk that failed. The others are merged; or the merge ends with a sentence and writes nothing. Files are never mapped,
 * so there is no SIGBUS to survive.
 */

import { copyFileSync, readFileSync, readdirSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

import { OutputError } from '../../src/base/errors.js';
import { merge } from '../../src/merge.js';
import type { MergeReport } from '../../src/report/report.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

const samples = fileURLToPath(new URL('../../samples/', import.meta.url));

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

/** Merges with a change of rank 1 when `stage` begins. */
async function mergeWhile(
  sample: string,
  stage: 'clocks' | 'convert',
  change: (file: string) => void,
): Promise<MergeReport> {
  const names = readdirSync(path.join(samples, sample)).filter((name) => name.endsWith('.bin'));
  for (const name of names) copyFileSync(path.join(samples, sample, name), path.join(folder, name));
  let isDone = false;
  return merge({
    inputs: [folder],
    output: path.join(folder, 'run.pftrace'),
    jobs: 1,
    onProgress: (progress) => {
      if (isDone || progress.stage !== stage) return;
      isDone = true;
      change(path.join(folder, names[1]!));
    },
  });
}

const changes: readonly (readonly [string, (file: string) => void])[] = [
  [
    'cut off in the middle',
    (file) => {
      truncateSync(file, 60_000);
    },
  ],
  [
    'cut off in its header',
    (file) => {
      truncateSync(file, 100);
    },
  ],
  [
    'emptied',
    (file) => {
      truncateSync(file, 0);
    },
  ],
  [
    'removed',
    (file) => {
      unlinkSync(file);
    },
  ],
  [
    'replaced by another rank',
    (file) => {
      copyFileSync(path.join(path.dirname(file), 'rank00000.bin'), file);
    },
  ],
  [
    'replaced by a file of another run',
    (file) => {
      copyFileSync(path.join(samples, 'straggler/rank00001.bin'), file);
    },
  ],
  [
    'zeroed behind its header',
    (file) => {
      writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, 8192), Buffer.alloc(100_000)]));
    },
  ],
];

describe.each(['healthy', 'hosts', 'graph'])('%s', (sample) => {
  describe.each(['clocks', 'convert'] as const)('when %s begins', (stage) => {
    it.each(changes)('%s', async (name, change) => {
      const outcome = await mergeWhile(sample, stage, change).catch((error: unknown) => error);
      if (outcome instanceof Error) {
        expect(outcome).toBeInstanceOf(OutputError);
        expect(outcome.message).toContain('rank00001.bin');
        expect(outcome.message).toMatch(/nothing was written$/);
        expect(readdirSync(folder).filter((name) => !name.endsWith('.bin'))).toEqual([]);
      } else {
        expect((outcome as MergeReport).ranks.length).toBeGreaterThan(1);
        expect(readdirSync(folder)).toContain('run.pftrace');
      }
      if (name.startsWith('replaced'))
        expect(String(outcome)).toContain('was replaced by that of another process');
    });
  });
});
