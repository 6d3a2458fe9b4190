/**
 * Text from a file may contain any character. It must not control a terminal or deceive a person. So control characters, changes of the
 * writing direction, characters without width and unpaired surrogates are not shown.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '?');
}

/**
 * Unicode's category Other (control, format, unassigned, private, surrogate), separators except the space, invisible letters, selectors of
 * variants, and piles of marks.
 */
const UNPRINTABLE =
  /[\p{C}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|[\p{Variation_Selector}]|\u034f|\u17b4|\u17b5|\p{M}{4,}/gu;
