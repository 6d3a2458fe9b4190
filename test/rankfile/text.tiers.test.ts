/**
 * Rank files as text: every sample, every recording of the fixtures (CI) and files with random damage go to text and back, and a reader finds the
 * same. What a text does not keep is how chunks were packed, and why a damaged chunk or entry of
 * the directory cannot be used, and that unusable rings lay beside a file.
 */

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openRankFile, openRankFileTables, rankFileLines, TITLE } from '../../src/rankfile/index.js';
import type { RankFile } from '../../src/rankfile/file_types.js';
import { unpackRecording } from '../support/jobs/packed_recording.js';
import { history } from '../support/made_up/streamed_run.js';
import { runHere, type TextResult } from '../support/program/command_line.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { inTier } from '../support/tiers/tier.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FIXTURES = path.join(ROOT, 'test/fixtures');
const folder = folderOfFile();

const run = (...args: string[]): Promise<TextResult> => runHere(ROOT, ...args);

const rankFilesIn = (place: string): string[] =>
  readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.bin'));
const samples = readdirSync(path.join(ROOT, 'samples')).filter((name) => {
  const place = path.join(ROOT, 'samples', name);
  return !name.includes('.') && rankFilesIn(place).length > 0;
});
/** Bytes of a packed recording. The large ones have nothing new, and take minutes. */
const LARGEST = inTier({ first: 0, long: Infinity });
const recordings = ['cases', 'gpu', 'loopback', 'real'].flatMap((room) =>
  readdirSync(path.join(FIXTURES, room)).flatMap((name) =>
    name.endsWith('.br') && statSync(path.join(FIXTURES, room, name)).size < LARGEST
      ? [`${room}/${name.slice(0, -3)}`]
      : [],
  ),
);

/** To text, back, and to text again. Returns the folder of the second files. */
async function thereAndBack(place: string): Promise<{ text: string; again: string; other: string }> {
  const { out: text } = await run('text', place);
  const file = path.join(folder, `${count++}.txt`);
  writeFileSync(file, text);
  // The folder has the same name, because traces and reports say it.
  const other = path.join(folder, `${count++}`, path.basename(place));
  expect(await run('text', file, '-o', other)).toMatchObject({ code: 0, err: '' });
  return { text, again: (await run('text', other)).out, other };
}
let count = 0;

/** A file as a reader sees it, without what a text does not keep. */
function seen(file: RankFile): unknown {
  const chunks = { ...file.chunks, compressed: 0, storedBytes: 0 };
  const problems = file.problems
    .filter(({ what }) => !what.startsWith('the saved rings beside it'))
    .map(({ what, ...rest }) => ({ what: reasonless(what), ...rest }));
  return { ...file, path: '', bytes: 0, chunks, problems };
}

const reasonless = (what: string): string =>
  what.replace(/^chunks (whose|of unknown).*left out$/, 'chunks left out');

/** The verdict, as a user in the folder above sees it; `next` names dumps that lie beside the rank files. */
const verdictOn = async (place: string): Promise<string> =>
  (await runHere(path.dirname(place), 'inspect', path.basename(place))).out.split('\nnext')[0]!;

/** What differs most, where time is short. A trace costs more than all else here. */
const FEW = ['abi-v1', 'abi-v7', 'copy-engine', 'graph', 'pxn', 'stream-killed', 'wrapped'];
const TRACED = inTier({ first: ['pxn', 'stream-killed'], long: samples });

describe.each(inTier({ first: FEW, long: samples }))('sample %s', (name) => {
  const place = path.join(ROOT, 'samples', name);
  it('comes back from its text', async () => {
    const { text, again, other } = await thereAndBack(place);
    expect(again === text).toBe(true);
    for (const file of rankFilesIn(place))
      expect(seen(openRankFile(path.join(other, file)))).toEqual(seen(openRankFile(path.join(place, file))));
    expect(await verdictOn(other)).toBe(await verdictOn(place));
    if (!TRACED.includes(name)) return;
    const traces = [place, other].map(
      (input, i) => [input, path.join(folder, `${name}${i}.pftrace`)] as const,
    );
    for (const [input, output] of traces)
      await run('merge', input, '-o', output, '-q', '-j', '1', '--detail', 'step');
    const [one, two] = traces.map(([, output]) => readFileSync(output));
    expect(one!.equals(two!)).toBe(true);
  });
});

it.each(recordings)('%s comes back from its text', async (name) => {
  const place = unpackRecording(name, folder);
  const { text, again, other } = await thereAndBack(place);
  expect(again === text).toBe(true);
  for (const file of rankFilesIn(place))
    expect(seen(openRankFile(path.join(other, file)))).toEqual(seen(openRankFile(path.join(place, file))));
});

describe('files with random damage', () => {
  const damage = fc.array(fc.record({ at: fc.nat(1 << 18), value: fc.nat(255) }), { maxLength: 60 });
  const few = ['hang/rank00000.bin', 'stream-killed/rank00001.bin', 'wrapped/rank00000.bin'];
  const files = [
    ...few.map((name) => new Uint8Array(readFileSync(path.join(ROOT, 'samples', name)))),
    history(40, { capacity: 64, drains: [{ after: 2, ring: 0, keep: 5 }, { after: 2, ring: 1, keep: 20 }], codec: 'zstdBare', overlap: 9 }, [30]).build(), // prettier-ignore
  ];

  it('come back from their text with the damage', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...files), damage, fc.nat(12), async (file, places, cut) => {
        const bytes = file.slice(0, cut === 0 ? file.length / 2 : file.length);
        for (const { at, value } of places) bytes[8192 + (at % (bytes.length - 8192))] = value;
        const place = path.join(folder, `${count++}`);
        mkdirSync(place);
        const name = path.join(place, 'rank00000.bin');
        writeFileSync(name, bytes);
        const { text, again, other } = await thereAndBack(name);
        expect(again).toBe(text);
        expect(seen(openRankFile(path.join(other, 'rank00000.bin')))).toEqual(seen(openRankFile(name)));
      }),
      { numRuns: inTier({ first: 15, long: 2000 }) },
    );
  });
});

it('the example of schemas/rank-text.md is a text', async () => {
  const [, example = ''] = /```\n(nccl-trace rank files as text[\s\S]*?)```/.exec(
    readFileSync(path.join(ROOT, 'schemas/rank-text.md'), 'utf8'),
  )!;
  const file = path.join(folder, 'example.txt');
  writeFileSync(file, example);
  const other = path.join(folder, 'example');
  await run('text', file, '-o', other);
  const { out } = await run('text', other);
  expect(out.split('\n')).toEqual(expect.arrayContaining(example.split('\n')));
});

it('a text is printed piece by piece, and ends with its reader', () => {
  const file = path.join(ROOT, 'samples/healthy/rank00000.bin');
  const lines = rankFileLines(file, 'a.bin', openRankFileTables(file).strings, null);
  expect(lines.next().value).toBe('file a.bin');
  expect(lines.return(undefined).done).toBe(true);
});

it.each([
  ['', 'the file is empty', ''],
  [`${TITLE}\nrank 3`, 'line 2', 'before the first "file NAME"'],
  [`${TITLE}\nfile ../../x.bin`, 'line 2', 'needs one name'],
  [`${TITLE}\nfile a.bin\nrnak 3`, 'line 3', 'there is no rnak in a header'],
  [`${TITLE}\nfile a.bin\narea 0 RingSteps\n1 Stop hande=0:0`, 'line 4', 'hande= has no meaning here'],
  [`${TITLE}\nfile a.bin\narea 0 RingSteps\n1 Stopp`, 'line 4', 'no position, tick and kind'],
  [`${TITLE}\nfile a.bin\narea 1 RingSteps`, 'there is no area 0', ''],
  [
    `${TITLE}\nfile a.bin\narea 0 TableLeases capacity=8\n99999999 0 Lease\n0 0 Lease threadName=${'x'.repeat(17)}`,
    'line 5',
    '16 bytes',
  ],
])('%j is refused with the line', async (text, ...parts) => {
  const file = path.join(folder, `${count++}.txt`);
  writeFileSync(file, text);
  const { code, err } = await run('text', file, '-o', path.join(folder, `${count++}`));
  expect(code).not.toBe(0);
  for (const part of parts) expect(err).toContain(part);
});
