/**
 * A sentence about files whose names may have to be hidden. The names are kept apart from our own text. How each name is shown is decided
 * when the sentence is printed. Plain data, so it can go to another thread.
 */

export interface Named {
  /** Path of a file or a folder. */
  readonly path: string;
}

/** Strings are our own text and hold no names to hide. */
export type Sentence = readonly (string | Named)[];

/** about`${{ path }}: named ${3} times` */
export const about = (
  parts: TemplateStringsArray,
  ...values: readonly (string | number | Named)[]
): Sentence =>
  parts.flatMap((part, i) => {
    const value = values[i];
    return value === undefined ? [part] : [part, typeof value === 'number' ? String(value) : value];
  });

/** `shown`: how to show a path; by default unchanged. */
export const sentenceText = (sentence: Sentence, shown: (path: string) => string = (path) => path): string =>
  sentence.map((part) => (typeof part === 'string' ? part : shown(part.path))).join('');

/** For a path that has no alias. */
export const HIDDEN_PATH = 'another path';
