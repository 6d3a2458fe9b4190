/**
 * Numbers in options: digits and at most one point. Other forms that JavaScript reads as numbers (0x10, 1e3, an empty text) are typing
 * errors. Commander prints the message of these errors after the name of the option.
 */

import { InvalidArgumentError } from 'commander';

type Parser = (text: string) => number;

export const wholeNumber =
  (least: number, most = Infinity): Parser =>
  (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= Math.min(most, Number.MAX_SAFE_INTEGER))
      return value;
    throw new InvalidArgumentError(
      `must be a whole number from ${least} ${most < Infinity ? `to ${most}` : 'up'}.`,
    );
  };

/** `above`: greater than this; `least`: at least this. */
type Range = ({ readonly above: number } | { readonly least: number }) & { readonly most: number };

/** `what`: "a number of seconds". */
export const amount =
  (what: string, range: Range): Parser =>
  (text) => {
    const value = Number(text);
    const isEnough = 'above' in range ? value > range.above : value >= range.least;
    if (/^\d*\.?\d+$/.test(text) && isEnough && value <= range.most) return value;
    const from = 'above' in range ? `above ${range.above} and at most` : `from ${range.least} to`;
    throw new InvalidArgumentError(`must be ${what} ${from} ${range.most}.`);
  };
