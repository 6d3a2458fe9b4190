/**
 * Paths of files in the package: package.json and the files built from native/. package.json names itself as `#package.json`,
 * so this works wherever the code runs: src/, dist/ or build/modules/.
 */

import { createRequire } from 'node:module';
import path from 'node:path';

const folder = path.dirname(createRequire(import.meta.url).resolve('#package.json'));

/** `name`: below the package's folder. */
export const projectFile = (name: string): string => path.join(folder, name);
