/**
 * All tables of a run as files (schemas/tables.md): what the program knows of the run in one file per table, and the transfers, which are many,
 * in one file per process in the folder `steps`. The folder appears whole, by a rename, or not at all.
 */

import { lstatSync, mkdirSync, readdirSync, realpathSync, renameSync } from 'node:fs';
import path from 'node:path';
import { rankLabels } from '../runs/rank_labels.js';
import { allToAllRows, exchangeRows } from '../analysis/exchanges.js';
import { workRows } from '../analysis/work_rows.js';
import { OutputError } from '../base/errors.js';
import { countFiles } from '../base/progress.js';
import { codeOf, reason } from '../base/reason.js';
import type { ClockOptions } from '../clocks/evidence/run_clocks.js';
import { outputFailed } from '../output/deliver.js';
import { withWorkFolder } from '../output/work_folder.js';
import { refuseRedacted } from '../foreign/beside/with_file.js';
import { findRankFiles } from '../rankfile/index.js';
import { type Examined, examineStudied, stepsBeside, type WithOption } from '../report/examine.js';
import type { DiagnosisOptions } from '../report/diagnosis.js';
import {
  ALL_TO_ALLS,
  COLLECTIVES,
  EXCHANGES,
  LINKS,
  PAIRS,
  RANKS,
  type Table,
  type TableName,
  TRAINING_STEPS,
  WAITS,
  WORKS,
} from '../report/run_tables.js';
import { said } from '../runs/redact.js';
import { failure } from '../study/scanned_run.js';
import { study, type Study } from '../study/study.js';
import { startWorkers, type Workers } from '../study/workers.js';
import { jobRanks } from '../runs/job_ranks.js';
import { transfersJob } from '../trace/transfers_job.js';
import { type Batch, exportColumns } from './batch.js';
import { writeCsv } from './csv.js';
import { batchesOf } from './rows.js';
import type { StepsJob } from './steps.js';

export type Format = StepsJob['format'];

export type ExportOptions = DiagnosisOptions & ClockOptions & WithOption;

/** Rows of each table. */
export interface Exported extends Pick<Examined, 'report'> {
  readonly rows: Readonly<Partial<Record<TableName, number>>>;
}

/** Makes `folder`. Throws NoUsableInput, OutputError if there is something in it, UsageError. */
export function exportRun(
  inputs: readonly string[],
  format: Format,
  folder: string,
  options: ExportOptions,
): Promise<Exported> {
  refuseRedacted(options.with ?? [], options.redact);
  const place = emptyPlace(folder);
  return withWorkFolder(path.dirname(place), options.interrupt, async (work) => {
    const draft = path.join(work, 'tables');
    const exported = await writeTables(inputs, format, { at: draft, named: folder }, options);
    try {
      renameSync(draft, place);
    } catch (error) {
      throw new OutputError(folder, reason(error), 'name another folder', { cause: error });
    }
    return exported;
  });
}

/** A rename puts a folder in place of one that is empty. */
function emptyPlace(folder: string): string {
  const advice = 'name another folder';
  try {
    const parent = realpathSync(path.dirname(path.resolve(folder)));
    const place = path.join(parent, path.basename(path.resolve(folder)));
    if (lstatSync(place, { throwIfNoEntry: false }) === undefined) return place;
    if (readdirSync(place).length === 0) return realpathSync(place);
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') throw new OutputError(folder, 'is not a directory', advice);
    throw new OutputError(folder, reason(error), 'create the directory above it first', { cause: error });
  }
  throw new OutputError(folder, 'is not empty', advice);
}

/** The folder that is made, and what an error calls it. */
export interface Made {
  readonly at: string;
  readonly named: string;
}

/** `wanted`: null: all tables. */
export const writeTables = (
  inputs: readonly string[],
  format: Format,
  folder: Made,
  options: ExportOptions,
  wanted: ReadonlySet<TableName> | null = null,
): Promise<Exported> => written(inputs, format, folder, options, wanted).catch(outputFailed(folder.named));

async function written(
  inputs: readonly string[],
  format: Format,
  { at: folder, named }: Made,
  options: ExportOptions,
  wanted: ReadonlySet<TableName> | null,
): Promise<Exported> {
  const { files } = findRankFiles(inputs);
  const workers = startWorkers(files, 2, options);
  mkdirSync(folder, { mode: 0o700 });
  const side = path.join(path.dirname(folder), 'side');
  mkdirSync(side, { mode: 0o700 });
  try {
    const studied = await study(workers, files, side, { ...options, readsTwice: true });
    const beside = await stepsBeside(studied, side, options);
    const examined = examineStudied(studied, { ...options, inputs }, null, beside);
    const { traceStart } = studied.clocks.solution;
    const rows: Partial<Record<TableName, number>> = {};
    for (const { name, columns, rowsOf } of tables(studied, examined, options)) {
      if (wanted?.has(name) === false) continue;
      let count = 0;
      const batches = mapped(batchesOf(columns, rowsOf(), traceStart), (batch) => {
        count += batch.rows;
        return batch;
      });
      await writeTable(path.join(folder, `${name}.${format}`), format, columns, batches);
      rows[name] = count;
    }
    if (wanted?.has('steps') !== false)
      rows.steps = await writeSteps(
        workers,
        studied,
        format,
        { at: path.join(folder, 'steps'), named },
        options,
      );
    return { rows, report: examined.report };
  } finally {
    await workers.close();
  }
}

type Filled = Pick<Table<never>, 'name'> & {
  readonly columns: Table<unknown>['columns'];
  readonly rowsOf: () => Iterable<unknown>;
};

const table = <Row>({ name, columns }: Table<Row>, rowsOf: () => Iterable<Row>): Filled => ({
  ...{ name, rowsOf },
  columns: columns as unknown as Table<unknown>['columns'],
});

function tables(studied: Study, { report, numbers }: Examined, options: ExportOptions): Filled[] {
  return [
    table(COLLECTIVES, () => numbers.collectives),
    table(LINKS, () => report.links),
    table(PAIRS, () => report.pairs),
    table(RANKS, () => report.ranks),
    table(WAITS, () => report.waits),
    table(WORKS, () => workRows(studied)),
    table(ALL_TO_ALLS, () => allToAllRows(studied)),
    table(EXCHANGES, () => exchangeRows(studied)),
    ...(options.with?.length ? [table(TRAINING_STEPS, () => report.trainingSteps)] : []),
  ];
}

async function writeTable(
  file: string,
  format: Format,
  described: Table<unknown>['columns'],
  batches: Iterable<Batch>,
): Promise<void> {
  const columns = exportColumns(described);
  if (format === 'parquet') {
    const { arrowStream, writeParquet } = await import('./parquet.js');
    await writeParquet(
      file,
      columns,
      mapped(batches, (batch) => arrowStream(columns, batch)),
    );
  } else
    writeCsv(file, columns, (take) => {
      for (const batch of batches) take(batch);
    });
}

function* mapped<From, To>(all: Iterable<From>, to: (one: From) => To): Generator<To> {
  for (const one of all) yield to(one);
}

/** In order of ranks. */
async function writeSteps(
  workers: Workers,
  studied: Study,
  format: Format,
  { at: folder, named }: Made,
  { onProgress }: ExportOptions,
): Promise<number> {
  mkdirSync(folder, { mode: 0o700 });
  const { run, aliases } = studied;
  const [labels, numbers] = [rankLabels(run), jobRanks(run)];
  const jobs = run.members.map(({ scan }, file): StepsJob => {
    const rank = labels.ofFile(file);
    return {
      ...transfersJob(studied, file, numbers),
      format,
      output: path.join(folder, `${String(file).padStart(5, '0')}.${format}`),
      rank: typeof rank === 'number' ? rank : null,
      commNames: new Map(scan.communicators.map(({ number, name }) => [number, name])),
    };
  });
  const outcomes = await workers.run(
    jobs.map((job) => ({ pass: 'export', job })),
    countFiles('export', jobs.length, onProgress),
  );
  return outcomes.reduce((sum, outcome) => {
    if (!outcome.ok) throw new OutputError(named, said(failure(outcome), aliases), 'nothing was written');
    return sum + outcome.rows!;
  }, 0);
}
