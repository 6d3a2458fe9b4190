/** `nccl-trace export`: all tables of a run as Parquet or CSV files, for notebooks and databases. */

import type { Command } from 'commander';
import { UsageError } from '../base/errors.js';
import { exportRun } from '../export/export.js';
import { printable } from '../report/text.js';
import { ExitCode } from './exit.js';
import { commandWith } from './help.js';
import { addMemoryOption } from './memory_option.js';
import { listsRuns } from './run_option.js';
import { say, tellProblems } from './streams.js';
import { refuseStudy } from './study_input.js';
import { addStudyOptions, JOBS, studyOptions, type StudyFlags } from './study_options.js';
import { watched } from './watching.js';
import { addWithOption, withFiles } from './with_option.js';

interface Options extends StudyFlags {
  readonly parquet?: string;
  readonly csv?: string;
  readonly jobs?: number;
  readonly quiet?: true;
  readonly with?: string[];
}

const EXAMPLES = `Examples:
  $ nccl-trace export RUN --parquet tables       for DuckDB, pandas, Polars, Spark: SELECT * FROM 'tables/links.parquet'
  $ nccl-trace export RUN --csv tables           for spreadsheets
  $ nccl-trace export RUN --parquet tables --with trace*.json.gz   also training_steps: what no kernel covers of NCCL's time
`;

export function exportCommand(setExit: (code: ExitCode) => void): Command {
  const command = commandWith('export', EXAMPLES)
    .description('Write all tables of a run as Parquet or CSV files.')
    .argument('<paths...>', 'rank files or their directories')
    .option('--parquet <folder>', 'the folder to make, with Parquet files (schemas/tables.md)')
    .option('--csv <folder>', 'the folder to make, with CSV files')
    .option(...JOBS)
    .option('-q, --quiet', 'print errors only');
  return addMemoryOption(addStudyOptions(addWithOption(command))).action(
    async (paths: string[], options: Options) => {
      await run(paths, options);
      setExit(ExitCode.ok);
    },
  );
}

async function run(inputs: readonly string[], options: Options): Promise<void> {
  if (await listsRuns(inputs, options)) return;
  const { parquet, csv, jobs, quiet = false } = options;
  const folder = parquet ?? csv;
  if (folder === undefined || (parquet !== undefined && csv !== undefined))
    throw new UsageError('name the folder to make with --parquet or with --csv');
  refuseStudy(inputs, options);
  const beside = withFiles(options.with);
  const { report, rows } = await watched(quiet, (about) =>
    exportRun(inputs, parquet === undefined ? 'csv' : 'parquet', folder, {
      ...studyOptions(options),
      ...{ jobs, with: beside, ...about },
    }),
  );
  tellProblems(report, quiet);
  const tables = Object.entries(rows).map(([name, count]) => `${name} ${count}`);
  if (!quiet) say(`${printable(folder)}: rows by table: ${tables.join(', ')}\n`);
}
