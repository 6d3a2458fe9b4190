// Builds native files when they are first needed by `demo`, `plugin-path` or the tests. Compiling all of them at install would make
// everyone wait who only wants to read a trace.

import path from 'node:path';
import { withBuildLock } from './build_lock.mjs';
import { buildProgress } from './build_progress.mjs';
import { NativeBuildError, buildNative } from './native_build.mjs';

/**
 * @param {object} options  those of buildNative, and
 * @param {string} options.root
 * @param {string} options.what  "building the plugin"
 * @returns {Promise<string | undefined>} why nothing was built, in one sentence, or undefined
 */
export async function ensureNative({ root, what, ...options }) {
  const progress = buildProgress(what);
  const onWait = () => process.stderr.write('another build is running here: waiting for it\n');
  try {
    return await withBuildLock(path.join(root, 'build'), onWait, () =>
      buildNative({ root, ...options, onProgress: progress.step }),
    );
  } catch (error) {
    if (!NOT_WRITABLE.includes(error.code)) throw error;
    throw new NativeBuildError(
      `${path.join(root, 'build')} cannot be written (${error.code}); ` +
        'run "npm run build" where it can be written, or in a copy',
      { cause: error },
    );
  } finally {
    progress.end();
  }
}

const NOT_WRITABLE = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOSPC', 'EDQUOT'];
