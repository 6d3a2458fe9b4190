/**
 * What records look like when they are drawn: test/fixtures/drawn. A fixture is a text of rank files (schemas/rank-text.md) whose first lines say what it
 * guards. Behind the records of each file stand all lines that it is drawn as ("time [track] what"; the ticks are nanoseconds of the trace), what stays open,
 * and what else was found. A new case is a new file; UPDATE_GOLDENS=1 writes the lines behind its records.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { outcomesOf } from '../../../src/model/work_end_table.js';
import { filesOfText, writeTextFile } from '../../../src/rankfile/index.js';
import type { Silence } from '../../../src/trace/tracks/recorder_tracks.js';
import { folderOfFile } from '../../support/program/temporary_folder.js';
import { drawFile, type Picture } from '../../support/traces/picture.js';

const ROOT = fileURLToPath(new URL('../../fixtures/drawn', import.meta.url));
/** Begins what a file is drawn as: its name, then words for how. */
const DRAWN = /^--- drawn: (\S+)(, its clock alone)?(?:, (no records|no sign of life))?$/;

const folder = folderOfFile();

const fixtures = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.txt'),
);

it.each(fixtures)('%s', (name) => {
  const fixture = path.join(ROOT, name);
  const whole = readFileSync(fixture, 'utf8');
  const [records = '', ...sections] = whole.split(/^(?=--- )/m);
  const place = path.join(folder, name.replaceAll('/', '-'));
  writeFileSync(place, records);
  for (const file of filesOfText(place)) writeTextFile(file, `${place}.${file.name}`);
  const told = sections.map((section) => {
    const [title = ''] = section.split('\n');
    const [, file, alone, silence] = DRAWN.exec(title)!;
    const picture = drawFile(`${place}.${file}`, alone === undefined, (silence ?? null) as Silence | null);
    return [title, ...linesOf(picture), ''].join('\n');
  });
  const now = [records, ...told].join('');
  if (process.env.UPDATE_GOLDENS === '1') writeFileSync(fixture, now);
  else expect(now).toBe(whole);
});

function linesOf({ sink, scan, suspectKernels }: Picture): string[] {
  const { unknown, ...odd } = scan.odd;
  const counts = {
    ...odd,
    suspectKernels,
    endlessOps: scan.endlessOps,
    endlessConnections: scan.endlessConnections.length,
    copyColls: scan.copyColls,
    bareCalls: scan.bareCalls.size,
    nullCalls: scan.rings.reduce((sum, { nullCalls }) => sum + nullCalls, 0),
    correlated: sink.correlations.length,
  };
  const outcomes = outcomesOf(scan.workEnds);
  return [
    ...sink.lines,
    ...sink.openSlices().map((slice) => `open: ${slice}`),
    ...(outcomes.length === 0 ? [] : [`outcomes: ${outcomes.join(', ')}`]),
    ...[...Object.entries(counts), ...unknown].flatMap(([what, count]) =>
      count === 0 ? [] : [`counted: ${what} ${count}`],
    ),
  ];
}
