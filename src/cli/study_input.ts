/** A .study in place of rank files, for the commands that only read. `nccl-trace study` has already chosen its run, clocks and names. */

import { UsageError } from '../base/errors.js';
import type { examine, Examined } from '../report/examine.js';
import { studyAmong } from '../shards/file_kind.js';
import { studyOptions, type StudyFlags } from './study_options.js';

const DECIDED = {
  run: '--run',
  redact: '--redact',
  hungAfter: '--hung-after',
  clockAlike: '--clock-alike',
  clockWander: '--clock-wander',
} as const satisfies Partial<Record<keyof StudyFlags, string>>;

/**
 * null: the paths are rank files. Throws UsageError for a .study beside other files, or for options that only `nccl-trace study` can
 * follow.
 */
export function studyIn(paths: readonly string[], flags: StudyFlags): string | null {
  const study = studyAmong(paths);
  if (study === null) return null;
  const given: string[] = Object.entries(DECIDED).flatMap(([flag, option]) =>
    flags[flag as keyof typeof DECIDED] === undefined ? [] : [option],
  );
  if (flags.clock === 'realtime') given.push('--clock');
  if (given.length === 0) return study;
  throw new UsageError(`${study}: is a .study: give ${given.join(', ')} to "nccl-trace study"`);
}

/** For commands that read the rank files once more, or other files beside them. Throws UsageError for a .study. */
export function refuseStudy(paths: readonly string[], flags: StudyFlags): void {
  const study = studyIn(paths, flags);
  if (study !== null)
    throw new UsageError(`${study}: is a .study, which has too little for this; name rank files`);
}

/** Examines rank files or a .study. Throws NoUsableInput, UsageError. */
export async function examineAny(
  paths: readonly string[],
  flags: StudyFlags,
  options: Parameters<typeof examine>[1] = {},
): Promise<Examined> {
  const study = studyIn(paths, flags);
  return study === null
    ? (await import('../report/examine.js')).examine(paths, { ...studyOptions(flags), ...options })
    : (await import('../shards/study_file.js')).examineStudy(study, options);
}
