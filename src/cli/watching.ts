/** What is only for a person who watches: progress on one line that is rewritten, and a little colour. */

import type { Progress } from '../merge.js';
import { say } from './streams.js';

type Terminal = Pick<NodeJS.WriteStream, 'isTTY'>;

/** Not more often than this, ms: a terminal at the other end of the world has to keep up. */
const EVERY = 100;
/** Before so long a guess of what is left would be worth nothing, ms. */
const GUESS_AFTER = 2_000;

/** Undefined where nobody watches. */
export function showProgress(quiet: boolean): ((progress: Progress) => void) | undefined {
  if (quiet || !process.stderr.isTTY) return undefined;
  const line = progressLine();
  let shownAt = -Infinity;
  return (progress) => {
    const now = performance.now();
    const text = line(progress, now);
    const isLast = progress.done === progress.total;
    if (!isLast && now - shownAt < EVERY) return;
    shownAt = now;
    say(`\r\x1b[K${isLast ? '' : text}`);
  };
}

/** "convert 12/64 files, 3.1/s, about 17 s left". What is left is only said where the files so far speak for the rest. */
export function progressLine(): (progress: Progress, nowMs: number) => string {
  let stage = '';
  let startedAt = 0;
  let firstDone = 0;
  return ({ stage: current, done, total }, now) => {
    if (current !== stage) [stage, startedAt, firstDone] = [current, now, done];
    const elapsed = now - startedAt;
    const words = `${current} ${done}/${total} files`;
    if (elapsed < GUESS_AFTER || done <= firstDone) return words;
    const perSecond = ((done - firstDone) * 1000) / elapsed;
    const rate = `${words}, ${perSecond.toFixed(1)}/s`;
    const isHonest = done - firstDone >= 3 && done * 10 >= total;
    return isHonest ? `${rate}, about ${Math.ceil((total - done) / perSecond)} s left` : rate;
  };
}

/** NO_COLOR (https://no-color.org): set and not empty means none. */
export const wantsColour = (stream: Terminal, env: NodeJS.ProcessEnv = process.env): boolean =>
  stream.isTTY && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';

const COLOURS: Readonly<Record<string, string>> = {
  HUNG: '1;31',
  BROKEN: '1;31',
  MISMATCH: '1;31',
  SLOW: '1;33',
  WAITING: '1;33',
  UNCLEAR: '1;33',
  WORKING: '1;33',
  HEALTHY: '1;32',
};

/** The verdict's first word alone. */
export function coloured(report: string, stream: Terminal): string {
  if (!wantsColour(stream)) return report;
  return report.replace(/^[A-Z]+/, (word) => {
    const colour = COLOURS[word];
    return colour === undefined ? word : `\x1b[${colour}m${word}\x1b[0m`;
  });
}
