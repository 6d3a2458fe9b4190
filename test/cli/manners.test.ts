/** How the command line behaves: exit codes, hints, pipes, signals, terminals; and that no file commands a terminal. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clockTable } from '../../src/report/clock_text.js';
import { summaryText } from '../../src/report/inspect_text.js';
import { openNext } from '../../src/report/next_command.js';
import { mergeReportText } from '../../src/report/merge_report.js';
import { columns, cut, printable } from '../../src/report/text.js';
import { verdictText } from '../../src/report/verdict_text.js';
import type { Progress } from '../../src/base/progress.js';
import { coloured, dueInLog, progressLine, wantsColour } from '../../src/cli/watching.js';
import { merge } from '../../src/merge.js';
import { diagnose } from '../../src/report/diagnosis.js';
import { streamRankFile, summarize } from '../../src/rankfile/index.js';
import { madeUpRank, SMALL_RUN, writeRun } from '../support/made_up/made_up_run.js';
import { runHere, type TextResult } from '../support/program/command_line.js';
import { PROGRAM, withoutProgress } from '../support/program/program.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

const SLOW_LINK = fileURLToPath(new URL('../../samples/slow-link', import.meta.url));
let folder: string;
eachInItsFolder((made) => {
  folder = made;
  mkdirSync(path.join(folder, 'run'));
  writeRun(path.join(folder, 'run'));
  writeFileSync(path.join(folder, 'run', 'rank00009.bin'), 'no rank file');
  writeFileSync(path.join(folder, 'there'), 'precious');
});

const run = (words: string): Promise<TextResult> => runHere(folder, ...words.split(' ').filter(Boolean));

const shell = async (command: string): Promise<{ code: number; out: string; err: string }> => {
  const program = `"${process.execPath}" "${PROGRAM}"`;
  const child = spawn('bash', ['-c', `set -o pipefail; nt() { ${program} "$@"; }; ${command}`], {
    cwd: folder,
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (out += text.toString()));
  child.stderr.on('data', (text: Buffer) => (err += text.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, err: withoutProgress(err) };
};

describe('exit codes are the same everywhere', () => {
  it.each<[number, string]>([
    [0, 'merge run -o new.pftrace'],
    [0, 'inspect run'],
    [0, 'clocks run'],
    [0, 'merge run --run list'],
    [0, 'plugin-path'],
    [0, 'merge --help'],
    [0, 'help'],
    [0, 'help merge'],
    [0, 'help plugin-path'],
    [1, 'merge run/rank00000.bin -o new.pftrace --strict'],
    [1, 'inspect run --strict'],
    [1, 'clocks run --strict'],
    [2, 'merge run --no-such-option'],
    [2, 'merge'],
    [2, 'merge run -o - --summary -'],
    [2, 'merge run -o x.pftrace --summary ./x.pftrace'],
    [2, 'merge run --run other'],
    [2, 'inspect run --run other'],
    [2, 'clocks run --clock sundial'],
    [2, 'inspect run --records none'],
    [2, 'demo --ranks 1'],
    [2, 'open there --timeout never'],
    [2, 'no-such-command'],
    [2, 'help no-such-command'],
    [2, 'help merge inspect'],
    [2, 'demo there'],
    [2, 'plugin-path there'],
    [2, 'open there there'],
    [2, 'merge run --max-memory 2'],
    [2, 'merge run --max-memory 2T'],
    [2, 'inspect run --max-memory 5G'],
    [0, 'inspect run --max-memory 1048576'],
    [2, 'merge run --hung-after 0'],
    [2, 'merge run --hung-after 0.5'],
    [2, 'merge run --hung-after 1000001'],
    [2, 'merge run --hung-after 1e3'],
    [2, 'inspect run --hung-after -5'],
    [0, 'inspect run --hung-after 1'],
    [0, 'inspect run --hung-after 1000000'],
    [3, 'merge nowhere'],
    [3, 'merge run/rank00009.bin'],
    [3, 'inspect run/rank00009.bin'],
    [3, 'inspect run/rank00009.bin run/rank00009.bin'],
    [3, 'clocks run/rank00009.bin'],
    [3, 'clocks run/rank00009.bin --run list'],
    [3, 'open nowhere'],
    [4, 'merge run -o there'],
    [4, 'merge run -o new.pftrace --summary there'],
    [4, 'merge run -o nowhere/new.pftrace'],
    [4, 'merge run -o new.pftrace --summary nowhere/new.json'],
    [4, 'demo -o there'],
    [4, 'demo --keep run'],
  ])('%i: %s', async (expected, args) => {
    const { code, err } = await run(args);
    expect({ code, err }).toEqual({ code: expected, err });
    expect(err).not.toMatch(/\n\s+at .*\.js:\d+/);
    expect(readFileSync(path.join(folder, 'there'), 'utf8')).toBe('precious');
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

describe('--quiet hides no error', () => {
  const broken = /^nccl-trace: .*rank00009\.bin: /m;

  it.each([
    'merge run -o new.pftrace',
    'inspect run',
    'report run --json',
    'report run -o new.html',
    'links run',
    'clocks run',
    'scan run -o new.scan',
    'diff run run/rank00000.bin',
  ])('%s -q: a file that cannot be used is named, and without --strict that is all', async (words) => {
    const { code, err } = await run(`${words} -q`);
    expect(code).toBe(0);
    expect(err).toMatch(broken);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('diff -q prints nothing but errors; --json is asked for', async () => {
    expect((await run('diff run run/rank00000.bin')).out).toContain('compared:');
    expect((await run('diff run run/rank00000.bin -q')).out).toBe('');
    expect((await run('diff run run/rank00000.bin -q --json')).out).toContain('"compared"');
  });
});

it('a snapshot of many files says nothing but their names', async () => {
  mkdirSync(path.join(folder, 'many'));
  for (let rank = 0; rank < 16; rank++)
    madeUpRank(rank, { ...SMALL_RUN, ranks: 16 }).write(path.join(folder, 'many', `rank000${10 + rank}.bin`));
  const { code, out, err } = await shell('nt snapshot many -o copy -q');
  expect({ code, err, copies: out.trim().split('\n').length }).toEqual({ code: 0, err: '', copies: 16 });
  expect((await run('snapshot many -o copy -q')).code).toBe(4);
  expect(readdirSync(path.join(folder, 'copy')).filter((name) => name.startsWith('.'))).toEqual([]);
});

it('what follows "next" and its colon is a command, whatever is known about it', async () => {
  const commandsIn = (text: string): string[] =>
    text
      .replaceAll(/ \\\n +/g, ' ')
      .split('\n')
      .flatMap((line) => /^(?:next|or)(?: \([^)]*\))?: nccl-trace (.*)/.exec(line)?.[1] ?? []);
  const inspected = await run(`inspect ${SLOW_LINK}`);
  expect(inspected.out).toContain('  may be:         the link or the NIC: rank 1 sends over no other link\n');
  const [merge, ...none] = commandsIn(inspected.out);
  expect(none).toEqual([]);
  const merged = await run(merge!);
  expect(merged).toMatchObject({ code: 0 });
  expect(merged.err).toContain('  may be:         the link or the NIC: rank 1 sends over no other link\n');
  expect(commandsIn(merged.err)).toEqual(['open nccl.pftrace']);
});

describe('hints', () => {
  it.each([
    ['mrege', /there is no command mrege \(did you mean merge\?\)/],
    [
      'merge run --ouptut x',
      /^nccl-trace: there is no option --ouptut \(did you mean --output\?\); see nccl-trace merge --help\n$/,
    ],
    [
      'demo -s stragler',
      /^nccl-trace: --scenario stragler: must be one of healthy, straggler, hang \(did you mean straggler\?\); see/,
    ],
    ['clocks run --clock autp', /\(did you mean auto\?\)/],
    ['merge run --run run2', /no such run here \(did you mean run1\?\)/],
    ['merge', /^nccl-trace: <paths> is missing; see nccl-trace merge --help\n$/],
    ['--bad', /^nccl-trace: there is no option --bad; see nccl-trace --help\n$/],
    ['merge run -o', /^nccl-trace: --output <file>: the value is missing; see/],
    ['help mrege', /there is no command mrege \(did you mean merge\?\)/],
    ['help merge run', /help takes one command/],
    ['demo there', /^nccl-trace: demo takes no arguments; see nccl-trace demo --help\n$/],
    [
      'merge run --hung-after 0',
      /^nccl-trace: --hung-after 0: must be a number of seconds from 1 to 1000000; see/,
    ],
    ['links run/rank00000.bin/x', /rank00000\.bin\/x: does not exist/],
    ['merge run -j 0x2', /^nccl-trace: --jobs 0x2: must be a whole number from 1 up; see/],
    ['demo -r 65', /^nccl-trace: --ranks 65: must be a whole number from 2 to 64; see/],
    ['merge run --clock-wander 0', /: must be a number of ppm above 0 and at most 1000; see/],
  ])('%s', async (args, sentence) => {
    expect((await run(args)).err).toMatch(sentence);
  });

  it('help of a command is its --help', async () => {
    for (const command of ['merge', 'snapshot'])
      expect((await run(`help ${command}`)).out).toBe((await run(`${command} --help`)).out);
    expect((await run('help')).out).toBe((await run('--help')).out);
  });

  it.each(['', 'merge', 'inspect', 'clocks', 'open', 'demo', 'plugin-path'])(
    'the help of "%s" begins with examples, in 80 columns but for those',
    async (command) => {
      const { out: text } = await run(`${command} --help`);
      expect(text).toMatch(/^Examples:\n {2}\$ /);
      const rest = text.slice(text.indexOf('\nUsage:')).split('\n');
      expect(rest.filter((line) => columns(line) > 80)).toEqual([]);
    },
  );
});

describe('pipes and signals', () => {
  it.each([
    'nt inspect run --records -q 2>&1 | head -1 >/dev/null',
    'nt merge run -q -o - | head -c 10 >/dev/null',
    'nt clocks run -q | head -0',
    'nt merge --help | head -1 >/dev/null',
    'nt merge run -o x.pftrace 2>&- >&-',
  ])('nobody reads on, and nothing is said: %s', async (command) => {
    expect((await shell(command)).err.replace(/^nccl-trace: .*not a rank file.*\n/, '')).toBe('');
  });

  it('a full standard output is an error', async () => {
    const { code, err } = await shell('nt merge run -q -o - >/dev/full');
    expect({ code, err }).toMatchObject({
      code: 4,
      err: expect.stringMatching(/the disk is full/) as string,
    });
  });
});

describe('a summary', () => {
  it('replaces another only by --force, whole', async () => {
    const args = 'merge run -q -f -o x.pftrace --summary s.json';
    expect((await run(args.replace(' -f', ''))).code).toBe(0);
    rmSync(path.join(folder, 'x.pftrace'));
    expect((await run(args.replace(' -f', ''))).err).toMatch(/s\.json: already exists; use --force/);
    expect((await run(args)).code).toBe(0);
    expect(JSON.parse(readFileSync(path.join(folder, 's.json'), 'utf8'))).toMatchObject({ version: 3 });
    expect(readdirSync(folder).sort()).toEqual(['run', 's.json', 'there', 'x.pftrace']);
  });
});

describe('progress and colour', () => {
  const terminal = { isTTY: true };

  it('the first word of the verdict has a colour, and only there', () => {
    expect(coloured('HUNG for 3 s\nHUNG', terminal)).toBe(
      wantsColour(terminal) ? '\x1b[1;31mHUNG\x1b[0m for 3 s\nHUNG' : 'HUNG for 3 s\nHUNG',
    );
    expect(coloured('HUNG for 3 s', { isTTY: false })).toBe('HUNG for 3 s');
  });

  it('NO_COLOR and dumb terminals are respected', () => {
    expect(wantsColour(terminal, {})).toBe(true);
    expect(wantsColour(terminal, { NO_COLOR: '' })).toBe(true);
    expect(wantsColour(terminal, { NO_COLOR: '1' })).toBe(false);
    expect(wantsColour(terminal, { TERM: 'dumb' })).toBe(false);
    expect(wantsColour({ isTTY: false }, {})).toBe(false);
  });

  it('progress shows the rate, and the time left only if it can be estimated', () => {
    const line = progressLine();
    const at = (done: number, ms: number): string => line({ stage: 'scan', files: { done, total: 64 } }, ms);
    expect(at(1, 0)).toBe('scan 1/64 files');
    expect(at(2, 1000)).toBe('scan 2/64 files');
    expect(at(3, 4000)).toBe('scan 3/64 files, 0.5/s');
    expect(at(17, 8000)).toBe('scan 17/64 files, 2.0/s, about 24 s left');
    expect(line({ stage: 'clocks', files: null }, 8500)).toBe('clocks: aligning the hosts');
    expect(line({ stage: 'convert', files: { done: 1, total: 64 } }, 9000)).toBe('convert 1/64 files');
  });

  it('progress in a log: nothing of a short run, then a line every ten seconds and one per silent stage', () => {
    const isDue = dueInLog(0);
    const scan = (ms: number): boolean => isDue({ stage: 'scan', files: { done: 1, total: 64 } }, ms);
    const silent = (ms: number): boolean => isDue({ stage: 'clocks', files: null }, ms);
    expect([scan(100), silent(200)]).toEqual([false, false]);
    expect([scan(2100), scan(2200), scan(12_000)]).toEqual([true, false, false]);
    expect([scan(12_200), silent(12_300), scan(13_000)]).toEqual([true, true, false]);
  });

  it('merge and inspect name every stage before it begins', async () => {
    const stages: string[] = [];
    const onProgress = ({ stage, files }: Progress): void => {
      stages.push(files === null ? stage : `${stage} ${files.done}/${files.total}`);
    };
    const inputs = [path.join(folder, 'run')];
    const counted = (stage: string, total: number): string[] =>
      Array.from({ length: total + 1 }, (_, done) => `${stage} ${done}/${total}`);
    // One of five is no rank file.
    const studied = [...counted('headers', 5), ...counted('scan', 4), 'clocks', 'verdict'];
    await diagnose(inputs, { onProgress });
    expect(stages.splice(0)).toEqual(studied);
    await merge({ inputs, output: path.join(folder, 'told.pftrace'), onProgress });
    expect(stages).toEqual([...studied, ...counted('convert', 4), 'write']);
  });

  it('there is none for pipes', async () => {
    const { err } = await run('merge run -o x.pftrace');
    // eslint-disable-next-line no-control-regex -- exactly these must not be there
    expect(err).not.toMatch(/[\u001b\r]/);
  });
});

/** Everything that has ever deceived a terminal, and what people really write. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\x1b[2J',
        '\x07',
        '\r',
        '\n',
        '\t',
        '\x9b31m',
        '\u202e',
        '\u2066',
        '\u200b',
        '\ufeff',
        '\u200d',
      ),
      fc.constantFrom(
        '\u2028',
        '\u2029',
        '\u00ad',
        '\u061c',
        '\u3164',
        '\ufe0f',
        '\ud800',
        '\u{e0041}',
        '\u0301'.repeat(9),
      ),
      fc.constantFrom('漢字', '한글', '👩‍👧', 'é', 'node001', '-', '%s', "'; rm -rf ~'", '\u{10ffff}'),
      fc.string({ maxLength: 6 }),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.join(''));

describe('no file commands a terminal', () => {
  /** Control, format and bidi characters; of white space only the space and our own line ends. */
  const obeyed = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;

  it('printable: nothing is obeyed, nothing hides, and plain words stay', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(printable(text)).not.toMatch(obeyed);
      }),
    );
    for (const text of ['node001', 'Größe', '漢字', 'a b', 'tp·2', 'naïve e\u0301'])
      expect(printable(text)).toBe(text);
  });

  it('cut: never more columns than there are, wide characters counted as two', () => {
    expect([columns('漢字'), columns('e\u0301'), columns('node')]).toEqual([4, 1, 4]);
    fc.assert(
      fc.property(hostile, fc.integer({ min: 3, max: 40 }), (text, most) => {
        expect(columns(cut(printable(text), most))).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('reports of files whose every name is hostile', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const evil = text.replaceAll('\0', '?').slice(0, 30);
        const target = path.join(folder, 'rank00000.bin');
        const file = new RankFileBuilder({
          rank: 0,
          worldSize: 3,
          hostName: evil,
          program: evil,
          gpu: evil,
          runId: evil,
          ncclHostId: evil,
          options: evil,
          ringPath: evil,
          placement: 'in-ring-file',
        });
        const comm = file.communicator({ name: evil, nRanks: 3, commId: 5n });
        file.ring('host', 16, { tid: 1, threadName: 'x' }).startColl(5, { func: evil, comm, seqNumber: 1 });
        file.heartbeat(9e9);
        file.write(target);
        const report = await merge({
          inputs: [target],
          output: path.join(folder, 'x.pftrace'),
          force: true,
          jobs: 1,
        });
        const stream = streamRankFile(target);
        const facts = summaryText(summarize(stream));
        stream.close();
        const texts = [mergeReportText(report), clockTable(report), facts];
        for (const text of texts) expect(text.replaceAll('\n', '')).not.toMatch(obeyed);
        for (const line of verdictText(report, [openNext(report.output)]))
          expect(columns(line)).toBeLessThanOrEqual(80);
      }),
      { numRuns: 15 },
    );
  });
});
