/** The option of all commands that pass a verdict. */

import { InvalidArgumentError, type Command } from 'commander';

export const addVerdictOptions = (command: Command): Command =>
  command.option(
    '--hung-after <seconds>',
    'a stall of live ranks is HUNG after this time, idle live ranks are UNCLEAR (default: 30, or twice the longest pause before)',
    seconds,
  );

function seconds(text: string): number {
  const value = Number(text);
  // Less than a heartbeat would call all pending work hung. More than weeks is a typing error.
  if (!/^\d+(\.\d+)?$/.test(text) || value < 1 || value > 1e6)
    throw new InvalidArgumentError('must be a number of seconds from 1 to 1000000.');
  return value;
}
