/** Native programs in build/. If a test needs one that is missing, the command's own function builds it. */

import path from 'node:path';
import { projectFile } from '../../../src/base/project.js';

export { nativeFiles as builtNative } from '../../../src/cli/native_files.js';

export const PROJECT = path.resolve(projectFile('.'));
