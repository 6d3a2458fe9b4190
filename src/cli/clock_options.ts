/** The options of all commands that align clocks. */

import { Option, type Command } from 'commander';
import { amount } from './numbers.js';
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
      'for the 99 % bound: how much the minimum delays of similar links differ, as a standard deviation (default: 0.35, 35 % of the delay)',
      amount('a fraction', { above: 0, most: 10 }),
    )
    .option(
      '--clock-wander <ppm>',
      'assumption of the hard bound: the rate of a clock changes at most by this, in ppm per minute (default: 3)',
      amount('a number of ppm', { above: 0, most: 1000 }),
    );
}
