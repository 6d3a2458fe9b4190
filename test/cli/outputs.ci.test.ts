/** What `-o` and `--summary` may be: no evidence is ever destroyed, with --force or without; streams are written to, links followed. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { compressFrame } from '../../src/rankfile/zstd.js';
import { writeRun } from '../support/made_up/made_up_run.js';
import { runHere, type TextResult } from '../support/program/command_line.js';
import { PROGRAM, runProgram } from '../support/program/program.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
  mkdirSync(at('run'));
  writeRun(at('run'));
});

const at = (name: string): string => path.join(folder, name);
const nccl = (args: string): Promise<TextResult> => runHere(folder, ...args.split(' '));
const shell = async (command: string): Promise<{ code: number; err: string }> => {
  const args = ['-c', `nt() { "${process.execPath}" "${PROGRAM}" "$@"; }; ${command}`];
  const child = spawn('bash', args, { cwd: folder });
  let err = '';
  child.stderr.on('data', (text: Buffer) => (err += text.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, err };
};
/** All files and what they hold, so that nothing can change unseen. */
const everything = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => [name, statSync(at(name)).isFile() ? readFileSync(at(name), 'latin1') : '']),
  );
const expectTrace = (bytes: Buffer): void => {
  const { problems, slices } = viewTrace(bytes, { emptySlices: 'fine' });
  expect(problems).toEqual([]);
  expect(slices.length).toBeGreaterThan(100);
};

describe('nothing is destroyed, with --force or without:', () => {
  const rank0 = (): Buffer => readFileSync(at('run/rank00000.bin'));

  it.each<[what: string, args: string, prepare: () => unknown, sentence: RegExp]>([
    [
      "the value of -o forgotten, so that it is the first rank's file",
      'merge -o run/rank00000.bin run/rank00001.bin run/rank00002.bin run/rank00003.bin',
      () => undefined,
      /rank00000\.bin: is a rank file, which is never replaced; name a trace with -o run\.pftrace; was its value left out\?/,
    ],
    [
      'an input by its own name',
      'merge run -o run/rank00000.bin',
      () => undefined,
      /is one of the inputs, which are never replaced; name a trace with -o run\.pftrace/,
    ],
    [
      'an input behind a symbolic link',
      'merge run -o link',
      () => {
        symlinkSync('run/rank00002.bin', at('link'));
      },
      /link: is one of the inputs/,
    ],
    [
      'an input under another hard name',
      'merge run -o hard',
      () => {
        linkSync(at('run/rank00002.bin'), at('hard'));
      },
      /hard: is one of the inputs/,
    ],
    [
      'a trace that is named among the inputs',
      'merge run a.pftrace -o a.pftrace',
      () => nccl('merge run -q -o a.pftrace'),
      /a\.pftrace: is one of the inputs/,
    ],
    [
      'a rank file of another run',
      'merge run -o other.pftrace',
      () => {
        copyFileSync(at('run/rank00000.bin'), at('other.pftrace'));
      },
      /other\.pftrace: is a rank file, which is never replaced/,
    ],
    [
      'a packed rank file',
      'merge run -o rank.bin.gz',
      () => {
        writeFileSync(at('rank.bin.gz'), gzipSync(rank0()));
      },
      /is not a trace written by nccl-trace, so it is not replaced/,
    ],
    [
      'a packed rank file, zstd',
      'merge run -o rank.bin.zst',
      () => {
        writeFileSync(at('rank.bin.zst'), compressFrame(rank0()));
      },
      /is not a trace written by nccl-trace/,
    ],
    [
      'a text file',
      'merge run -o notes.txt',
      () => {
        writeFileSync(at('notes.txt'), 'what we saw at 3 a.m.\n');
      },
      /notes\.txt: is not a trace written by nccl-trace, so it is not replaced; choose another name, as in -o run/,
    ],
    [
      'a text file behind a link',
      'merge run -o link',
      () => {
        writeFileSync(at('notes.txt'), 'what we saw');
        symlinkSync('notes.txt', at('link'));
      },
      /link: is not a trace written by nccl-trace/,
    ],
    [
      "another program's Perfetto trace",
      'merge run -o gpu.pftrace',
      () => {
        writeFileSync(at('gpu.pftrace'), Buffer.from('0a0450016801', 'hex'));
      },
      /gpu\.pftrace: is not a trace written by nccl-trace/,
    ],
    ['a directory', 'merge run -o run', () => undefined, /run: is a directory; name a file in it/],
    [
      'a summary where the trace is to go',
      'merge run -o old.json2',
      () => nccl('merge run -q -o a.pftrace --summary old.json2'),
      /old\.json2: is a summary, which is never replaced by a trace; --summary run\.json names a summary/,
    ],
    [
      'a trace where the summary is to go',
      'merge run -o b.pftrace --summary a.pftrace',
      () => nccl('merge run -q -o a.pftrace'),
      /a\.pftrace: is a trace, which is never replaced by a summary/,
    ],
    [
      'a rank file where the summary is to go',
      'merge run -o b.pftrace --summary run/rank00003.bin',
      () => undefined,
      /rank00003\.bin: is one of the inputs, which are never replaced; name a summary with --summary run\.json/,
    ],
    [
      "somebody's JSON where the summary is to go",
      'merge run -o b.pftrace --summary package.json',
      () => {
        writeFileSync(at('package.json'), '{\n  "version": 1\n}\n');
      },
      /package\.json: is not a summary written by nccl-trace/,
    ],
    [
      'a rank file where the trace of a demo is to go',
      'demo -o run/rank00000.bin',
      () => undefined,
      /rank00000\.bin: is a rank file, which is never replaced/,
    ],
    [
      'a rank file where the summary of a demo is to go',
      'demo --summary run/rank00000.bin',
      () => undefined,
      /rank00000\.bin: is a rank file, which is never replaced/,
    ],
  ])('%s', async (_what, args, prepare, sentence) => {
    await prepare();
    const before = everything();
    for (const force of ['', ' --force']) {
      const { code, err } = await nccl(args + force);
      expect({ code, err }).toMatchObject({ code: 4, err: expect.stringMatching(sentence) as string });
      expect(err).not.toContain('--force');
    }
    expect(everything()).toEqual(before);
  });

  it('a file that appeared during the merge', async () => {
    // The report is ready when the trace goes to its place; the last file is slow, as a FIFO is.
    const child = spawn(
      'bash',
      ['-c', `exec "${process.execPath}" "${PROGRAM}" merge run -o late.pftrace -f`],
      { cwd: folder, env: { ...process.env, NODE_OPTIONS: `--import ${slowRename()}` } },
    );
    let err = '';
    child.stderr.on('data', (text: Buffer) => (err += text.toString()));
    const [code] = (await once(child, 'close')) as [number];
    expect({ code, err }).toMatchObject({
      code: 4,
      err: expect.stringMatching(/late\.pftrace: is not a trace/) as string,
    });
    expect(readFileSync(at('late.pftrace'), 'utf8')).toBe('precious');
  });

  /** Somebody writes the file as soon as the first draft of ours is there. */
  const slowRename = (): string => {
    const code = `import { watch, writeFileSync } from 'node:fs';
      const seen = watch('.', (_, name) => {
        if (!name?.startsWith('.nccl-trace-work.')) return;
        seen.close();
        writeFileSync('late.pftrace', 'precious');
      });
      seen.unref();`;
    return `data:text/javascript,${encodeURIComponent(code)}`;
  };
});

describe('our own output is replaced with --force, and only then:', () => {
  it.each(['a.pftrace', 'a.pftrace.gz', 'a.pftrace.zst'])('%s', async (name) => {
    expect(await nccl(`merge run/rank00000.bin -q -o ${name}`)).toMatchObject({ code: 0 });
    const before = readFileSync(at(name));
    const { code, err } = await nccl(`merge run -q -o ${name}`);
    expect({ code, err }).toMatchObject({
      code: 4,
      err: expect.stringMatching(/already exists; use --force/) as string,
    });
    expect(readFileSync(at(name)).equals(before)).toBe(true);
    expect(await nccl(`merge run -q -f -o ${name}`)).toMatchObject({ code: 0 });
    expect(readFileSync(at(name)).equals(before)).toBe(false);
    expect(readdirSync(folder).sort()).toEqual([name, 'run']);
  });

  it('a trace that was cut short, and an empty file', async () => {
    await nccl('merge run -q -o a.pftrace');
    truncateSync(at('a.pftrace'), 2000);
    writeFileSync(at('b.pftrace'), '');
    for (const name of ['a.pftrace', 'b.pftrace']) {
      expect(await nccl(`merge run -q -o ${name}`)).toMatchObject({ code: 4 });
      expect(await nccl(`merge run -q -f -o ${name}`)).toMatchObject({ code: 0 });
      expectTrace(readFileSync(at(name)));
    }
  });

  it('behind a link: the trace is replaced, the link stays', async () => {
    mkdirSync(at('far'));
    await nccl('merge run/rank00000.bin -q -o far/a.pftrace');
    symlinkSync('far/a.pftrace', at('link'));
    expect(await nccl('merge run -q -f -o link')).toMatchObject({ code: 0 });
    expect(readlinkSync(at('link'))).toBe('far/a.pftrace');
    expectTrace(readFileSync(at('far/a.pftrace')));
    expect(readdirSync(at('far'))).toEqual(['a.pftrace']);
  });

  it('but nothing is made where a link to nothing leads, with --force neither', async () => {
    mkdirSync(at('far'));
    symlinkSync('far/new.pftrace', at('nowhere'));
    for (const force of ['', ' -f']) {
      const { code, err } = await nccl(`merge run -q${force} -o nowhere`);
      expect(code).toBe(4);
      expect(err).toContain('nowhere: is a link to nothing; remove it, or name the file itself');
    }
    expect(readdirSync(at('far'))).toEqual([]);
  });

  it('private to the user whatever the umask is, and as open as the file that is replaced', async () => {
    const before = process.umask(0);
    try {
      await nccl('merge run -q -o a.pftrace --summary s.json');
      await nccl('report run -q --no-trace -o a.html');
      const modes = (...names: string[]): number[] => names.map((name) => statSync(at(name)).mode & 0o777);
      expect(modes('a.pftrace', 's.json', 'a.html')).toEqual([0o600, 0o600, 0o600]);
      chmodSync(at('a.pftrace'), 0o644);
      await nccl('merge run -q -f -o a.pftrace');
      expect(modes('a.pftrace')).toEqual([0o644]);
    } finally {
      process.umask(before);
    }
  });

  it('a summary', async () => {
    const args = 'merge run -q -f -o a.pftrace --summary s.json';
    expect(await nccl(args)).toMatchObject({ code: 0 });
    writeFileSync(at('s.json'), readFileSync(at('s.json'), 'utf8').slice(0, 100));
    expect(await nccl(args)).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(at('s.json'), 'utf8'))).toMatchObject({ version: 3 });
  });
});

describe('streams are written to, without a temporary file beside them:', () => {
  const whole = async (): Promise<Buffer> => {
    await nccl('merge run -q -o /dev/null');
    return (await runProgram(folder, 'merge', 'run', '-q', '-o', '-')).out;
  };

  it('/dev/null is not replaced, even with --force', async () => {
    const before = statSync('/dev/null');
    expect(await nccl('merge run -q -f -o /dev/null --summary /dev/null')).toMatchObject({
      code: 0,
      err: '',
    });
    const now = statSync('/dev/null');
    expect([now.isCharacterDevice(), now.ino, now.rdev]).toEqual([true, before.ino, before.rdev]);
    expect(readdirSync(folder)).toEqual(['run']);
  });

  it('/dev/full says that it is full', async () => {
    const { code, err } = await nccl('merge run -q -o /dev/full');
    expect({ code, err }).toMatchObject({ code: 4, err: expect.stringMatching(/disk is full/) as string });
    expect(statSync('/dev/full').isCharacterDevice()).toBe(true);
  });

  it('a FIFO, whether its reader comes before or after, and it stays one', async () => {
    const bytes = await whole();
    execFileSync('mkfifo', [at('pipe'), at('json')]);
    for (const command of [
      'cat pipe > got & nt merge run -q -f -o pipe; code=$?; wait; exit $code',
      'nt merge run -q -o pipe & sleep 1; cat pipe > got; wait $!',
    ]) {
      expect(await shell(command)).toMatchObject({ code: 0, err: '' });
      expect(readFileSync(at('got')).equals(bytes)).toBe(true);
    }
    expect(await shell('cat json > s & nt merge run -q -o /dev/null --summary json; wait')).toMatchObject({
      code: 0,
    });
    expect(JSON.parse(readFileSync(at('s'), 'utf8'))).toMatchObject({ version: 3 });
    for (const name of ['pipe', 'json']) expect(lstatSync(at(name)).isFIFO()).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['got', 'json', 'pipe', 'run', 's']);
  });

  it('/dev/stdout and descriptors of the shell: written at their position, not from the start', async () => {
    const bytes = await whole();
    writeFileSync(at('log'), 'before ');
    expect(await shell('nt merge run -q -f -o /dev/stdout >> log')).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(at('log')).equals(Buffer.concat([Buffer.from('before '), bytes]))).toBe(true);
    expect(
      await shell('nt merge run -q -o >(cat > got; touch done); while [ ! -e done ]; do sleep 0.05; done'),
    ).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(at('got')).equals(bytes)).toBe(true);
    expect(await shell('nt merge run -q -o /dev/fd/7 7> got')).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(at('got')).equals(bytes)).toBe(true);
    expect((await shell('nt merge run -q -o /dev/fd/77')).err).toMatch(/\/dev\/fd\/77: is not open/);
    expect((await shell('nt merge run -q -o /dev/stdout >> run/rank00001.bin')).err).toMatch(
      /is one of the inputs/,
    );
  });

  it.each([
    ['a FIFO', 'head -c 10 pipe > got & nt merge run -q -o pipe; code=$?; wait; exit $code'],
    ['a pipe', 'nt merge run -q -o - | head -c 10 > got; exit ${PIPESTATUS[0]}'],
  ])('the reader of %s goes away: 4, without a message, and nothing is left', async (_, command) => {
    // More than a pipe holds.
    writeRun(at('run'), { ranks: 4, collectives: 40, steps: 12 });
    execFileSync('mkfifo', [at('pipe')]);
    expect(await shell(command)).toEqual({ code: 4, err: '' });
    expect(readdirSync(folder).sort()).toEqual(['got', 'pipe', 'run']);
  });

  it('not one for two: trace and summary', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    for (const args of ['-o pipe --summary pipe', '-o - --summary /dev/stdout', '-o a --summary ./a'])
      expect(await nccl(`merge run ${args}`)).toMatchObject({
        code: 2,
        err: expect.stringMatching(/give two names/) as string,
      });
  });

  it('the standard output needs no directory that can be written', async () => {
    const { code, out } = await runProgram('/sys', 'merge', at('run'), '-q', '-o', '-');
    expect(code).toBe(0);
    expectTrace(out);
  });
});
