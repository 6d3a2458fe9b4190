/**
 * The ways a command can fail that are not bugs. Each carries a message that is shown as it is, without a
 * stack: one sentence that says what is wrong, where, why that may be, and what to do. The command line turns
 * the class into an exit code (src/cli/exit.ts).
 */

import { inWords, type Sentence } from './sentence.js';

export interface RankFileFault {
  readonly path: string;
  /** What is wrong, without path, names or offset: "not a rank file", "the header's check does not match". */
  readonly what: string;
  /** Byte position in the file. */
  readonly offset?: number | undefined;
  readonly expected?: string | number | bigint | undefined;
  readonly found?: string | number | bigint | undefined;
  /** How a file comes to be like this: "the copy was cut short". */
  readonly why?: string | Sentence | undefined;
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
  readonly what: string;
  readonly advice: string;
  /** The message, in which the names of files can still be hidden. */
  readonly sentence: Sentence;

  constructor(fault: RankFileFault, options?: ErrorOptions) {
    const sentence: Sentence = [{ path: fault.path }, ': ', ...faultWords(fault)];
    super(inWords(sentence), options);
    this.sentence = sentence;
    this.path = fault.path;
    this.what = fault.what;
    this.offset = fault.offset;
    this.expected = fault.expected;
    this.found = fault.found;
    this.advice = fault.advice;
  }
}

/** "not a rank file at byte 0 (expected A, found B), perhaps the copy was cut short; copy it again" */
function faultWords(fault: RankFileFault): Sentence {
  const at = fault.offset === undefined ? '' : ` at byte ${fault.offset}`;
  const values = [
    fault.expected === undefined ? '' : `expected ${fault.expected}`,
    fault.found === undefined ? '' : `found ${fault.found}`,
  ].filter((value) => value !== '');
  const compared = values.length === 0 ? '' : ` (${values.join(', ')})`;
  const { why } = fault;
  const because = why === undefined ? [] : [', perhaps ', ...(typeof why === 'string' ? [why] : why)];
  return [`${fault.what}${at}${compared}`, ...because, `; ${fault.advice}`];
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
  /** The message, in which the names of files can still be hidden. */
  readonly sentence: Sentence;

  constructor(
    readonly path: string,
    what: string | Sentence,
    readonly advice: string,
    options?: ErrorOptions,
  ) {
    const words = typeof what === 'string' ? [what] : what;
    const sentence: Sentence = [{ path }, ': ', ...words, `; ${advice}`];
    super(inWords(sentence), options);
    this.sentence = sentence;
  }
}
