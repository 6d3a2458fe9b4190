/**
 * Recordings of which it is known what happened, and what a person must be told. Beside each recording of test/fixtures (NAME.br, or NAME.txt: a text of
 * rank files) lies NAME.told. Its first lines say what happened; then follow what is to be found, and behind `---` lines of `inspect`, which must all be
 * there, in this order. A new case is two new files.
 *
 *   verdict KIND          the verdict's kind
 *   hung-after SECONDS    the option of that name
 *   culprits RANK ...     the ranks to look at, and no other before them; or none
 *   finds RULE, ...       the rules of all findings, the headline's first
 *   recording ROOM/NAME   another recording than the name says
 *   without rank RANK     less the files of this rank
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { filesOfText, writeTextFile } from '../../src/rankfile/index.js';
import { diagnose } from '../../src/report/diagnosis.js';
import { verdictText } from '../../src/report/verdict_text.js';
import { suspects } from '../../src/verdict/facts/suspects.js';
import { unpackRecording } from '../support/jobs/packed_recording.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const ROOT = fileURLToPath(new URL('../fixtures', import.meta.url));
const folder = folderOfFile();

const WORDS = ['verdict', 'hung-after', 'culprits', 'finds', 'recording', 'without rank'] as const;
interface Told {
  readonly facts: ReadonlyMap<string, string>;
  readonly lines: readonly string[];
}

function toldBy(file: string): Told {
  const [head = '', says = ''] = readFileSync(file, 'utf8').split(/^---\n/m);
  const facts = head.split('\n').flatMap((line) => {
    if (line === '' || line.startsWith('#')) return [];
    const word = WORDS.find((one) => line.startsWith(`${one} `));
    if (word === undefined) throw new Error(`${file}: "${line}" is none of ${WORDS.join(', ')}`);
    return [[word, line.slice(word.length + 1)] as const];
  });
  return { facts: new Map(facts), lines: says.split('\n').filter((line) => line !== '') };
}

/** The folder with its rank files. */
function recordingOf(name: string): string {
  const text = path.join(ROOT, `${name}.txt`);
  if (!existsSync(text)) return unpackRecording(name, folder);
  const place = path.join(folder, name);
  mkdirSync(place, { recursive: true });
  for (const file of filesOfText(text)) writeTextFile(file, path.join(place, file.name));
  return place;
}

describe.each(['cases', 'gpu', 'real'])('%s', (room) => {
  const names = readdirSync(path.join(ROOT, room)).filter((name) => name.endsWith('.told'));
  it.each(names)('%s', async (name) => {
    const { facts, lines } = toldBy(path.join(ROOT, room, name));
    const recording = recordingOf(facts.get('recording') ?? `${room}/${path.basename(name, '.told')}`);
    const missing = facts.get('without rank');
    for (const file of missing === undefined ? [] : readdirSync(recording))
      if (file.startsWith(`rank0000${missing}.`)) rmSync(path.join(recording, file));
    const hungAfter = facts.has('hung-after') ? Number(facts.get('hung-after')) : undefined;
    const diagnosis = await diagnose([recording], { jobs: 1, hungAfter });
    const { verdict, ranks } = diagnosis;
    const said = verdictText(diagnosis);
    expect(said.filter((line) => lines.includes(line))).toEqual(lines);
    expect(verdict.kind).toBe(facts.get('verdict'));
    if (facts.has('finds'))
      expect(verdict.findings.map(({ rule }) => rule).join(', ')).toBe(facts.get('finds'));
    if (!facts.has('culprits')) return;
    const culprits = facts
      .get('culprits')!
      .split(' ')
      .filter((rank) => rank !== 'none');
    const suspected = suspects(verdict).map((file) => String(ranks[file]!.rank));
    expect(suspected.slice(0, culprits.length)).toEqual(culprits);
  });
});
