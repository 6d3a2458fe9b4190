/** Options with a few values. */

import { InvalidArgumentError } from 'commander';
import { hint } from '../base/nearest.js';

/** For an option's values: commander's own check names them all, and not the one that was meant. */
export const oneOf =
  (values: readonly string[]) =>
  (text: string): string => {
    if (values.includes(text)) return text;
    throw new InvalidArgumentError(`must be one of ${values.join(', ')}.${hint(text, values)}`);
  };
