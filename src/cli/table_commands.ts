/**
 * `nccl-trace collectives`, `links`, `ranks`, `waits`: print one table of a run. A terminal gets the first rows with units, and as many
 * columns as it is wide. Scripts and spreadsheets get all, as raw numbers. `export` writes all tables as files.
 */

import type { Command } from 'commander';
import { commandWith } from './help.js';
import { UsageError } from '../base/errors.js';
import { shownTable, sorted } from '../report/shown_table.js';
import type { ShownName } from '../report/run_tables.js';
import { csvOf, jsonOf, tableOf } from '../report/table_formats.js';
import type { ExitCode as Exit } from './exit.js';
import { ExitCode } from './exit.js';
import { wholeNumber } from './numbers.js';
import { listsRuns } from './run_option.js';
import { print, tellProblems } from './streams.js';
import { terminalWidth, watched } from './watching.js';
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

const ABOUT: Readonly<Record<ShownName, string>> = {
  collectives: 'Every collective: duration, skew, bandwidth, late rank.',
  links: 'Every connection: bytes, transfers, latency and rate.',
  ranks: 'Every rank: how late it came, what its transfers waited for.',
  waits: 'Who waited for whom, for how long.',
};

export const tableCommand =
  (name: ShownName) =>
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

async function run(name: ShownName, inputs: readonly string[], options: Options): Promise<Exit> {
  if (options.csv && options.json) throw new UsageError('--csv and --json exclude each other');
  if (await listsRuns(inputs, options)) return ExitCode.ok;
  const { report, numbers } = await watched(options.quiet, (about) => examineAny(inputs, options, about));
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
