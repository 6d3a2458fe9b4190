/** What is known of the job that is followed: its files, the newest look at its records, and what all looks at its run counted. */

import type { Diagnosis } from '../report/diagnosis.js';
import { NO_SIGHT, type Sight } from './follow.js';
import type { RankProgress } from './rank_progress.js';
import type { Look } from './watch.js';
import { WorkTotals } from './work.js';

export class SeenJob {
  sight = NO_SIGHT;
  /** null: there was no look at the records of this run yet. */
  look: {
    readonly found: Diagnosis;
    readonly progress: readonly RankProgress[];
    /** s since the Unix epoch, and ms of the clock of `sight`. */
    readonly at: number;
    readonly began: number;
  } | null = null;
  looks = { count: 0, cpuSeconds: 0 };
  work = new WorkTotals();

  see(sight: Sight): void {
    if (sight.run !== this.sight.run) {
      this.look = null;
      this.work = new WorkTotals();
    }
    this.sight = sight;
  }

  take({ found, progress, work, cpu }: Look): void {
    const { count, cpuSeconds } = this.looks;
    this.looks = { count: count + 1, cpuSeconds: cpuSeconds + cpu / 1000 };
    if (typeof found !== 'string')
      this.look = { found, progress, at: Date.now() / 1000, began: performance.now() - cpu };
    if (work !== null) this.work.take(work);
  }
}
