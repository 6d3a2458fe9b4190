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

const UNITS = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };

/** Bytes, K, M or G: powers of 1,024. */
export const size =
  ({ least, most }: { readonly least: number; readonly most: number }): Parser =>
  (text) => {
    const [, digits, unit] = /^(\d+)([KMG]?)$/i.exec(text) ?? [];
    const value = Number(digits) * UNITS[(unit ?? '').toUpperCase() as keyof typeof UNITS];
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(
      `must be bytes, or a number with K, M or G, from ${least / 2 ** 20}M to ${most / 2 ** 30}G.`,
    );
  };
