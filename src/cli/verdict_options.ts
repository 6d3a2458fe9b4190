/** The option of all commands that give a verdict. */

import type { Command } from 'commander';
import { amount } from './numbers.js';

export const addVerdictOptions = (command: Command): Command =>
  command.option(
    '--hung-after <seconds>',
    'a stall of live ranks is HUNG after this time, idle live ranks are UNCLEAR (default: 30, or twice the longest pause before)',
    // Less than a heartbeat would call all pending work hung. More than weeks is a typing error.
    amount('a number of seconds', { least: 1, most: 1e6 }),
  );
