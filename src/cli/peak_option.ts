/** `--peak`, for the commands that report: the peak bandwidth of the hosts' network, because no rank file contains it. */

import { InvalidArgumentError, type Command } from 'commander';
import type { Peaks } from '../analysis/allowed_rate.js';

export const addPeakOption = (command: Command): Command =>
  command.option(
    '--peak <[host=]GBs>',
    'GB/s that all NICs of a host can send together, for each host or for one; may be repeated. The report compares collectives with it',
    collected,
  );

function collected(text: string, before: Peaks | undefined): Peaks {
  const at = text.lastIndexOf('=');
  const [host, number] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  const rate = Number(number);
  if (!/^\d+(\.\d+)?$/.test(number) || rate <= 0 || rate > 1e6)
    throw new InvalidArgumentError('must be a number of GB/s, or HOST= and one.');
  const known = before ?? { all: null, byHost: new Map<string, number>() };
  return at < 0
    ? { ...known, all: rate }
    : { ...known, byHost: new Map([...known.byHost, [host, rate] as const]) };
}
