/** The verdict on recordings of test/fixtures, of which it is known what happened. */

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/report/diagnosis.js';
import { verdictText } from '../../../src/report/verdict_text.js';
import { suspects } from '../../../src/verdict/evidence/suspects.js';
import { unpackRecording } from './packed_recording.js';
import { temporaryFolder } from '../program/temporary_folder.js';

export interface Expected {
  readonly kind: string;
  /** s. */
  readonly hungAfter?: number;
  /** The ranks to look at, and no other before them. */
  readonly culprits?: readonly number[];
  /** The rules of `verdict.findings`, the headline's first. */
  readonly finds?: readonly string[];
  /** What the words say, line by line in any order. */
  readonly says?: readonly RegExp[];
  /** Another recording than the name says, less the files of one rank. */
  readonly lacks?: { readonly rank: number; readonly of: string };
}

/** `root`: the folder in test/fixtures. The keys of `recordings` are names in it. */
export function describeVerdicts(root: string, recordings: Readonly<Record<string, Expected>>): void {
  const { folder, remove } = temporaryFolder();
  afterAll(remove);

  describe.each(Object.entries(recordings))(
    '%s',
    (name, { kind, hungAfter, culprits, finds, says = [], lacks }) => {
      it('has the verdict of what happened', async () => {
        const recording = unpackRecording(lacks?.of ?? `${root}/${name}`, folder);
        if (lacks)
          for (const file of readdirSync(recording))
            if (file.startsWith(`rank0000${lacks.rank}.`)) rmSync(join(recording, file));
        const diagnosis = await diagnose([recording], { jobs: 1, hungAfter });
        const lines = verdictText(diagnosis);
        expect(diagnosis.verdict.kind).toBe(kind);
        for (const line of says) expect(lines).toContainEqual(expect.stringMatching(line));
        if (finds) expect(diagnosis.verdict.findings.map(({ rule }) => rule)).toEqual(finds);
        if (culprits) {
          const ranks = suspects(diagnosis.verdict).map((file) => diagnosis.ranks[file]!.rank);
          expect(ranks.slice(0, culprits.length)).toEqual(culprits);
        }
      });
    },
  );
}
