/** Choosing among the runs of a directory: `--run NAME` of every command that reads rank files, and `--run list`. */

import type { Command } from 'commander';
import { foldRanks } from '../base/ranks.js';
import { NoUsableInput } from '../base/errors.js';
import { listRuns, type RunListing } from '../merge.js';
import { complain } from './streams.js';
import { cut } from '../report/text.js';
import { textTable } from '../report/text_table.js';

export const LIST = 'list';

export const addRunOption = (command: Command): Command =>
  command.option('--run <name>', 'which of several runs (default: newest), or list');

export const addRunOptions = (command: Command): Command =>
  addRunOption(command).option(
    '--redact',
    'replace names of hosts, programs, jobs, communicators, threads, GPUs and files (host-1, comm-2...)',
  );

/** `--run list`: all runs on the standard output, the newest first. Throws NoUsableInput, RankFileError. */
export function runList(
  inputs: readonly string[],
  { json, redact }: { readonly json?: true; readonly redact?: true },
): string {
  const { runs, problems } = listRuns(inputs, { redact });
  for (const problem of problems) complain(problem);
  if (runs.length === 0) throw new NoUsableInput('no rank file can be used');
  return json ? `${JSON.stringify({ version: 1, runs }, null, 2)}\n` : table(runs);
}

function table(runs: readonly RunListing[]): string {
  const titles = ['run', 'started (UTC)', 'last sign', 'files', 'ranks'];
  const rows = runs.map(({ name, started, lastSeen, files, ranks, worldSize }) => [
    name,
    started,
    duration(Date.parse(lastSeen) - Date.parse(started)),
    String(files.length),
    cut(`${foldRanks(ranks) || 'unknown'}${worldSize > ranks.length ? ` of ${worldSize}` : ''}`, 24),
  ]);
  return textTable(
    titles.map((title) => ({ title, isNumber: title === 'last sign' || title === 'files' })),
    rows,
  );
}

/** The time from the start to the last sign. */
function duration(ms: number): string {
  if (Number.isNaN(ms)) return 'unknown';
  return ms < 120e3 ? `+${(ms / 1e3).toFixed(0)} s` : `+${(ms / 60e3).toFixed(0)} min`;
}
