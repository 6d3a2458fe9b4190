/**
 * Decides whether processes are alive whose heartbeats were recent when their files were read. Heartbeats come once a second, so
 * within a second or two of a crash all processes look alive. A second look decides, so that the same files always have the same
 * verdict. It is taken only if the verdict depends on it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { streamRankFile } from '../rankfile/index.js';
import type { RunMember } from '../runs/run.js';
import { wasFresh } from '../verdict/evidence/run_verdict.js';

/** ms: a live process writes a heartbeat within this time. */
const LONGEST = 2000;
const STEP = 100;

interface ScannedMembers {
  readonly members: readonly Pick<RunMember, 'scan'>[];
}

/** By file. Closed files are out; a snapshot says itself when it was made. */
export const seemAlive = ({ members }: ScannedMembers): boolean[] =>
  members.map(({ scan }) => scan.header.life !== 'closed' && wasFresh(scan));

/** Those of `alive` that have a newer heartbeat now, or within 2 s. `paths`: by file. */
export async function stillAlive(
  { members }: ScannedMembers,
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

/** ns since the epoch; null: the file is gone or cannot be read. */
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
