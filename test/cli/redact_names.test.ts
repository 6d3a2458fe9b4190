/**
 * A property of `--redact`: whatever characters names hold, and wherever they stand, none gets out. Names of folders, files, links
 * to nothing, FIFOs, broken files, folders that may not be read, and every name that a rank file has.
 */

import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { main } from '../../src/cli/main.js';
import { madeUpRank, SMALL_RUN } from '../support/made_up/made_up_run.js';
import { PROGRAM } from '../support/program/program.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

/** Whatever the name, it has this in it. */
const SECRET = 'Zebra';
const PIECES = [
  ': ',
  ':',
  '; ',
  "'",
  '"',
  '`',
  '$&',
  '$1',
  '\\',
  ' (',
  ')',
  ' ',
  '  ',
  '%s',
  '\n',
  '\t',
  '\x1b[31m',
  '\u202e',
  '漢字',
  '.bin',
  '.rings',
  '.gz',
  'rank',
  'file-1.bin',
  'host-1',
  'comm-1',
  'another path',
  'is a FIFO',
  ', ',
  '-',
  '--redact',
  '*',
  '[a-z]',
  '{}',
  '~',
];
/** At most 60 bytes, as much as fits everywhere. */
const unlikely = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 3 })
  .map((pieces) => [pieces[0], SECRET, ...pieces.slice(1)].join(''));

interface Names {
  readonly folder: string;
  readonly file: string;
  readonly host: string;
  readonly program: string;
  readonly job: string;
  readonly comm: string;
  readonly thread: string;
  readonly gpu: string;
}
const names: fc.Arbitrary<Names> = fc.record({
  folder: unlikely,
  file: unlikely,
  host: unlikely,
  program: unlikely,
  job: unlikely,
  comm: unlikely,
  thread: unlikely.map((name) => `${SECRET}${name}`.slice(0, 15)),
  gpu: unlikely,
});

function prepare(top: string, { folder, file, host, program, job, comm, thread, gpu }: Names): string {
  const run = path.join(top, folder);
  mkdirSync(run);
  for (let rank = 0; rank < 3; rank++) {
    const ring = {
      hostName: host,
      ncclHostId: host,
      program,
      runId: job,
      gpu,
      options: host,
      ringPath: `/dev/shm/${host}`,
    };
    const made = madeUpRank(rank, SMALL_RUN, { ...ring, pid: 1000 + rank });
    made.communicator({ name: comm, commId: 77n, rank, nRanks: 3 });
    made.ring('host', 8, { tid: 9, threadName: thread }).startGroupApi(5, {});
    made.write(path.join(run, `rank${rank}${file}.bin`));
  }
  writeFileSync(path.join(run, `rank0${file}.bin.rings`), 'hello');
  writeFileSync(path.join(run, `rank${file}broken.bin`), 'hello');
  writeFileSync(path.join(run, `rank${file}empty.bin`), '');
  symlinkSync(file, path.join(run, `rank${file}dangling.bin`));
  execFileSync('mkfifo', [path.join(run, `rank${file}fifo.bin`)]);
  return run;
}

async function said(args: readonly string[]): Promise<string> {
  let all = '';
  const catching = (text: unknown, done?: unknown): boolean => {
    all += Buffer.isBuffer(text) ? text.toString('latin1') : String(text);
    if (typeof done === 'function') (done as () => void)();
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(catching);
  vi.spyOn(process.stderr, 'write').mockImplementation(catching);
  try {
    await main(args);
  } finally {
    vi.restoreAllMocks();
  }
  return all;
}

it('no name gets out, whatever characters it holds', async () => {
  await fc.assert(
    fc.asyncProperty(names, async (one) => {
      const { folder: top, remove } = temporaryFolder();
      try {
        const run = prepare(top, one);
        const summary = path.join(top, 'summary.json');
        const trace = path.join(top, 'out.pftrace');
        const fifo = path.join(run, `rank${one.file}fifo.bin`);
        const commands = [
          ['merge', run, run, '-o', trace, '--summary', summary, '-j', '1'],
          ['inspect', run, '--json', '--records'],
          ['inspect', run, '--files'],
          ['text', run],
          ['inspect', run, '--run', 'list'],
          ['clocks', run, '--json'],
          ['inspect', path.join(run, `rank${one.file}broken.bin`)],
          ['inspect', fifo],
          ['inspect', path.join(run, one.folder)],
          ['merge', run, '-o', path.join(run, one.folder, 'out.pftrace')],
          ['merge', run, '-o', fifo.replace('fifo', 'broken'), '-f', '--strict'],
        ];
        for (const args of commands) {
          const text = await said([...args, '--redact']);
          expect(text.length).toBeGreaterThan(0);
          // The end of the name of an output is what the person asked for.
          const own = args.includes('-o') ? path.basename(args[args.indexOf('-o') + 1]!) : '';
          expect({ args, text: own.includes(SECRET) ? '' : text }).toEqual({
            args,
            text: expect.not.stringContaining(SECRET) as string,
          });
        }
        for (const file of [trace, summary]) expect(readFileSync(file, 'latin1')).not.toContain(SECRET);
        expect(await said(['inspect', run, '--json'])).toContain(SECRET);
      } finally {
        remove();
      }
    }),
    { numRuns: 8 },
  );
});

/** Root may read everything. Another user could not enter a checkout that only root may enter, so root gives up this right. */
const RIGHTS = '-dac_override,-dac_read_search';
const AS_OTHERS =
  process.getuid?.() === 0 ? ['setpriv', `--bounding-set=${RIGHTS}`, `--inh-caps=${RIGHTS}`] : [];

it('an unreadable folder with a colon in its name is reported without its name', async () => {
  const { folder: top, remove } = temporaryFolder();
  const closed = path.join(top, 'run', `node: 7 ${SECRET}`);
  try {
    mkdirSync(path.join(top, 'run', 'other'), { recursive: true });
    mkdirSync(closed);
    for (let rank = 0; rank < 4; rank++) {
      const file = path.join(top, 'run', 'other', `rank${rank}.bin`);
      madeUpRank(rank).write(file);
      chmodSync(file, 0o644);
    }
    for (const open of [top, path.join(top, 'run'), path.join(top, 'run', 'other')]) chmodSync(open, 0o755);
    chmodSync(closed, 0);
    const unreadable = path.join(top, 'run', 'other', `rank4 ${SECRET}.bin`);
    madeUpRank(4).write(unreadable);
    chmodSync(unreadable, 0);
    const [node, ...args] = [...AS_OTHERS, process.execPath, PROGRAM, 'inspect', path.join(top, 'run')];
    const run = (...more: string[]): Promise<string> =>
      new Promise((done, fail) => {
        const child = spawn(node, [...args, ...more], {
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        let text = '';
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', (data: Buffer) => (text += data.toString()));
        child.on('error', fail);
        child.on('close', () => {
          done(text);
        });
      });
    const open = await run();
    for (const one of [closed, unreadable]) expect(open).toContain(`${one}: may not be read by this user`);
    const text = await run('--redact');
    expect(text).toContain('nccl-trace: another path: may not be read by this user');
    expect(text).toContain('nccl-trace: file-5.bin: may not be read by this user');
    expect(text).toContain('HEALTHY');
    expect(text).not.toContain(SECRET);
  } finally {
    chmodSync(closed, 0o700);
    rmSync(closed, { recursive: true });
    remove();
  }
});
