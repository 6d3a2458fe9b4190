/** Runs programs in another time namespace. Where that cannot be had, the title of the skipped test says what it needs. */

import { spawnSync } from 'node:child_process';

/** Words to put before a command line. */
export type Wrapper = readonly string[];

/** Its clocks since boot are a day ahead. Its end ends the program, too. Needs root and a kernel with time namespaces. */
export const IN_OTHER_TIME: Wrapper = [
  'unshare',
  ...['--time', '--boottime', '86400', '--monotonic', '86400', '--fork', '--kill-child'],
];
export const canChangeTime = spawnSync('unshare', [...IN_OTHER_TIME.slice(1), 'true']).status === 0;
