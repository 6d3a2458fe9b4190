/** Native programs in build/. If a test needs one that is missing, the command's own function builds it. */

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { projectFile } from '../../src/base/project.js';

export { nativeFiles as builtNative } from '../../src/cli/native_files.js';

export const PROJECT = path.resolve(projectFile('.'));

/** Each source in native/test/ or native/bench/ is a program of its name. */
export const programsOf = (folder: 'test' | 'bench'): string[] =>
  readdirSync(path.join(PROJECT, 'native', folder))
    .filter((name) => name.endsWith('.cc'))
    .map((name) => path.basename(name, '.cc'));
