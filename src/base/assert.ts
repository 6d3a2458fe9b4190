/**
 * Errors that can only happen if this program is wrong. A broken *file* is never a bug: the reader reports it as a RankFileError (nothing
 * usable) or as a counted problem (damaged but usable).
 */

/** A defect in this program, not in its input. The command line shows its stack, and only its stack. */
export class BugError extends Error {
  override readonly name = 'BugError';

  constructor(message: string) {
    super(`bug in nccl-trace: ${message}`);
  }
}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new BugError(message);
}

/** Ends an exhaustive `switch`: a new member of the union becomes a compile error here. */
export function assertNever(value: never, what = 'case'): never {
  throw new BugError(`unexpected ${what}: ${String(value)}`);
}
