/** What `open` reads of a trace: nothing in it ends the program with a bug, reaches the terminal, or chooses what the Perfetto UI runs. */

import fc from 'fast-check';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { checkServable } from '../../src/cli/servable.js';
import { NoUsableInput } from '../../src/base/errors.js';
import { merge } from '../../src/merge.js';
import { knownQuery, PERFETTO, startupLink, withPins } from '../../src/trace/startup.js';
import { howCut, traceFacts } from '../../src/trace/trace_facts.js';
import { randomOf } from '../support/forged/forged_values.js';
import { inTier } from '../support/tiers/tier.js';

const samples = fileURLToPath(new URL('../../samples', import.meta.url));
const ROUNDS = inTier({ first: 90, long: 30_000 });
const MOST_MS = 2000;

const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-opened-'));
const traces: Buffer[] = [];
beforeAll(async () => {
  for (const name of ['run.pftrace', 'run.pftrace.gz', 'run.pftrace.zst']) {
    const output = path.join(folder, name);
    await merge({ inputs: [path.join(samples, 'straggler')], output, jobs: 1 });
    traces.push(readFileSync(output));
  }
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const KNOWN = [
  'dev.perfetto.PinTracksByRegex',
  'dev.perfetto.ExpandTracksByRegex',
  'dev.perfetto.AddNoteAtTimestamp',
  'dev.perfetto.RunQueryAndShowTab',
];
const startupOf = (file: string): string => traceFacts(file)?.get('nccl_trace.startup') ?? '';

function expectHarmless(startup: string): void {
  const query = withPins(knownQuery(startup), ['tx']);
  const link = startupLink(PERFETTO, 'http://127.0.0.1:9001/x', query);
  expect(link).toMatch(/^[\w%:/.#!?&=~-]+$/);
  const found = new URLSearchParams(new URL(link).hash.slice('#!/?'.length));
  expect(found.getAll('url')).toEqual(['http://127.0.0.1:9001/x']);
  const commands = JSON.parse(found.get('startupCommands')!) as { id: string; args: string[] }[];
  for (const { id, args } of commands) {
    expect(KNOWN).toContain(id);
    if (id === 'dev.perfetto.RunQueryAndShowTab')
      expect(args.join()).toBe(
        "SELECT string_value AS report FROM args WHERE key GLOB 'debug.line*' ORDER BY key,Report",
      );
    // A flipped bit may turn a letter of the note into another one.
    if (id === 'dev.perfetto.AddNoteAtTimestamp') expect(args.join()).toMatch(/^\d+,[\d:.]{12} [A-Z ]{4,}$/);
  }
}

it('what merge wrote comes back unchanged', async () => {
  for (const { name } of readdirSync(samples, { withFileTypes: true }).filter((one) => one.isDirectory())) {
    const output = path.join(folder, 'sample.pftrace');
    const { startup } = await merge({ inputs: [path.join(samples, name)], output, jobs: 1, force: true });
    expect(startupOf(output)).toBe(startup);
    expect(knownQuery(startup)).toBe(startup);
  }
});

it.each([
  'startupCommands=%7Bbad',
  'startupCommands=5',
  'startupCommands=null',
  'startupCommands=[null,7,{}]',
  `startupCommands=${encodeURIComponent('[{"id":"dev.perfetto.RunQuery","args":["SELECT 1"]}]')}`,
  'url=http%3A%2F%2Fevil.example%2F&ts=1',
  'ts=1\u001b[31m&dur=%1b[0m',
])('a forged %j is left out', (startup) => {
  expectHarmless(startup);
  expect(knownQuery(startup)).not.toMatch(/url|SELECT|bad|1b/);
});

it('any text', () => {
  const command = fc.record({
    id: fc.oneof(fc.constantFrom(...KNOWN), fc.string()),
    args: fc.array(fc.oneof(fc.constant('path'), fc.string({ unit: 'binary' }))),
  });
  const parameter = fc.tuple(
    fc.constantFrom('ts', 'dur', 'url', 'visStart', 'x'),
    fc.oneof(fc.string(), fc.integer()),
  );
  const startup = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(parameter).map((all) => all.map(([name, value]) => `${name}=${value}`).join('&')),
    fc.array(command).map((all) => `startupCommands=${encodeURIComponent(JSON.stringify(all))}`),
  );
  fc.assert(fc.property(startup, expectHarmless), {
    numRuns: inTier({ first: 100, long: 100_000 }),
  });
});

it('damaged traces, plain and compressed, are opened or refused with a sentence', () => {
  const file = path.join(folder, 'forged.pftrace');
  let opened = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const random = randomOf(round);
    const bytes = Buffer.from(traces[round % traces.length]!);
    // Most of it is behind what `open` reads.
    const end = random(2) === 0 ? 2000 : bytes.length;
    for (let changes = random(4); changes >= 0; changes--) bytes[random(end)] = random(256);
    writeFileSync(file, random(4) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes);
    const before = process.cpuUsage();
    try {
      checkServable(file);
      howCut(file);
      opened++;
      expectHarmless(startupOf(file));
    } catch (error) {
      if (!(error instanceof NoUsableInput)) throw new Error(`round ${round}`, { cause: error });
    }
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(MOST_MS);
  }
  expect(opened).toBeGreaterThan(ROUNDS / 4);
});
