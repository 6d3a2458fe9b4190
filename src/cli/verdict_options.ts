/** The option of all commands that pass a verdict. */

import { InvalidArgumentError, type Command } from 'commander';

export const addVerdictOptions = (command: Command): Command =>
  command.option(
    '--hung-after <seconds>',
    'how long living ranks may stand before that is called HUNG, or do nothing before that is UNCLEAR (default: 30, or twice what they took or paused before)',
    seconds,
  );

function seconds(text: string): number {
  const value = Number(text);
  // Less than a heartbeat would call everything hung that is under way; more than a run of weeks lasts is not meant.
  if (!/^\d+(\.\d+)?$/.test(text) || value < 1 || value > 1e6)
    throw new InvalidArgumentError('want a number of seconds, from 1 to a million.');
  return value;
}
