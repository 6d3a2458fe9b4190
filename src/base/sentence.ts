/**
 * A sentence about files whose names may have to stay hidden: the names stay apart from our words until it is printed, whatever
 * characters they hold. Only there is it decided how each is shown. Plain data, which may go to another thread.
 */

export interface Named {
  /** Path of a file or a folder. */
  readonly path: string;
}

/** What is no `Named` are our own words, and names nobody. */
export type Sentence = readonly (string | Named)[];

/** about`${{ path }}: named ${3} times` */
export const about = (
  words: TemplateStringsArray,
  ...values: readonly (string | number | Named)[]
): Sentence =>
  words.flatMap((word, i) => {
    const value = values[i];
    return value === undefined ? [word] : [word, typeof value === 'number' ? String(value) : value];
  });

/** `shown`: how a path is told; default: as it is. */
export const inWords = (sentence: Sentence, shown: (path: string) => string = (path) => path): string =>
  sentence.map((part) => (typeof part === 'string' ? part : shown(part.path))).join('');

/** For a path that has no alias. */
export const HIDDEN_PATH = 'another path';
