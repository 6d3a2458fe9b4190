/**
 * One look of `watch` at the records: the verdict of `inspect` on the files that it is sent, in a process of its own. So the watcher keeps
 * little memory between two looks, and a disk that hangs stops the look alone.
 */

import { Interrupted, NoUsableInput } from '../base/errors.js';
import { rankProgress, type RankProgress } from '../live/rank_progress.js';
import type { Look } from '../live/watch.js';
import { diagnose } from '../report/diagnosis.js';

/** What it is sent. */
export interface LookRequest {
  readonly files: readonly string[];
  readonly hungAfter: number | undefined;
}

const interrupt = new AbortController();
const stop = (): void => {
  interrupt.abort(new Interrupted('the watcher ended'));
};
// Ctrl-C goes to all processes of a terminal. The watcher ends this one.
process.on('SIGINT', () => undefined);
process.once('SIGTERM', stop);
process.once('disconnect', stop);
process.once('message', (request: LookRequest) => {
  void answer(request);
});

async function answer({ files, hungAfter }: LookRequest): Promise<void> {
  try {
    // One thread: the job needs the other cores.
    let progress: RankProgress[] = [];
    const found = await diagnose(files, {
      ...{ hungAfter, jobs: 1, interrupt: interrupt.signal },
      onStudied: (studied) => (progress = rankProgress(studied)),
    });
    send(found, progress);
  } catch (error) {
    if (error instanceof Interrupted) process.disconnect();
    else send(error instanceof NoUsableInput ? error.message : String(error), []);
  }
}

function send(found: Look['found'], progress: readonly RankProgress[]): void {
  const { user, system } = process.cpuUsage();
  const look: Look = { found, progress, cpu: (user + system) / 1000 };
  process.send!(look, () => {
    process.disconnect();
  });
}
