/** Choosing among the runs of a directory: `--run NAME` of every command that reads rank files. run_list.ts answers `--run list`. */

import type { Command } from 'commander';

export const LIST = 'list';

export const addRunOption = (command: Command): Command =>
  command.option('--run <name>', 'which of several runs (default: newest), or list');

export const addRunOptions = (command: Command): Command =>
  addRunOption(command).option(
    '--redact',
    'replace names of hosts, programs, jobs, communicators, threads, GPUs and files (host-1, comm-2...)',
  );
