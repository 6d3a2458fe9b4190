/**
 * SQL over the tables of a run, by DuckDB, which is not in the package: 70 MB of native code. The tables that a query names are exported into the
 * work folder. DuckDB may read this folder and nothing else, whatever the query or a name in a rank file says: no other file, no network, no
 * extension, and its settings cannot be changed.
 */

import { tmpdir } from 'node:os';
import path from 'node:path';
import { UsageError } from '../base/errors.js';
import { codeOf } from '../base/reason.js';
import { withWorkFolder } from '../output/work_folder.js';
import type { RunReport } from '../report/run_report.js';
import { type Cell, TABLES } from '../report/run_tables.js';
import type { FilledTable } from '../report/table_formats.js';
import { type ExportOptions, writeTables } from './export.js';
import { STEPS } from './step_columns.js';

// It is not a dependency: the user installs it.
// eslint-disable-next-line @typescript-eslint/consistent-type-imports
type DuckDb = typeof import('@duckdb/node-api');
type Connection = InstanceType<DuckDb['DuckDBConnection']>;
type Value = Awaited<ReturnType<Connection['runAndReadAll']>>['getRows'] extends () => (infer Row)[][]
  ? Row
  : never;

/** With which it was tried. */
const VERSION = '1.5.6-r.1';
const NAMES = [...TABLES, STEPS].map(({ name }) => name);
const MOST_MEMORY = '1GB';
const MOST_DISK = '10GB';

export interface Answer {
  readonly table: FilledTable;
  readonly report: RunReport;
}

/** Throws NoUsableInput; UsageError if DuckDB is missing or refuses the query. */
export async function queryRun(
  inputs: readonly string[],
  sql: string,
  options: ExportOptions,
): Promise<Answer> {
  const { DuckDBInstance } = await duckdb();
  return withWorkFolder(tmpdir(), options.interrupt, async (work) => {
    const tables = path.join(work, 'tables');
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: MOST_MEMORY,
      temp_directory: path.join(work, 'spilled'),
      max_temp_directory_size: MOST_DISK,
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const connection = await instance.connect();
    const stop = (): void => {
      connection.interrupt();
    };
    options.interrupt?.addEventListener('abort', stop);
    try {
      const statements = await refusing(() => oneStatement(connection, sql));
      const asked = connection.getTableNames(sql, false).map((name) => name.toLowerCase());
      const wanted = NAMES.filter((name) => asked.includes(name));
      const folder = { at: tables, named: tmpdir() };
      const { report } = await writeTables(inputs, 'parquet', folder, options, new Set(wanted));
      for (const name of wanted) await connection.run(viewOf(tables, name));
      await lock(connection, tables);
      return { report, table: await refusing(() => answer(statements)) };
    } finally {
      options.interrupt?.removeEventListener('abort', stop);
      connection.closeSync();
      instance.closeSync();
    }
  });
}

async function duckdb(): Promise<DuckDb> {
  try {
    return await import('@duckdb/node-api');
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError(
      `query needs DuckDB, which is not in the package: npm install --no-save @duckdb/node-api@${VERSION} ` +
        '(docs/queries.md), or use "export --parquet" and a reader of your own',
    );
  }
}

/** The folder's name is ours, but TMPDIR may be anything. */
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const viewOf = (folder: string, name: string): string => {
  const files = path.join(folder, name === STEPS.name ? 'steps/*.parquet' : `${name}.parquet`);
  return `CREATE VIEW ${name} AS SELECT * FROM read_parquet(${quoted(files)})`;
};

async function lock(connection: Connection, folder: string): Promise<void> {
  for (const setting of [
    `allowed_directories = [${quoted(folder)}]`,
    'enable_external_access = false',
    'lock_configuration = true',
  ])
    await connection.run(`SET ${setting}`);
}

type Statements = Awaited<ReturnType<Connection['extractStatements']>>;

async function oneStatement(connection: Connection, sql: string): Promise<Statements> {
  const statements = await connection.extractStatements(sql).catch((error: unknown) => {
    // What it says of a text without a statement, such as a comment.
    if (error instanceof Error && error.message === 'Error in native callback') return null;
    throw error;
  });
  if (statements?.count !== 1) throw new UsageError('query takes one SELECT');
  // DuckDB makes them a SELECT from its own lists, in which only the tables of the query are.
  if (/^\s*(show|desc|describe)\b/i.test(sql))
    throw new UsageError(`query takes a SELECT; the tables are ${NAMES.join(', ')}: see schemas/tables.md`);
  return statements;
}

async function answer(statements: Statements): Promise<FilledTable> {
  const { StatementType } = await duckdb();
  const prepared = await statements.prepare(0);
  if (prepared.statementType !== StatementType.SELECT)
    throw new UsageError('query takes a SELECT and nothing else');
  const reader = await prepared.runAndReadAll();
  const names = reader.deduplicatedColumnNames();
  return {
    name: 'query',
    columns: names.map((name) => ({ ...columnNamed(name), title: '', shown: {} })),
    telling: names,
    rows: reader.getRows().map((row) => row.map(cellOf)),
  };
}

/** A described column keeps what it is under its name. Others tell their unit by the end of their names, as ours do. */
function columnNamed(
  name: string,
): Pick<FilledTable['columns'][number], 'name' | 'unit' | 'type' | 'isName'> {
  const known = [...TABLES, STEPS].flatMap(({ columns }) => columns as FilledTable['columns']);
  const same = known.find((column) => column.name === name);
  if (same) return { name, unit: same.unit, type: same.type, isName: same.isName };
  const ends = (end: string): boolean => name === end || name.endsWith(`_${end}`);
  const unit = ends('ns') ? 'ns' : ends('gbs') ? 'GB/s' : ends('bytes') ? 'bytes' : '';
  return { name, unit, type: 'real', isName: false };
}

/** Numbers that a double does not hold are texts, and so is what is no number. */
function cellOf(value: Value): Cell {
  if (value === null) return null;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint')
    return BigInt(Number(value)) === value && Number.isSafeInteger(Number(value))
      ? Number(value)
      : String(value);
  if (typeof value === 'object' && 'toDouble' in value) return value.toDouble();
  return String(value);
}

/** What DuckDB says of a query is the user's to read. */
async function refusing<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof UsageError || 'code' in error) throw error;
    throw new UsageError(`the query: ${inOneLine(error.message)}`, { cause: error });
  }
}

/** Without the mark below the query's line. If a table is missing, DuckDB proposes one of its own. */
function inOneLine(message: string): string {
  const isMissing = message.includes('Table with name');
  const lines = message
    .split('\n')
    .filter((line) => line !== '' && line.trim() !== '^' && !(isMissing && line.startsWith('Did you mean')));
  return `${lines.join(' ')}${isMissing ? `; the tables are ${NAMES.join(', ')}` : ''}`;
}
