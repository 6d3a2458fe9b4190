/** `nccl-trace query`: asks the tables of a run in SQL. A terminal gets numbers with units; CSV and JSON have all rows. */

import type { Command } from 'commander';
import { UsageError } from '../base/errors.js';
import { queryRun } from '../export/query.js';
import { shownTable } from '../report/shown_table.js';
import { csvOf, jsonOf } from '../report/table_formats.js';
import { ExitCode } from './exit.js';
import { commandWith } from './help.js';
import { interruptible } from './interrupts.js';
import { addMemoryOption } from './memory_option.js';
import { complain, print, tellProblems } from './streams.js';
import { addStudyOptions, JOBS, studyOptions, type StudyFlags } from './study_options.js';
import { refuseStudy } from './study_input.js';
import { terminalWidth, whileWatched } from './watching.js';

interface Options extends StudyFlags {
  readonly csv?: true;
  readonly json?: true;
  readonly jobs?: number;
  readonly quiet?: true;
}

const EXAMPLES = `Examples:
  $ nccl-trace query RUN "SELECT source, destination, bytes FROM links ORDER BY bytes DESC LIMIT 3"
  $ nccl-trace query RUN "SELECT * FROM steps WHERE end_ns IS NULL" --csv
The tables are those of "export" (schemas/tables.md). docs/queries.md has more queries.
`;

export function queryCommand(setExit: (code: ExitCode) => void): Command {
  const command = commandWith('query', EXAMPLES)
    .description('Ask the tables of a run in SQL (needs DuckDB).')
    .argument('<paths...>', 'rank files or their directories, then the query')
    .option('--csv', 'all rows as CSV')
    .option('--json', 'all rows as JSON')
    .option(...JOBS)
    .option('-q, --quiet', 'print the answer and errors only');
  return addMemoryOption(addStudyOptions(command)).action(async (paths: string[], options: Options) => {
    await run(paths.slice(0, -1), paths.at(-1)!, options);
    setExit(ExitCode.ok);
  });
}

async function run(inputs: readonly string[], sql: string, options: Options): Promise<void> {
  const { csv, json, jobs, quiet = false } = options;
  if (csv && json) throw new UsageError('--csv and --json exclude each other');
  if (inputs.length === 0) throw new UsageError('name the rank files first, then the query');
  refuseStudy(inputs, options);
  const { table, report } = await interruptible((interrupt) =>
    whileWatched(quiet, (onProgress) =>
      queryRun(inputs, sql, {
        ...studyOptions(options),
        ...{ jobs, interrupt, onProgress },
        onWait: quiet ? undefined : complain,
      }),
    ),
  );
  tellProblems(report, quiet);
  await print(csv ? csvOf(table) : json ? jsonOf(table) : shownTable(table, { width: terminalWidth() }));
}
