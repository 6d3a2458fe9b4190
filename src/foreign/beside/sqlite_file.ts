/**
 * An SQLite file of another tool, read row by row in bounded memory. It is not trusted: only plain tables and columns are read, and no more
 * rows than a file of its size can hold. SQLite's library locks a file by a folder beside it, so it is given a link in our work folder.
 */

import { existsSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import sqlite from 'node-sqlite3-wasm';
import { Interrupted } from '../../base/errors.js';
import { reason } from '../../base/reason.js';
import { WebAssembly } from '../../base/webassembly.js';
import { Refusal } from './refusal.js';

export type SqlValue = string | number | bigint | Uint8Array | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** Rows between two looks at signals. */
const AT_ONCE = 1 << 14;
/** Bytes: the least that a row with a time takes. */
const LEAST_ROW = 4;

export class SqliteFile {
  private readonly db: sqlite.Database;
  private readonly known = new Map<string, ReadonlySet<string>>();
  /** So many rows are believed of one query. */
  private readonly mostRows: number;

  /** `link`: a free path in our work folder. Throws Refusal. */
  constructor(
    private readonly path: string,
    private readonly link: string,
    private readonly interrupt: AbortSignal | undefined,
  ) {
    if (['-journal', '-wal'].some((end) => existsSync(path + end)))
      throw new Refusal('broken', {
        path,
        what: 'the file is still written, or its writer was killed: a journal is beside it',
        advice: 'wait for the export, or export it again',
      });
    this.mostRows = statSync(path).size / LEAST_ROW;
    symlinkSync(resolve(path), link);
    try {
      this.db = this.guarded(() => new sqlite.Database(link, { readOnly: true }));
    } catch (error) {
      rmSync(link, { force: true });
      throw error;
    }
    try {
      this.guarded(() => {
        this.db.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON');
        const tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0";
        for (const { name } of this.db.all(tables) as SqlRow[])
          if (typeof name === 'string' && /^\w+$/.test(name)) this.known.set(name, this.columnsOf(name));
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get tables(): readonly string[] {
    return [...this.known.keys()];
  }

  /** Names of its stored columns; none: there is no such table. */
  columns(table: string): ReadonlySet<string> {
    return this.known.get(table) ?? new Set();
  }

  has(table: string, ...columns: readonly string[]): boolean {
    const known = this.known.get(table);
    return known !== undefined && columns.every((one) => known.has(one));
  }

  /** `onRow` may keep a row. Throws Refusal, Interrupted, and what `onRow` throws. */
  async each(sql: string, values: readonly SqlValue[], onRow: (row: SqlRow) => void): Promise<void> {
    const statement = this.guarded(() => this.db.prepare(sql));
    try {
      const rows = this.guarded(() => statement.iterate([...values]));
      const next = (): IteratorResult<unknown> => this.guarded(() => rows.next());
      let count = 0;
      for (let row = next(); row.done !== true; row = next()) {
        if (++count > this.mostRows) throw this.broken('it has more rows than a file of its size can hold');
        onRow(row.value as SqlRow);
        if (count % AT_ONCE === 0) await this.breathe();
      }
    } finally {
      this.quietly(() => {
        statement.finalize();
      });
    }
  }

  all(sql: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    return this.guarded(() => this.db.all(sql, [...values]) as SqlRow[]);
  }

  close(): void {
    this.quietly(() => {
      this.db.close();
    });
    rmSync(this.link, { force: true });
  }

  private columnsOf(table: string): ReadonlySet<string> {
    // Columns that are computed when they are read are not among them.
    const columns = this.db.all(`PRAGMA table_info("${table}")`) as SqlRow[];
    return new Set(columns.flatMap(({ name }) => (typeof name === 'string' ? name : [])));
  }

  private async breathe(): Promise<void> {
    await setImmediate();
    if (this.interrupt?.aborted) throw new Interrupted('interrupted', String(this.interrupt.reason));
  }

  private guarded<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      // A damaged file may also make the library itself fail.
      if (error instanceof sqlite.SQLite3Error || error instanceof WebAssembly.RuntimeError)
        throw this.broken(reason(error));
      throw error;
    }
  }

  /** Closing repeats the error of what was read before. */
  private quietly(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof sqlite.SQLite3Error || error instanceof WebAssembly.RuntimeError)) throw error;
    }
  }

  private broken(why: string): Refusal {
    return new Refusal('broken', {
      path: this.path,
      what: `the file is damaged or cut off (SQLite: ${why})`,
      advice: 'copy it again, or export it again',
    });
  }
}
