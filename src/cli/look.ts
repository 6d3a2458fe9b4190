/**
 * One look of `watch` at the records: the verdict of `inspect` on the files that it is sent, in a process of its own. So the watcher keeps
 * little memory between two looks, and a disk that hangs stops the look alone.
 */

import { Interrupted, NoUsableInput } from '../base/errors.js';
import { rankProgress, type RankProgress } from '../live/rank_progress.js';
import type { Look, Wanted } from '../live/watch.js';
import { workOf, type Counted, type Work } from '../live/work.js';
import { diagnose } from '../report/diagnosis.js';

/** What it is sent. */
export interface LookRequest extends Pick<Wanted, 'files'>, Partial<Omit<Wanted, 'files'>> {
  readonly hungAfter: number | undefined;
  /** The collectives that were counted before; undefined: nothing is to be counted. */
  readonly counted?: readonly Counted[] | undefined;
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

async function answer({ files, last, isWhole, hungAfter, counted }: LookRequest): Promise<void> {
  try {
    // One thread: the job needs the other cores.
    let progress: RankProgress[] = [];
    let work: Work | null = null;
    const found = await diagnose(files, {
      ...(last === undefined ? {} : { select: { last: last * 1e6 } }),
      ...(isWhole === false ? { isLapOnly: true } : { aroundNs: Infinity }),
      ...{ hungAfter, jobs: 1, interrupt: interrupt.signal },
      onStudied: (studied, numbers) => {
        progress = rankProgress(studied);
        if (counted !== undefined) work = workOf(studied, numbers, counted);
      },
    });
    send(found, progress, work);
  } catch (error) {
    if (error instanceof Interrupted) process.disconnect();
    else send(error instanceof NoUsableInput ? error.message : String(error), [], null);
  }
}

function send(found: Look['found'], progress: readonly RankProgress[], work: Work | null): void {
  const { user, system } = process.cpuUsage();
  const look: Look = { found, progress, work, cpu: (user + system) / 1000 };
  process.send!(look, () => {
    process.disconnect();
  });
}
