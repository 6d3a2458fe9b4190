/**
 * Whether processes live whose heartbeats were recent when their files were read. Heartbeats come once a second: within a second or
 * two of a crash all look alive. A second look decides, so that the same files have the same verdict whenever they are read; it is
 * taken only where the verdict depends on it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { streamRankFile } from '../rankfile/index.js';
import type { Run } from '../runs/run.js';
import { wasFresh } from '../verdict/evidence/run_verdict.js';

/** ms: a heartbeat comes within them from a process that lives. */
const LONGEST = 2000;
const STEP = 100;

/** By file: closed in order it is not; a snapshot says itself when it was made. */
export const seemAlive = ({ members }: Run): boolean[] =>
  members.map(({ scan }) => scan.header.life !== 'closed' && wasFresh(scan));

/** Which of `alive` have a newer heartbeat by now, or within 2 s. `paths`: by file. */
export async function stillAlive(
  { members }: Run,
  alive: readonly boolean[],
  paths: readonly string[],
): Promise<boolean[]> {
  const until = performance.now() + LONGEST;
  const isLive = members.map(
    ({ scan }, file) => alive[file] === true && scan.header.snapshotRealtime !== null,
  );
  for (;;) {
    members.forEach(({ scan }, file) => {
      if (!alive[file] || isLive[file]) return;
      const now = heartbeatOf(paths[file]!);
      isLive[file] = now !== null && now > (scan.heartbeat?.realtime ?? 0n);
    });
    const isDecided = alive.every((one, file) => !one || isLive[file]);
    if (isDecided || performance.now() > until) return isLive;
    await sleep(STEP);
  }
}

/** ns since the epoch; null: the file is gone, or cannot be read any more. */
function heartbeatOf(path: string): bigint | null {
  try {
    const file = streamRankFile(path);
    try {
      return file.heartbeat?.realtime ?? null;
    } finally {
      file.close();
    }
  } catch {
    return null;
  }
}
