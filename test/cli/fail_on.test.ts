/** `--fail-on`: the verdict as an exit code. docs/exit-codes.md has them all. */

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ExitCode } from '../../src/cli/exit.js';
import { runHere } from '../support/program/command_line.js';
import { writeDumps } from '../support/made_up/flight_dumps.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const sample = (name: string): string => path.join(root, 'samples', name);

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

const codeOf = async (...args: string[]): Promise<number> => (await runHere(folder, ...args)).code;

describe('inspect --fail-on', () => {
  it.each<[string, string, number]>([
    ['hang', 'hung', 5],
    ['hang', 'HUNG', 5],
    ['hang', 'broken,slow,unclear,mismatch', 0],
    ['straggler', 'slow', 5],
    ['straggler', 'hung,broken', 0],
    ['mismatch', 'mismatch', 5],
    ['healthy', 'hung,broken,mismatch,slow,unclear', 0],
    ['hang', 'hnug', 2],
    ['hang', '', 2],
  ])('%s, %s: %i', async (name, kinds, code) => {
    expect(await codeOf('inspect', sample(name), '--fail-on', kinds)).toBe(code);
  });

  it('prints the verdict as without it, and names what was meant', async () => {
    const { out } = await runHere(folder, 'inspect', sample('hang'), '--fail-on', 'hung');
    expect(out).toBe((await runHere(folder, 'inspect', sample('hang'))).out);
    const { err } = await runHere(folder, 'inspect', sample('hang'), '--fail-on', 'hung,brokn');
    expect(err).toContain('(did you mean broken?)');
  });

  it('goes before --strict, and one named file has a verdict then', async () => {
    cpSync(sample('hang'), path.join(folder, 'run'), { recursive: true });
    writeFileSync(path.join(folder, 'run/rank00001.bin'), 'no rank file');
    expect(await codeOf('inspect', 'run', '--strict')).toBe(1);
    expect(await codeOf('inspect', 'run', '--strict', '--fail-on', 'hung')).toBe(5);
    expect(await codeOf('inspect', 'run/rank00001.bin', '--fail-on', 'hung')).toBe(3);
    const one = ['inspect', path.join(sample('hang'), 'rank00000.bin'), '--fail-on', 'hung'];
    expect(await codeOf(...one)).toBe(0); // WAITING: its records end after 3 s
    expect(await codeOf(...one, '--hung-after', '1')).toBe(5);
  });

  it('every form of a report has the same code', async () => {
    const failing = ['--fail-on', 'hung'];
    expect(await codeOf('report', sample('hang'), '--json', ...failing)).toBe(5);
    expect(await codeOf('report', sample('hang'), '--markdown', ...failing)).toBe(5);
    expect(await codeOf('report', sample('hang'), '-qo', 'hang.html', ...failing)).toBe(5);
    expect(await codeOf('report', sample('healthy'), '-qo', 'healthy.html', ...failing)).toBe(0);
    await runHere(folder, 'scan', sample('hang'), '-qo', 'n.scan');
    await runHere(folder, 'study', 'n.scan', '-qo', 'run.study', '--allow-missing');
    expect(await codeOf('inspect', 'run.study', ...failing)).toBe(5);
    expect(await codeOf('report', 'run.study', '-qo', 'study.html', ...failing)).toBe(5);
  });

  it("PyTorch's dumps count with their own verdict", async () => {
    const waiting = { group: '0', seq: 2, op: 'all_reduce', at: 2000 };
    writeDumps(path.join(folder, 'dumps'), { groups: { 0: [0, 1] }, calls: [[waiting], []] });
    expect(await codeOf('inspect', '--flight-recorder', 'dumps', '--fail-on', 'hung')).toBe(5);
    expect(await codeOf('inspect', '--flight-recorder', 'dumps', '--fail-on', 'mismatch,slow')).toBe(0);
    expect(
      await codeOf('inspect', sample('healthy'), '--flight-recorder', 'dumps', '--fail-on', 'hung'),
    ).toBe(5);
  });
});

it('docs/exit-codes.md has every exit code', () => {
  const text = readFileSync(path.join(root, 'docs/exit-codes.md'), 'utf8');
  const rows = [...text.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, codes]) =>
    codes!.split(', ').map(Number),
  );
  expect(rows.sort((a, b) => a - b)).toEqual(Object.values(ExitCode).sort((a, b) => a - b));
});
