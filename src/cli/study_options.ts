/** The options of all commands that study a run: its name, its clocks, and the age from which a stall is a hang. */

import type { Command } from 'commander';
import { addClockOptions } from './clock_options.js';
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
