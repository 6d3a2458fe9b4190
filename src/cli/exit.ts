/**
 * The exit codes (docs/exit-codes.md). Scripts rely on them. A bug prints a stack and exits with 70 (EX_SOFTWARE of sysexits.h), so no script takes a crash for
 * "written, with problems".
 */

import { Interrupted, NoUsableInput, OutputError, RankFileError, UsageError } from '../base/errors.js';

export const ExitCode = {
  ok: 0,
  /** Done, and the report names problems (with --strict; otherwise `ok`). For `control`: a recorder did not answer or refused. For `diff --fail-on`: worse. */
  problems: 1,
  usage: 2,
  noUsableInput: 3,
  outputFailed: 4,
  /** The verdict is among those of --fail-on. */
  verdict: 5,
  bug: 70,
  /** The codes with which a shell reports a program that SIGHUP, SIGINT or SIGTERM ended. */
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return ExitCode.usage;
  if (error instanceof RankFileError || error instanceof NoUsableInput) return ExitCode.noUsableInput;
  if (error instanceof Interrupted) return SIGNAL_CODES[error.signal ?? 'SIGINT'] ?? ExitCode.interrupted;
  if (error instanceof OutputError) return ExitCode.outputFailed;
  return ExitCode.bug;
}

const SIGNAL_CODES: Readonly<Record<string, ExitCode>> = {
  SIGHUP: ExitCode.hungUp,
  SIGINT: ExitCode.interrupted,
  SIGTERM: ExitCode.terminated,
};
