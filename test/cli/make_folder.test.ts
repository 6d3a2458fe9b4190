/** Folders that a command makes, with those above them: what it says where the system makes none. */

import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../../src/output/make_folder.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});
const at = (...names: string[]): string => path.join(folder, ...names);
const modes = (...names: string[]): number[] => names.map((name) => statSync(at(name)).mode & 0o777);

it('makes those above it, too, all with its mode, and leaves what is there', () => {
  makeFolder(at('a/b/c'), 0o700);
  makeFolder(at('a/b/d/'), 0o750);
  makeFolder(at('a'), 0o755);
  expect(modes('a', 'a/b', 'a/b/c', 'a/b/d')).toEqual([0o700, 0o700, 0o700, 0o750]);
});

it.each<[string, string, string, () => void]>([
  [
    'below a file',
    'file/new/deeper',
    'ENOTDIR',
    () => {
      writeFileSync(at('file'), '');
    },
  ],
  [
    'at a file',
    'file',
    'EEXIST',
    () => {
      writeFileSync(at('file'), '');
    },
  ],
  [
    'below a link to nothing',
    'link/new',
    'EEXIST',
    () => {
      symlinkSync('nothing', at('link'));
    },
  ],
])("gives the system's reason %s", (_, name, code, prepare) => {
  prepare();
  expect(() => {
    makeFolder(path.resolve(folder, name), 0o700);
  }).toThrow(expect.objectContaining({ code }));
});
