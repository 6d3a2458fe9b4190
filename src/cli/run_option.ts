/** Choosing among the runs of a directory: `--run NAME` of every command that reads rank files. */

import type { Command } from 'commander';

/** Answers `--run list`, and returns whether it was asked. */
export async function listsRuns(
  inputs: readonly string[],
  options: { readonly run?: string; readonly json?: true; readonly redact?: true },
): Promise<boolean> {
  if (options.run !== 'list') return false;
  await (await import('./run_list.js')).printRuns(inputs, options);
  return true;
}

export const addRunOption = (command: Command): Command =>
  command.option('--run <name>', 'which of several runs (default: newest), or list');

export const addRunOptions = (command: Command): Command =>
  addRunOption(command).option(
    '--redact',
    'replace names of hosts, programs, jobs, communicators, threads, GPUs and files (host-1, comm-2...)',
  );
