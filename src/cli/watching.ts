/** Progress and colour on a terminal. */

import type { OnProgress, Progress, Stage } from '../base/progress.js';
import { hearSignals, interruptible } from './interrupts.js';
import { complain, say } from './streams.js';

type Terminal = Pick<NodeJS.WriteStream, 'isTTY'>;

/** ms between two updates at least, so that a distant terminal can keep up. */
const EVERY = 100;
/** ms between two lines in a log or a pipe at least. The first line comes after FIRST_LINE ms. */
const LINE_EVERY = 10_000;
const FIRST_LINE = 2_000;
/** No estimate of the time left before this, ms. */
const GUESS_AFTER = 2_000;

/** For stages that do not go file by file. */
const WORDS: Readonly<Partial<Record<Stage, string>>> = {
  clocks: 'aligning the hosts',
  verdict: 'comparing what all ranks did',
  write: 'writing the trace',
};

/** On a terminal, rewrites one line and removes it at the end. Elsewhere, prints a line every ten seconds. */
export async function whileWatched<T>(
  quiet: boolean,
  work: (onProgress: OnProgress) => Promise<T>,
): Promise<T> {
  const { isTTY } = process.stderr;
  const line = progressLine();
  const isDue = isTTY ? dueOnTerminal() : dueInLog(performance.now());
  try {
    return await work((progress) => {
      // The clocks of a thousand ranks on hundreds of hosts take a minute.
      hearSignals(progress.stage !== 'clocks');
      const now = performance.now();
      const text = line(progress, now);
      if (quiet || !isDue(progress, now)) return;
      say(isTTY ? `\r\x1b[K${text}` : `${text}\n`);
    });
  } finally {
    if (isTTY && !quiet) say('\r\x1b[K');
  }
}

/** The same, and a signal interrupts it. */
export const watched = <T>(quiet: boolean | undefined, work: (about: Watched) => Promise<T>): Promise<T> =>
  interruptible((interrupt) =>
    whileWatched(quiet ?? false, (onProgress) =>
      work({ interrupt, onProgress, onWait: quiet ? undefined : complain }),
    ),
  );

export interface Watched {
  readonly interrupt: AbortSignal;
  readonly onProgress: OnProgress;
  readonly onWait: ((text: string) => void) | undefined;
}

type IsDue = (progress: Progress, nowMs: number) => boolean;

function dueOnTerminal(): IsDue {
  let stage = '';
  let shownAt = -Infinity;
  return (progress, now) => {
    if (progress.stage === stage && now - shownAt < EVERY) return false;
    [stage, shownAt] = [progress.stage, now];
    return true;
  };
}

/** A stage without files is always printed after FIRST_LINE ms. */
export function dueInLog(startedMs: number): IsDue {
  let saidAt = -Infinity;
  return ({ files }, now) => {
    if (now - startedMs < FIRST_LINE) return false;
    if (files !== null && now - saidAt < LINE_EVERY) return false;
    saidAt = now;
    return true;
  };
}

/** "convert 12/64 files, 3.1/s, about 17 s left". The time left is printed only if enough files are done to estimate it. */
export function progressLine(): (progress: Progress, nowMs: number) => string {
  let stage = '';
  let startedAt = 0;
  let firstDone = 0;
  return ({ stage: current, files }, now) => {
    if (files === null) return `${current}: ${WORDS[current] ?? 'working'}`;
    const { done, total } = files;
    if (current !== stage) [stage, startedAt, firstDone] = [current, now, done];
    const elapsed = now - startedAt;
    const counted = `${current} ${done}/${total} files`;
    if (elapsed < GUESS_AFTER || done <= firstDone) return counted;
    const perSecond = ((done - firstDone) * 1000) / elapsed;
    const rate = `${counted}, ${perSecond.toFixed(1)}/s`;
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

/** Colours the verdict's first word. */
export function coloured(report: string, stream: Terminal): string {
  if (!wantsColour(stream)) return report;
  return report.replace(/^[A-Z]{4,}/m, (word) => {
    const colour = COLOURS[word];
    return colour === undefined ? word : `\x1b[${colour}m${word}\x1b[0m`;
  });
}

/** A pipe has no width: all columns go through it. */
export const terminalWidth = (): number => (process.stdout.isTTY ? process.stdout.columns : Infinity);
