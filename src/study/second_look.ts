/**
 * Decides whether processes are alive. Heartbeats come once a second, so within a second or two of a crash all processes look alive. A
 * second look decides, so that the same files always have the same verdict. It is taken only if the verdict depends on it. On a very busy
 * node a heartbeat may be many seconds late. If the process runs on this node, the kernel says whether it still exists.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { processNow, streamRankFile } from '../rankfile/index.js';
import type { RunMember } from '../runs/run.js';
import { hasRingsOfGone, wasFresh } from '../verdict/facts/run_verdict.js';

/** ms: a live process writes a heartbeat within this time. */
const LONGEST = 2000;
const STEP = 100;
/**
 * ns: if a running process has had no heartbeat for longer than this, more is wrong than too little CPU time. Its container may be frozen.
 */
const STARVED_AT_MOST = 30_000_000_000n;

interface ScannedMembers {
  readonly members: readonly Pick<RunMember, 'scan'>[];
}

/** By file. Closed files and processes that have certainly ended are not alive. A snapshot contains the time when it was made. */
export const seemAlive = ({ members }: ScannedMembers): boolean[] =>
  members.map(
    ({ scan }) =>
      scan.header.life !== 'closed' && !hasRingsOfGone(scan.header) && (wasFresh(scan) || isStarved(scan)),
  );

/** The processes in `alive` that get a newer heartbeat within 2 s, or that still run without a heartbeat. `paths`: by file. */
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
    if (isDecided) return isLive;
    if (performance.now() > until)
      return members.map(({ scan }, file) => isLive[file]! || (alive[file]! && isStarved(scan)));
    await sleep(STEP);
  }
}

/** The process runs, but had no CPU time for its heartbeat. */
const isStarved = ({ path, heartbeat, readAt, header }: RunMember['scan']): boolean =>
  header.snapshotRealtime === null &&
  heartbeat !== null &&
  readAt - heartbeat.realtime < STARVED_AT_MOST &&
  processNow({ path, header }) === 'runs';

/** ns since the epoch; null: the file does not exist any more, or cannot be read. */
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
