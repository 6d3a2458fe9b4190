/** The options of all commands that study a run: its name, its clocks, and the age from which a stall is a hang. */

import type { Command } from 'commander';
import { addClockOptions } from './clock_options.js';
import { wholeNumber } from './numbers.js';
import { addRunOptions } from './run_option.js';
import { addVerdictOptions } from './verdict_options.js';

/** As Commander returns them. */
export interface StudyFlags {
  readonly run?: string;
  readonly redact?: true;
  readonly clock?: 'auto' | 'realtime';
  readonly clockAlike?: number;
  readonly clockWander?: number;
  readonly hungAfter?: number;
}

/** The option is the same in each command that reads many files. */
export const JOBS = [
  '-j, --jobs <n>',
  'files to work on at once (default: by size, at most one per CPU)',
  wholeNumber(1),
] as const;

export const addStudyOptions = (command: Command): Command =>
  addVerdictOptions(addClockOptions(addRunOptions(command)));

/** As `study` takes them. */
export const studyOptions = ({ run, redact, clock, clockAlike, clockWander, hungAfter }: StudyFlags) => ({
  run,
  redact,
  clock,
  alike: clockAlike,
  wander: clockWander,
  hungAfter,
});
