/**
 * A rank file that changes while the program reads it: what is said, and the exit code. Before the scan it is one file that cannot be used.
 * After the scan the merge ends, because a trace without the file would contradict the verdict. test/fuzz/changing_input.test.ts has more
 * samples and changes.
 */

import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

import { PROGRAM, withoutProgress } from '../support/program/program.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

const sample = fileURLToPath(new URL('../../samples/healthy', import.meta.url));

let folder: string;
eachInItsFolder((made) => {
  folder = made;
  cpSync(sample, folder, { recursive: true });
});

/** Merges with a change of rank 1 when it is opened for the n-th time. Its fields are read first, then it is scanned, then drawn. */
function mergeWhile(nth: number, change: string, options: readonly string[] = []) {
  const file = path.join(folder, 'rank00001.bin');
  const hook = `import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const file = ${JSON.stringify(file)};
    const other = ${JSON.stringify(path.join(folder, 'rank00000.bin'))};
    const { openSync, readSync } = fs;
    const failed = (code, syscall) => Object.assign(new Error(code), { code, syscall });
    let opened = 0;
    fs.openSync = (path, ...rest) => {
      if (path === file && ++opened === ${nth}) { ${change} }
      return openSync(path, ...rest);
    };
    syncBuiltinESMExports();`;
  const env = {
    ...process.env,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}`,
  };
  const output = path.join(folder, 'run.pftrace');
  const args = [PROGRAM, 'merge', folder, '--jobs', '1', '-o', output, ...options];
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  const left = readdirSync(folder).filter((name) => !/\.bin$|README/.test(name));
  return { code: status, err: withoutProgress(stderr).replaceAll(`${folder}/`, ''), left };
}

const READ_ERROR = `fs.readSync = (fd, ...rest) => {
  if (fs.readlinkSync('/proc/self/fd/' + fd) === file) throw failed('EIO', 'read');
  return readSync(fd, ...rest);
}; syncBuiltinESMExports();`;
const SHRINKS_LATER = `fs.readSync = (fd, ...rest) => {
  if (fs.readlinkSync('/proc/self/fd/' + fd) === file) fs.truncateSync(file, 100_000);
  return readSync(fd, ...rest);
}; syncBuiltinESMExports();`;

const ENDS_IN_HEADER = 'rank00001.bin: the file ends inside its header at byte 100';
const CUT = 'rank00001.bin: the file was cut off while it was being read';

it.each([
  ['is cut off in its header', 'fs.truncateSync(file, 100)', ENDS_IN_HEADER],
  ['is cut off behind it', 'fs.truncateSync(file, 60_000)', 'rank 1: areas cut off by the end of the file'],
  ['disappears', 'fs.unlinkSync(file)', 'rank00001.bin: does not exist'],
  [
    'is replaced',
    'fs.copyFileSync(other, file)',
    'is another copy of rank00000.bin (same process) and left out',
  ],
  ['is gone from its server', "throw failed('ESTALE', 'open')", 'the file is gone from its server'],
  ['cannot be read', READ_ERROR, 'rank00001.bin: cannot be read: EIO'],
])('before the scan it %s: the others are merged, 0', (_, change, sentence) => {
  const { code, err, left } = mergeWhile(2, change);
  expect(err).toContain(sentence);
  expect({ code, left }).toEqual({ code: 0, left: ['run.pftrace'] });
});

it('with --strict the same ends the merge, 3', () => {
  const { code, err, left } = mergeWhile(2, 'fs.unlinkSync(file)', ['--strict']);
  expect(err).toContain('rank00001.bin: does not exist');
  expect({ code, left }).toEqual({ code: 3, left: [] });
});

it.each([
  ['is cut off in its header', 'fs.truncateSync(file, 100)', ENDS_IN_HEADER],
  ['is cut off behind it', 'fs.truncateSync(file, 60_000)', CUT],
  ['is cut off by one byte', 'fs.truncateSync(file, fs.statSync(file).size - 1)', CUT],
  ['is cut off later, in mid-read', SHRINKS_LATER, CUT],
  ['disappears', 'fs.unlinkSync(file)', 'rank00001.bin: does not exist'],
  ['is replaced', 'fs.copyFileSync(other, file)', 'was replaced by that of another process'],
  ['is gone from its server', "throw failed('ESTALE', 'open')", 'the file is gone from its server'],
  ['cannot be read', READ_ERROR, 'rank00001.bin: cannot be read: EIO'],
])('after the scan it %s: nothing is written, 4', (_, change, sentence) => {
  const { code, err, left } = mergeWhile(3, change);
  expect(err).toContain(sentence);
  expect(err).toMatch(/; nothing was written\n$/);
  expect({ code, left }).toEqual({ code: 4, left: [] });
});
