/** Plays many cases, some at the same time, because they mostly sleep. */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from './case.js';
import { play, type Look, type Played } from './play.js';

export interface PoolOptions {
  readonly folder: string;
  readonly jobs: number;
  /** Recordings stay, each with its case and diagnosis. */
  readonly keep?: boolean;
  /** performance.now(): no run begins after that. */
  readonly until?: number;
  /** `inspect --json` unless something else is given. */
  readonly look?: Look;
  readonly onPlayed?: (played: Played) => void;
}

export async function playAll(cases: readonly Case[], options: PoolOptions): Promise<Played[]> {
  const { folder, jobs, keep = false, until = Infinity, look, onPlayed } = options;
  const waiting = [...cases];
  const results: Played[] = [];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (performance.now() > until) return;
      const place = join(folder, next.name.replace(/\W+/g, '-'));
      const played = await play(next, place, look);
      results.push(played);
      if (keep) writeFileSync(join(place, 'played.json'), JSON.stringify(played, null, 1));
      else rmSync(place, { recursive: true, force: true });
      onPlayed?.(played);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return results;
}
