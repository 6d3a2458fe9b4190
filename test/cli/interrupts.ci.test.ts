/** Signals end a command with the code a shell expects and leave nothing behind; what SIGKILL left goes with the next command. */

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeRun } from '../support/made_up/made_up_run.js';
import { PROGRAM } from '../support/program/program.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
  for (const name of ['run', 'tmp']) mkdirSync(at(name));
  writeRun(at('run'));
  execFileSync('mkfifo', [at('pipe')]);
});

const at = (...names: string[]): string => path.join(folder, ...names);
const start = (args: string): ChildProcess =>
  spawn(process.execPath, [PROGRAM, ...args.split(' ')], {
    cwd: folder,
    env: { ...process.env, TMPDIR: at('tmp') },
    stdio: 'ignore',
  });
const ended = async (child: ChildProcess): Promise<number | string | null> => {
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return code ?? signal;
};
/** Its work folder is there, so it hears signals. */
async function working(child: ChildProcess, where: string): Promise<string> {
  for (;;) {
    const found = readdirSync(where).find((name) => name.startsWith('.nccl-trace-work'));
    if (found !== undefined) return found;
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode} before it had begun`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

describe.each(SIGNALS)('%s ends with %i and leaves nothing:', (signal, code) => {
  it('a merge that waits for the reader of a FIFO', async () => {
    const child = start('merge run -q -o pipe');
    await working(child, at('tmp'));
    child.kill(signal);
    expect(await ended(child)).toBe(code);
    expect(readdirSync(at('tmp'))).toEqual([]);
  });

  it('a merge to a reader that stopped', async () => {
    writeRun(at('run'), { ranks: 4, collectives: 40, steps: 12 });
    const reader = spawn('bash', ['-c', 'exec 3< pipe; read -n 1 <&3; echo; exec sleep 60'], { cwd: folder });
    const child = start('merge run -q -o pipe');
    await once(reader.stdout, 'data');
    child.kill(signal);
    expect(await ended(child)).toBe(code);
    reader.kill();
    expect(readdirSync(at('tmp'))).toEqual([]);
  });

  it.each(['merge run -q -o t.pftrace', 'merge run -q -j 2 -o t.pftrace'])(
    '%s, in mid work',
    async (args) => {
      writeRun(at('run'), { ranks: 4, collectives: 20, steps: 12 });
      const child = start(args);
      await working(child, folder);
      child.kill(signal);
      // It may just have been done.
      const how = await ended(child);
      expect([0, code]).toContain(how);
      expect(readdirSync(folder).sort()).toEqual(['pipe', 'run', ...(how === 0 ? ['t.pftrace'] : []), 'tmp']);
    },
  );

  it.each(['inspect run', 'clocks run', 'demo --ranks 2'])('%s', async (args) => {
    const child = start(args);
    await working(child, at('tmp'));
    child.kill(signal);
    // How far it got is not certain; after the last file of its work the signal ends it as any program.
    expect([0, code, signal]).toContain(await ended(child));
    expect(readdirSync(at('tmp'))).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

describe('a work folder of a killed command', () => {
  const killed = async (): Promise<string> => {
    const child = start('merge run -q -o pipe');
    const name = await working(child, at('tmp'));
    child.kill('SIGKILL');
    expect(await ended(child)).toBe('SIGKILL');
    expect(readdirSync(at('tmp'))).toEqual([name]);
    return name;
  };

  it.each(['merge run -q -o -', 'inspect run', 'clocks run'])('goes with the next: %s', async (args) => {
    await killed();
    expect(await ended(start(args))).toBe(0);
    expect(readdirSync(at('tmp'))).toEqual([]);
  });

  it('and also those of a demo, with its rank files', async () => {
    const child = start('demo --ranks 2');
    const name = await working(child, at('tmp'));
    child.kill('SIGKILL');
    expect(await ended(child)).toBe('SIGKILL');
    expect(readdirSync(at('tmp'))).toContain(name);
    // Its ranks live on for a moment, and write.
    for (let i = 0; i < 30 && readdirSync(at('tmp')).includes(name); i++)
      expect(await ended(start('clocks run'))).toBe(0);
    expect(readdirSync(at('tmp'))).not.toContain(name);
  });

  it('goes where it lies beside a trace', async () => {
    const name = await killed();
    renameSync(at('tmp', name), at(name));
    expect(await ended(start('merge run -q -o t.pftrace'))).toBe(0);
    expect(readdirSync(folder).sort()).toEqual(['pipe', 'run', 't.pftrace', 'tmp']);
  });

  it('stays unless its process is certainly dead and it is one: alive, without a lock, a link, a file, or another name', async () => {
    const child = start('merge run -q -o pipe');
    const alive = await working(child, at('tmp'));
    const strangers = ['.nccl-trace-work.nolock', '.nccl-trace-work.linked', '.nccl-trace-work.abcdef.txt'];
    for (const name of strangers) {
      mkdirSync(at('tmp', name));
      writeFileSync(at('tmp', name, 'precious'), 'precious');
    }
    symlinkSync('precious', at('tmp', '.nccl-trace-work.linked', '.lock'));
    writeFileSync(at('tmp', '.nccl-trace-work.abcdef.txt', '.lock'), '');
    const [file, link] = ['.nccl-trace-work.afileX', '.nccl-trace-work.alinkX'];
    writeFileSync(at('tmp', file), 'precious');
    symlinkSync('.nccl-trace-work.abcdef.txt', at('tmp', link));
    expect(await ended(start('merge run -q -o -'))).toBe(0);
    expect(readdirSync(at('tmp')).sort()).toEqual([...strangers, alive, file, link].sort());
    for (const name of strangers) expect(statSync(at('tmp', name, 'precious')).size).toBe(8);
    child.kill();
    await ended(child);
  });
});
