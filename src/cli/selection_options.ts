/** The options that select the part of a run to draw. */

import { InvalidArgumentError, Option, type Command } from 'commander';
import { oneOf } from './one_of.js';
import type { SelectionRequest } from '../trace/selection.js';
import { parseAround, parseDuration, parseRanks, parseTime, type AskedTime } from '../trace/asked_times.js';

const DETAILS = ['coll', 'op', 'step'];

/** As Commander returns them. */
export interface SelectionOptions {
  readonly ranks?: SelectionRequest['ranks'];
  readonly comm?: SelectionRequest['comms'];
  readonly from?: SelectionRequest['from'];
  readonly to?: SelectionRequest['to'];
  readonly around?: SelectionRequest['around'];
  readonly last?: SelectionRequest['last'];
  readonly detail?: SelectionRequest['detail'];
}

export const SELECTION_EXAMPLES = `  $ nccl-trace merge DIR --ranks 0-7,42              these ranks; the cluster group still covers all
  $ nccl-trace merge DIR --comm dp --comm 0x5cb6     these communicators, by name or id
  $ nccl-trace merge DIR --last 60s                  the last minute
  $ nccl-trace merge DIR --around 03:02:11,2s        2 s before and after (default 5 s)
  $ nccl-trace merge DIR --from 2026-03-01T03:02:11Z --to 2026-03-01T03:05:00Z
  $ nccl-trace merge DIR --from 90s --to 1.5h        counted from the trace's start
  $ nccl-trace merge DIR --detail op                 operations and kernels of the whole run
`;

export function addSelectionOptions(command: Command): Command {
  command
    .option('--ranks <list>', 'draw these ranks only: 0-7,42', ranks)
    .option('--comm <name|id>', 'draw this communicator only; may be repeated', collect);
  return addTimeOptions(command, 'draw').addOption(
    new Option(
      '--detail <depth>',
      'coll: collectives and calls; op: also proxy operations and kernels; step: everything (default: what a browser can show)',
    )
      .choices(DETAILS)
      .argParser(oneOf(DETAILS)),
  );
}

/** `what`: whether the time is drawn or read. */
export const addTimeOptions = (command: Command, what: 'draw' | 'read'): Command =>
  command
    .option(
      '--from <time>',
      `${what} from this time on: UTC (2026-03-01T03:02:11.5Z, or 03:02:11), or since the start (90s, 1.5m, 2h; a plain number is seconds)`,
      time,
    )
    .option('--to <time>', `${what} up to this time; as for --from`, time)
    .option('--around <time[,duration]>', `${what} this long before and after a time (default 5s)`, around)
    .option('--last <duration>', `${what} the end of the run: 60s`, duration);

export function selectionRequest(options: SelectionOptions): SelectionRequest {
  const { comm: comms, ranks, from, to, around, last, detail } = options;
  return { ranks, comms, from, to, around, last, detail };
}

function ranks(text: string): SelectionRequest['ranks'] {
  return parseRanks(text) ?? refuse('give ranks and ranges, as in 0-7,42.');
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

function time(text: string): AskedTime {
  return (
    parseTime(text) ??
    refuse('give a time in UTC (2026-03-01T03:02:11Z, or 03:02:11) or since the start (90s, 1.5m, 2h).')
  );
}

function around(text: string): SelectionRequest['around'] {
  return parseAround(text) ?? refuse('give a time and how far around it, as in 03:02:11,2s or 90s,500ms.');
}

function duration(text: string): number {
  return parseDuration(text) ?? refuse('give a duration, as in 60s, 1.5m or 500ms.');
}

function refuse(what: string): never {
  throw new InvalidArgumentError(what);
}
