/** Where the build puts what is native: next to dist/, in build/. Absent where no C++ compiler was found at install. */

import { existsSync } from 'node:fs';
import { NoUsableInput } from '../base/errors.js';
import { projectFile } from '../base/project.js';

export function nativeFile(name: 'libnccl-profiler-trace.so' | 'nccl-trace-loopback'): string {
  const path = projectFile(`build/${name}`);
  if (existsSync(path)) return path;
  throw new NoUsableInput(
    `${path} is not there: it is made from C++ at install; install a C++ compiler, then run: npm run build`,
  );
}
