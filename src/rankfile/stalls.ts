/**
 * Watches calls that may hang if the disk of a file hangs. The addon names the file after 10 s and ends the program after 60 s
 * (native/addon/stalls.h), because neither this thread nor a signal handler runs until the call returns. Without the addon nothing watches
 * these calls.
 */

import { addon } from './addon.js';

/** `path`: of the file, or of the folder. */
export function answered<T>(path: string, call: () => T): T {
  if (addon === null) return call();
  addon.readBegins(path.replace(/[^ -~]/g, '?'));
  try {
    return call();
  } finally {
    addon.readEnds();
  }
}

/** In all threads, from now on. */
export const hideNames = (): void => addon?.hideNames();
