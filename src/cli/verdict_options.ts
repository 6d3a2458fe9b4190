/** The option of all commands that give a verdict. */

import type { Command } from 'commander';
import { amount } from './numbers.js';

export const addVerdictOptions = (command: Command): Command =>
  command.option(
    '--hung-after <seconds>',
    'age from which a stall is HUNG (default: 30 or more)',
    // Less than a heartbeat would call all pending work hung. More than weeks is a typing error.
    amount('a number of seconds', { least: 1, most: 1e6 }),
  );
