/** `inspect --json` on real runs keeps what schemas/inspect.schema.json promises. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { unpackRecording } from '../support/jobs/packed_recording.js';
import { runHere } from '../support/program/command_line.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = folderOfFile();
const schema = JSON.parse(readFileSync(path.join(root, 'schemas/inspect.schema.json'), 'utf8')) as object;
const isValid = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false }).compile(schema);

const linesOf = async (...args: string[]): Promise<Record<string, unknown>[]> => {
  const { out } = await runHere(root, 'inspect', ...args, '--json');
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
};

describe('inspect --json', () => {
  it.each([
    ['a hang', () => ['samples/hang']],
    ['a straggler', () => ['samples/straggler']],
    ['one file and its records', () => ['samples/hang/rank00000.bin', '--records', '3']],
    ['dumps alone', () => ['--flight-recorder', unpackRecording('flight/two-jobs', folder)]],
    [
      'dumps beside rank files',
      () => ['samples/hang', '--flight-recorder', unpackRecording('flight/nccl-join', folder)],
    ],
    [
      'RAS beside rank files',
      () => [unpackRecording('ras/captured-graph', folder), '--ras', 'test/fixtures/ras/captured-graph.json'],
    ],
    ['a job that was redacted', () => ['samples/hang', '--redact']],
  ])('%s', async (_, args) => {
    const lines = await linesOf(...args());
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect([isValid(line), isValid.errors]).toEqual([true, null]);
  });

  it('what the schema names is required, so a field that goes is noticed', async () => {
    const [line] = await linesOf('samples/hang');
    const { diagnosis } = line as { diagnosis: Record<string, unknown> };
    for (const name of ['verdict', 'ranks', 'traceStart', 'communicators']) {
      expect(isValid({ diagnosis: { ...diagnosis, [name]: undefined } })).toBe(false);
    }
  });
});
