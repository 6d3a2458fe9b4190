/**
 * `nccl-trace collectives`, `links`, `ranks`, `waits`: print one table of a run. A terminal gets the first rows, spreadsheets and notebooks
 * get all.
 */

import { Command } from 'commander';
import { UsageError } from '../base/errors.js';
import { csvOf, jsonOf, tableOf, type Cell, type FilledTable, type TableName } from '../report/tables.js';
import { cut, padColumns, printable } from '../report/text.js';
import type { ExitCode as Exit } from './exit.js';
import { ExitCode } from './exit.js';
import { interruptible } from './interrupts.js';
import { print } from './output.js';
import { LIST, runList } from './run_option.js';
import { complain, tellProblems } from './streams.js';
import { whileWatched } from './watching.js';
import { examineAny } from './study_input.js';
import { addStudyOptions, type StudyFlags } from './study_options.js';

interface Options extends StudyFlags {
  readonly pairs?: true;
  readonly csv?: true;
  readonly json?: true;
  readonly quiet?: true;
}

const ABOUT: Readonly<Record<TableName, string>> = {
  collectives: 'Every collective of a run, once for all its ranks: duration, skew, bandwidth, late rank.',
  links: 'Every connection: bytes, transfers, latency and rate.',
  ranks: 'Every rank: how late it came, what its transfers waited for, what is lost.',
  waits: 'Who waited for whom, for how long.',
};

export const tableCommand =
  (name: TableName) =>
  (setExit: (code: Exit) => void): Command => {
    const command = new Command(name)
      .description(ABOUT[name])
      .argument('<paths...>', 'rank files, directories that hold them, or a .study')
      .option('--csv', 'all rows as CSV (schemas/tables.md)')
      .option('--json', 'all rows as JSON')
      .option('-q, --quiet', 'print the table and errors only');
    if (name === 'links') command.option('--pairs', 'one row per pair of ranks: all its channels together');
    return addStudyOptions(command)
      .addHelpText('before', `Examples:\n  $ nccl-trace ${name} RUN --csv > ${name}.csv\n`)
      .action(async (paths: string[], options: Options) => {
        setExit(await run(name, paths, options));
      });
  };

async function run(name: TableName, inputs: readonly string[], options: Options): Promise<Exit> {
  if (options.csv && options.json) throw new UsageError('--csv and --json exclude each other');
  if (options.run === LIST) {
    await print(runList(inputs, options));
    return ExitCode.ok;
  }
  const note = options.quiet ? undefined : complain;
  const { report, numbers } = await interruptible((interrupt) =>
    whileWatched(options.quiet ?? false, (onProgress) =>
      examineAny(inputs, options, { interrupt, onProgress, onWait: note }),
    ),
  );
  tellProblems(report, options.quiet);
  const table = tableOf(name, report, numbers.collectives, options.pairs);
  await print(options.csv ? csvOf(table) : options.json ? jsonOf(table) : shown(table));
  return ExitCode.ok;
}

const MOST_ROWS = 40;
const MOST_CHARACTERS = 24;

/** The first rows, without the columns that are empty there. */
function shown({ columns, rows }: FilledTable): string {
  const first = rows.slice(0, MOST_ROWS);
  const telling = columns.map((_, i) => first.some((cells) => cells[i] !== null && cells[i] !== ''));
  const only = <T>(cells: readonly T[]): T[] => cells.filter((_, i) => telling[i]);
  const text = padColumns([
    only(columns.map(({ name }) => name)),
    ...first.map((cells) => only(cells).map(cellText)),
  ]);
  const more = rows.length > first.length ? `and ${rows.length - first.length} more: --csv, --json\n` : '';
  return first.length === 0 ? 'none\n' : text + more;
}

const cellText = (cell: Cell): string => (cell === null ? '' : cut(printable(String(cell)), MOST_CHARACTERS));
