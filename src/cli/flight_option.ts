/** `--flight-recorder`, for the commands that print a verdict. */

import type { Command } from 'commander';

export const addFlightOption = (command: Command): Command =>
  command.option('--flight-recorder <folder>', "dumps of PyTorch's Flight Recorder: Python stacks");
