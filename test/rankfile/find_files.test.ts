/** Which rank files are found under the paths that a user names. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { sentenceText } from '../../src/base/sentence.js';
import { findRankFiles } from '../../src/rankfile/find_files.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

const { folder: parent, remove } = temporaryFolder();
afterAll(remove);

function folderOf(...files: string[]): string {
  const folder = realpathSync(mkdtempSync(path.join(parent, 'find-')));
  for (const file of files) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), '');
  }
  return folder;
}

function found(folder: string, ...inputs: string[]): { files: string[]; problems: string[] } {
  const { files, problems } = findRankFiles(inputs.map((input) => path.join(folder, input)));
  const short = (text: string): string => text.replaceAll(`${folder}/`, '');
  return { files: files.map(short), problems: problems.map((problem) => short(sentenceText(problem))) };
}

describe('rank files are found', () => {
  it('in a run directory, and in its parent, and nowhere deeper', () => {
    const folder = folderOf(
      'run1/rank00001.bin',
      'run1/rank00000.bin',
      'run1/notes.txt',
      'run1/old/rank9.bin',
    );
    expect(found(folder, 'run1').files).toEqual(['run1/rank00000.bin', 'run1/rank00001.bin']);
    expect(found(folder, '.').files).toEqual(['run1/rank00000.bin', 'run1/rank00001.bin']);
  });

  it('under any name if the path names the file itself', () => {
    const folder = folderOf('copy of rank 3');
    expect(found(folder, 'copy of rank 3').files).toEqual(['copy of rank 3']);
  });

  it('once, and in an order that does not depend on the arguments', () => {
    const folder = folderOf('rank0.bin', 'rank1.bin', 'rank-host-77.bin');
    symlinkSync(path.join(folder, 'rank0.bin'), path.join(folder, 'rank2.bin'));
    const expected = ['rank-host-77.bin', 'rank0.bin', 'rank1.bin'];
    expect(found(folder, 'rank1.bin', '.').files).toEqual(expected);
    expect(found(folder, '.', 'rank1.bin').files).toEqual(expected);
    expect(found(folder, '.', 'rank1.bin', 'rank1.bin').problems).toEqual([
      'rank0.bin: named 2 times, used once',
      'rank1.bin: named 3 times, used once',
    ]);
  });

  it('and a file that has the name but cannot be read is reported', () => {
    const folder = folderOf('run/rank0.bin', 'run/notes.fifo');
    const inRun = (name: string): string => path.join(folder, 'run', name);
    execFileSync('mkfifo', [inRun('rank1.bin')]);
    symlinkSync('nowhere', inRun('rank2.bin'));
    symlinkSync('rank3.bin', inRun('rank3.bin'));
    symlinkSync('/dev/null', inRun('rank4.bin'));
    const expected = [
      'run/rank1.bin: is a FIFO, left out',
      'run/rank2.bin: is a link to nothing, left out',
      'run/rank3.bin: is a link that leads in a circle, left out',
      'run/rank4.bin: is not a regular file, left out',
    ];
    for (const input of ['run', '.']) {
      const { files, problems } = found(folder, input);
      expect(files).toEqual(['run/rank0.bin']);
      expect(problems).toEqual(expected);
    }
    rmSync(inRun('rank0.bin'));
    expect(() => found(folder, 'run')).toThrow(
      /run: no rank files .* that can be read.*rank1\.bin: is a FIFO, left out; .*rank4\.bin: is not a regular file/,
    );
  });

  it('or the error says why there is none', () => {
    const folder = folderOf('empty/x', 'packed/rank0.bin.gz');
    expect(() => found(folder, 'empty')).toThrow(
      /empty: no rank files \(rank\*\.bin\) here or one level below.*NCCL_DEBUG/,
    );
    expect(() => found(folder, 'packed')).toThrow(/rank0\.bin\.gz is still compressed; decompress it/);
    expect(() => found(folder, 'none')).toThrow(/none: does not exist; check the path/);
  });
});
