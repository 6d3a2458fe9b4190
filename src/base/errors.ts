/**
 * The ways a command can fail that are not bugs. Each carries a message that is shown as it is, without a
 * stack: one sentence that says what is wrong, where, why that may be, and what to do. The command line turns
 * the class into an exit code (src/cli/exit.ts).
 */

export interface RankFileFault {
  readonly path: string;
  /** What is wrong, without path or offset: "not a rank file", "the header's check does not match". */
  readonly what: string;
  /** Byte position in the file. */
  readonly offset?: number | undefined;
  readonly expected?: string | number | bigint | undefined;
  readonly found?: string | number | bigint | undefined;
  /** How a file comes to be like this: "the copy was cut short". */
  readonly why?: string | undefined;
  /** What the person can do now: "copy it again". */
  readonly advice: string;
}

/** A file of which nothing can be used. A file with usable parts is read, and its problems are counted. */
export class RankFileError extends Error {
  override readonly name = 'RankFileError';
  readonly path: string;
  readonly offset: number | undefined;
  readonly expected: string | number | bigint | undefined;
  readonly found: string | number | bigint | undefined;
  readonly advice: string;

  constructor(fault: RankFileFault, options?: ErrorOptions) {
    super(sentence(fault), options);
    this.path = fault.path;
    this.offset = fault.offset;
    this.expected = fault.expected;
    this.found = fault.found;
    this.advice = fault.advice;
  }
}

/** "DIR/rank3.bin: not a rank file at byte 0 (expected A, found B), perhaps the copy was cut short; copy it again" */
function sentence(fault: RankFileFault): string {
  const at = fault.offset === undefined ? '' : ` at byte ${fault.offset}`;
  const values = [
    fault.expected === undefined ? '' : `expected ${fault.expected}`,
    fault.found === undefined ? '' : `found ${fault.found}`,
  ].filter((value) => value !== '');
  const compared = values.length === 0 ? '' : ` (${values.join(', ')})`;
  const why = fault.why === undefined ? '' : `, perhaps ${fault.why}`;
  return `${fault.path}: ${fault.what}${at}${compared}${why}; ${fault.advice}`;
}

/** The command line asks for something that cannot be: an unknown option, two that exclude each other. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** No input file can be used; the message tells of each in a sentence. */
export class NoUsableInput extends Error {
  override readonly name = 'NoUsableInput';
}

/** The person or the system asked us to stop; what was in the making is gone. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor(
    message: string,
    /** Which signal it was, where it was one. */
    readonly signal?: string,
  ) {
    super(message);
  }
}

/** The result could not be written. The cause is the system's own error, when there is one. */
export class OutputError extends Error {
  override readonly name = 'OutputError';

  constructor(
    readonly path: string,
    what: string,
    readonly advice: string,
    options?: ErrorOptions,
  ) {
    super(`${path}: ${what}; ${advice}`, options);
  }
}
