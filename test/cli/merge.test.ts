/** The command as a person runs it; where its process matters, the built program in one of its own. `npm test` has built it. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere, type TextResult } from '../support/program/command_line.js';
import { madeUpRank, SMALL_RUN, writeRun } from '../support/made_up/made_up_run.js';
import { PROGRAM, runProgram } from '../support/program/program.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
  mkdirSync(join(folder, 'run'));
  mkdirSync(join(folder, 'empty'));
  writeRun(join(folder, 'run'));
});

const run = (...args: string[]): Promise<TextResult> => runHere(folder, ...args);

/** What is there besides the input. */
const filesOf = (path: string): string[] =>
  readdirSync(path)
    .filter((name) => !['run', 'empty'].includes(name))
    .sort();

describe('merge', () => {
  it('writes the trace and a short report', async () => {
    const { code, out, err } = await runProgram(folder, 'merge', 'run', '-o', 't.pftrace');
    expect({ code, out: out.length }).toEqual({ code: 0, out: 0 });
    expect(err.replace(/\(\d+ kB, /, '(… kB, ')).toBe(
      [
        '4 ranks, 792 records, 350 us',
        'trace: t.pftrace (… kB, 624 slices, 72 arrows)',
        'HEALTHY  everything that began also ended',
        '  seen:           3 collectives on 1 communicator, by 4 ranks',
        '  late:           no rank; 2 collectives compared',
        '  lost records:   none',
        '  clocks:         one counter for all ranks, exact',
        'next: nccl-trace open t.pftrace',
        '',
      ].join('\n'),
    );
    expect(viewTrace(readFileSync(join(folder, 't.pftrace')), { emptySlices: 'fine' }).problems).toEqual([]);
  });

  it('prints the link to its first screen if asked for', async () => {
    const { err } = await run('merge', 'run', '-o', 't.pftrace', '--link');
    expect(err).toMatch(
      /^follow this link and open the trace there:\nhttps:\/\/ui\.perfetto\.dev\/#!\/\?\S*startupCommands=\S+\nHEALTHY /m,
    );
  });

  it('gives the same bytes with one worker, many, and to the standard output', async () => {
    await run('merge', 'run', '-o', 'one.pftrace', '-j', '1');
    await runProgram(folder, 'merge', 'run', '-o', 'many.pftrace', '-j', '4');
    const { out } = await runProgram(folder, 'merge', 'run', '-o', '-', '--quiet');
    const one = readFileSync(join(folder, 'one.pftrace'));
    expect(one.equals(readFileSync(join(folder, 'many.pftrace')))).toBe(true);
    expect(one.equals(out)).toBe(true);
    expect(filesOf(folder)).toEqual(['many.pftrace', 'one.pftrace']);
  });

  it('writes its findings as JSON', async () => {
    const { out } = await run('merge', 'run', '-o', 't.pftrace', '--summary', '-', '-q');
    expect(JSON.parse(out)).toMatchObject({
      version: 3,
      worldSize: 4,
      trace: { processes: 4, flows: 72 },
    });
  });

  it('names missing, broken and unfinished files, with ranks folded', async () => {
    const big = { ...SMALL_RUN, ranks: 8 };
    for (const rank of [0, 1, 2, 3, 4, 5, 6]) {
      const file = madeUpRank(rank, big, { life: 'recording' });
      const path = join(folder, 'run', `rank0000${rank}.bin`);
      file.write(path);
      if (rank === 5) writeFileSync(path, 'hello \u001b[31m world');
    }
    const { code, err } = await run('merge', 'run', '-o', 't.pftrace');
    expect(code).toBe(0);
    expect(err).toContain('6 of 8 ranks');
    expect(err).toMatch(
      /^HEALTHY {2}nothing unfinished was seen, but 1 file cannot be used\n {2}not usable: {5}rank00005.bin: .*not a rank file[^]*\n {2}seen: .*\n {2}late: .*\n {2}no file: {8}rank 5,7 of 8: /m,
    );
    expect(err).toContain('not closed: rank 0-4,6 (killed, or still running)\n');
    expect(err).toMatch(/problem: run\/rank00005\.bin: .*not a rank file/);
    expect(err).not.toMatch(/\s+at .*\.js:\d+/);
    expect(err).not.toContain('\u001b');
  });

  it.each([
    ['an unknown option', ['merge', 'run', '--forse'], 2, /--force/],
    ['a path that is not there', ['merge', 'nowhere'], 3, /nowhere: does not exist/],
    ['a directory without rank files', ['merge', 'empty'], 3, /empty: no rank files \(rank\*\.bin\) here/],
    ['a bad number', ['merge', 'run', '-j', 'x'], 2, /whole number/],
    ['a target in no directory', ['merge', 'run', '-o', 'no/t.pftrace'], 4, /there is no directory/],
    ['no arguments', [], 2, /Usage/],
  ])('%s is one clear sentence', async (_, args, expected, sentence) => {
    const { code, err } = await run(...args);
    expect({ code, err }).toMatchObject({ code: expected, err: expect.stringMatching(sentence) as string });
    expect(err).not.toMatch(/\s+at .*\.js:\d+/);
  });

  it('--strict ends with 1 when ranks are missing, and the trace is there', async () => {
    const { code } = await run('merge', 'run/rank00000.bin', '-o', 't.pftrace', '--strict');
    expect(code).toBe(1);
    expect(existsSync(join(folder, 't.pftrace'))).toBe(true);
  });

  it('--strict writes nothing when a file cannot be used', async () => {
    writeFileSync(join(folder, 'run', 'rank00000.bin'), 'x');
    const { code } = await run('merge', 'run', '-o', 't.pftrace', '--strict');
    expect(code).toBe(3);
    expect(filesOf(folder)).toEqual([]);
  });

  it('leaves nothing if the output exceeds the file size limit', async () => {
    const shell = `ulimit -f 8; exec "${process.execPath}" "${PROGRAM}" merge run -o t.pftrace -j 1`;
    const child = spawn('bash', ['-c', shell], { cwd: folder });
    let err = '';
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const [code] = (await once(child, 'exit')) as [number];
    expect({ code, err }).toMatchObject({
      code: 4,
      err: expect.stringContaining('beyond the allowed size') as string,
    });
    expect(filesOf(folder)).toEqual([]);
  });
});
