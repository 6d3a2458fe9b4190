/** The options of all commands that solve clocks. */

import { InvalidArgumentError, Option, type Command } from 'commander';
import { oneOf } from './one_of.js';

const CLOCKS = ['auto', 'realtime'];

export function addClockOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--clock <by>', 'align the hosts by the transfers between them, or by NTP alone')
        .choices(CLOCKS)
        .argParser(oneOf(CLOCKS))
        .default('auto'),
    )
    .option(
      '--clock-alike <part>',
      'assumption of the 99 % bound: minimum delays of similar links differ at most by this fraction (default: 0.35)',
      part,
    )
    .option(
      '--clock-wander <ppm>',
      'assumption of the hard bound: the rate of a clock changes at most by this, in ppm per minute (default: 3)',
      wander,
    );
}

function wander(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1000)) throw new InvalidArgumentError('must be above 0 and at most 1000.');
  return value;
}

function part(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 10)) throw new InvalidArgumentError('must be above 0 and at most 10.');
  return value;
}
