/** Options with a few values. */

import { InvalidArgumentError } from 'commander';
import { hint } from '../base/nearest.js';

/** Parses an option's value and suggests the one that was meant. Commander's own check only lists all values. */
export const oneOf =
  (values: readonly string[]) =>
  (text: string): string => {
    if (values.includes(text)) return text;
    throw new InvalidArgumentError(`must be one of ${values.join(', ')}.${hint(text, values)}`);
  };
