/** What docs and help show runs. docs.test.ts runs what the README shows. */

import { copyFileSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMANDS, DOCUMENTS, help, ROOT, runScript, scriptsIn } from './documents.js';
import { temporaryFolder } from './support/program/temporary_folder.js';

/** Names and times in the examples of `merge`, and those of samples/healthy. */
const OF_THE_SAMPLE = [
  ['--comm dp', '--comm world'],
  ['0x5cb6', '0x9edbe9bd18ad781d'],
  ['03:02:11,2s', '19:01:58,2s'],
  ['2026-03-01T03:02:11Z', '2026-11-21T19:01:58Z'],
  ['2026-03-01T03:05:00Z', '2026-11-21T19:02:00Z'],
  ['--from 90s', '--from 0.05s'],
] as const;

describe('the commands in documents run', () => {
  let folder: string;
  let remove: () => void;
  beforeEach(() => {
    ({ folder, remove } = temporaryFolder());
    symlinkSync(path.join(ROOT, 'samples'), path.join(folder, 'samples'));
    // Of another job: it is refused, and the run is merged.
    writeFileSync(path.join(folder, 'trace0.json.gz'), gzipSync('{"schemaVersion": 1, "traceEvents": []}'));
  });
  afterEach(() => {
    remove();
  });

  it.each(
    DOCUMENTS.filter((name) => name !== 'README.md').flatMap((name) =>
      scriptsIn(name).map((script) => [name, script] as const),
    ),
  )('%s: %s', async (_, script) => {
    const { status, output } = await runScript(folder, script);
    expect({ status, output }).toEqual({ status: 0, output });
  });

  /** By the commands whose help has them: some have the same. */
  const examples = new Map<string, string>();
  // watch and metrics wait for a job: test/live runs them beside one.
  for (const command of [
    '',
    ...COMMANDS.filter((name) => !['demo', 'watch', 'top', 'metrics'].includes(name)),
  ]) {
    const lines = help(command)
      .split('\n')
      .filter((line) => line.startsWith('  $ '))
      .map((line) => line.slice(4).split(/ {2,}/)[0]!)
      .filter((line) => !line.includes('nccl-trace demo'));
    const script = lines.join('\n');
    examples.set(script, `${examples.has(script) ? `${examples.get(script)!}, ` : ''}"${command}"`);
  }

  it.each([...examples].map(([script, commands]) => [commands, script] as const))(
    'the examples in the help of %s',
    async (_, script) => {
      // The names that examples use.
      for (const name of ['nccl-trace', 'DIR', 'RUN', 'before', 'after']) {
        mkdirSync(path.join(folder, name));
        for (const rank of [0, 1])
          copyFileSync(
            path.join(ROOT, `samples/healthy/rank0000${rank}.bin`),
            path.join(folder, name, `rank0000${rank}.bin`),
          );
      }
      copyFileSync(path.join(ROOT, 'samples/healthy/rank00003.bin'), path.join(folder, 'rank00003.bin'));
      for (const trace of ['trace.pftrace', 'run.pftrace']) writeFileSync(path.join(folder, trace), '\n\0');
      expect(script).not.toBe('');
      for (const example of script.split('\n')) {
        if (example.startsWith('nccl-trace merge '))
          for (const name of readdirSync(folder))
            if (/^(run|nccl)\./.test(name)) rmSync(path.join(folder, name));
        const quick = example.replace(/^nccl-trace open .*/, '$& --timeout 0.001');
        const here = OF_THE_SAMPLE.reduce((output, [theirs, ours]) => output.replaceAll(theirs, ours), quick);
        const { status, output } = await runScript(folder, here);
        expect({ status, output }).toEqual({ status: 0, output });
      }
    },
  );
});
