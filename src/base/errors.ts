/**
 * The ways a command can fail without a bug. Each has a message that is shown without a stack: one sentence that says what is
 * wrong, where, the likely cause, and what to do. The command line turns the class into an exit code (src/cli/exit.ts).
 */

import { sentenceText, type Sentence } from './sentence.js';

export interface RankFileFault {
  readonly path: string;
  /** What is wrong, without path, names or offset: "not a rank file", "the header's check does not match". */
  readonly what: string;
  /** Byte position in the file. */
  readonly offset?: number | undefined;
  readonly expected?: string | number | bigint | undefined;
  readonly found?: string | number | bigint | undefined;
  /** The likely cause: "the copy was cut short". */
  readonly why?: string | Sentence | undefined;
  /** What to do: "copy it again". */
  readonly advice: string;
}

/** Nothing in the file can be used. A file with usable parts is read, and its problems are counted. */
export class RankFileError extends Error {
  override readonly name = 'RankFileError';
  readonly path: string;
  readonly offset: number | undefined;
  readonly expected: string | number | bigint | undefined;
  readonly found: string | number | bigint | undefined;
  readonly what: string;
  readonly advice: string;
  /** The message, before names of files are hidden or shown. */
  readonly sentence: Sentence;

  constructor(fault: RankFileFault, options?: ErrorOptions) {
    const sentence: Sentence = [{ path: fault.path }, ': ', ...faultText(fault)];
    super(sentenceText(sentence), options);
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
function faultText(fault: RankFileFault): Sentence {
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

/** The command line is wrong: an unknown option, or two that exclude each other. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** No input file can be used. The message has a sentence on each. */
export class NoUsableInput extends Error {
  override readonly name = 'NoUsableInput';
}

/** A signal asked us to stop. Unfinished output was removed. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor(
    message: string,
    /** Which signal, if it was one. */
    readonly signal?: string,
  ) {
    super(message);
  }
}

/** The result could not be written. The cause is the system's error, if there is one. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
  /** The message, before names of files are hidden or shown. */
  readonly sentence: Sentence;

  constructor(
    readonly path: string,
    what: string | Sentence,
    readonly advice: string,
    options?: ErrorOptions,
  ) {
    const parts = typeof what === 'string' ? [what] : what;
    const sentence: Sentence = [{ path }, ': ', ...parts, `; ${advice}`];
    super(sentenceText(sentence), options);
    this.sentence = sentence;
  }
}
