/**
 * `nccl-trace collectives`, `links`, `ranks`, `waits`: print one table of a run. A terminal gets the first rows with units, and as many
 * columns as it is wide. Spreadsheets and notebooks get all, as raw numbers.
 */

import type { Command } from 'commander';
import { commandWith } from './help.js';
import { UsageError } from '../base/errors.js';
import { shownTable, sorted } from '../report/shown_table.js';
import type { TableName } from '../report/run_tables.js';
import { csvOf, jsonOf, tableOf } from '../report/table_formats.js';
import type { ExitCode as Exit } from './exit.js';
import { ExitCode } from './exit.js';
import { interruptible } from './interrupts.js';
import { wholeNumber } from './numbers.js';
import { LIST } from './run_option.js';
import { complain, print, tellProblems } from './streams.js';
import { whileWatched } from './watching.js';
import { examineAny } from './study_input.js';
import { addMemoryOption } from './memory_option.js';
import { addStudyOptions, type StudyFlags } from './study_options.js';

interface Options extends StudyFlags {
  readonly pairs?: true;
  readonly sort?: string;
  readonly top?: number;
  readonly csv?: true;
  readonly json?: true;
  readonly quiet?: true;
}

const ABOUT: Readonly<Record<TableName, string>> = {
  collectives: 'Every collective: duration, skew, bandwidth, late rank.',
  links: 'Every connection: bytes, transfers, latency and rate.',
  ranks: 'Every rank: how late it came, what its transfers waited for.',
  waits: 'Who waited for whom, for how long.',
};

export const tableCommand =
  (name: TableName) =>
  (setExit: (code: Exit) => void): Command => {
    const command = commandWith(name, `Examples:\n  $ nccl-trace ${name} RUN --csv > ${name}.csv\n`)
      .description(ABOUT[name])
      .argument('<paths...>', 'rank files, their directories, or a .study')
      .option('--sort <column>', 'largest number or first name first; -COLUMN: last')
      .option('--top <n>', 'the first N rows (default: 40, in CSV and JSON all)', wholeNumber(1))
      .option('--csv', 'all rows as CSV (schemas/tables.md)')
      .option('--json', 'all rows as JSON')
      .option('-q, --quiet', 'print the table and errors only');
    if (name === 'links') command.option('--pairs', 'one row per pair of ranks: all its channels together');
    return addMemoryOption(addStudyOptions(command)).action(async (paths: string[], options: Options) => {
      setExit(await run(name, paths, options));
    });
  };

async function run(name: TableName, inputs: readonly string[], options: Options): Promise<Exit> {
  if (options.csv && options.json) throw new UsageError('--csv and --json exclude each other');
  if (options.run === LIST) {
    await (await import('./run_list.js')).printRuns(inputs, options);
    return ExitCode.ok;
  }
  const note = options.quiet ? undefined : complain;
  const { report, numbers } = await interruptible((interrupt) =>
    whileWatched(options.quiet ?? false, (onProgress) =>
      examineAny(inputs, options, { interrupt, onProgress, onWait: note }),
    ),
  );
  tellProblems(report, options.quiet);
  const table = sorted(tableOf(name, report, numbers.collectives, options.pairs), options.sort);
  const { top } = options;
  const first = { ...table, rows: table.rows.slice(0, top) };
  await print(
    options.csv
      ? csvOf(first)
      : options.json
        ? jsonOf(first)
        : shownTable(table, { top, width: terminalWidth() }),
  );
  return ExitCode.ok;
}

/** A pipe has no width: all columns go through it. */
const terminalWidth = (): number => (process.stdout.isTTY ? process.stdout.columns : Infinity);
