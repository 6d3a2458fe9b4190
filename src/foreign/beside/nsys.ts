/**
 * Reads one process of an SQLite export of Nsight Systems (`nsys export --type sqlite`). Times are ns since the session began, whose date is in
 * TARGET_INFO_SESSION_START_TIME; with `--ts-normalize` they are ns since 1970. Tables are known by their columns, so those of newer versions
 * are drawn, too. What has no place on a thread or a stream is counted.
 */

import { beginsWith } from '../../output/file_start.js';
import { firstIndex } from '../../base/first_index.js';
import type { ForeignTrace } from './foreign_trace.js';
import { Refusal } from './refusal.js';
import { SqliteFile, type SqlRow, type SqlValue } from './sqlite_file.js';
import { spanOf, TraceBuilder } from './trace_builder.js';

const KERNELS = 'CUPTI_ACTIVITY_KIND_KERNEL';
const CALLS = 'CUPTI_ACTIVITY_KIND_RUNTIME';
const RANGES = 'NVTX_EVENTS';
/** Waits of the CPU, with the number of a stream: they are not work of the GPU. */
const SYNCHRONIZATION = 'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION';
/** Not events. */
const FACTS =
  /^(?:TARGET_INFO|META_DATA|ENUM|ANALYSIS)_|^(?:StringIds|ThreadNames|PROCESSES|ProcessStreams)$/;

/** Kinds of rows in NVTX_EVENTS (ENUM_NSYS_EVENT_TYPE). All others name something. */
const MARKS = new Set<SqlValue>([34, 65]);
const SPANS = new Set<SqlValue>([59, 60, 70, 71]);
const DOMAIN = 75;

/** ns: later times count from 1970 (those of sessions would be three years long). */
const SINCE_1970 = 1e17;
/** The last 24 bits of a thread's global id are its own; the others are its process's. */
const OF_PROCESS = '& -16777216';
const THREAD = 0xff_ffffn;
/** Texts that are kept in memory. */
const MOST_TEXTS = 100_000;

export const isSqlite = (path: string): boolean => beginsWith(path, 'SQLite format 3\0');

/** Global ids of the processes that used a GPU, ascending. `link`: a free path in the work folder. Throws Refusal. */
export function processesOf(path: string, link: string): bigint[] {
  const file = new SqliteFile(path, link, undefined);
  try {
    checkTables(path, file);
    return file
      .all(`SELECT DISTINCT globalPid AS id FROM ${KERNELS} WHERE globalPid IS NOT NULL ORDER BY id`)
      .flatMap(({ id }) => bigintOf(id) ?? []);
  } finally {
    file.close();
  }
}

/** The number by which its host knows a process. */
export const pidOf = (globalPid: bigint): number => Number((globalPid >> 24n) & THREAD);

/** `sideFile`: path of a file for names and arguments. Throws Refusal, Interrupted. */
export async function readNsys(
  path: string,
  globalPid: bigint,
  sideFile: string,
  interrupt?: AbortSignal,
): Promise<ForeignTrace> {
  const file = new SqliteFile(path, `${sideFile}.sqlite`, interrupt);
  try {
    checkTables(path, file);
    const reader = new NsysReader(path, file, globalPid, sideFile);
    try {
      return await reader.read();
    } catch (error) {
      reader.made.close();
      throw error;
    }
  } finally {
    file.close();
  }
}

/** What a file must have, by table. */
const NEEDED = [
  ['StringIds', ['id', 'value']],
  [KERNELS, ['start', 'end', 'globalPid']],
] as const;

function checkTables(path: string, file: SqliteFile): void {
  const lacking = NEEDED.find(([table, columns]) => !file.has(table, ...columns));
  if (lacking === undefined) return;
  const [table, columns] = lacking;
  const found = [...(file.tables.includes(table) ? file.columns(table) : file.tables)];
  throw new Refusal('not-a-trace', {
    path,
    what: 'not an export of Nsight Systems with kernels',
    expected: `a table ${table} with ${columns.join(', ')}`,
    found: found.slice(0, 4).join(', ') || 'no tables',
    advice: 'record with nsys profile --trace=cuda,nvtx, and export with nsys export --type sqlite',
  });
}

class NsysReader {
  readonly made: TraceBuilder;
  private readonly texts = new Map<SqlValue, string>();
  private readonly titles = new Map<string, string>();
  /** Correlation ids of the GPU's work, and then ascending. */
  private launched: number[] | Float64Array = [];

  constructor(
    private readonly path: string,
    private readonly file: SqliteFile,
    private readonly globalPid: bigint,
    sideFile: string,
  ) {
    this.made = new TraceBuilder(sideFile);
  }

  async read(): Promise<ForeignTrace> {
    const { made, file } = this;
    const events = file.tables.filter((name) => !FACTS.test(name));
    const isOnGpu = (name: string): boolean =>
      name !== SYNCHRONIZATION && file.has(name, 'start', 'end', 'globalPid', 'deviceId', 'streamId');
    const isOnThread = (name: string): boolean =>
      name !== RANGES && file.has(name, 'start', 'end', 'globalTid', 'nameId');
    for (const name of events.filter(isOnGpu)) await this.gpuWork(name);
    this.launched = Float64Array.from(this.launched).sort();
    for (const name of events.filter(isOnThread)) await this.calls(name);
    if (file.has(RANGES, 'start', 'end', 'globalTid', 'eventType', 'text')) await this.ranges();
    for (const name of events.filter((one) => one !== RANGES && !isOnGpu(one) && !isOnThread(one)))
      this.leaveOut(name);
    this.nameThreads();
    return {
      tool: 'Nsight Systems',
      shown,
      origin: this.origin(),
      says: { rank: null, worldSize: null, host: this.host(), pid: pidOf(this.globalPid) },
      ...made.finish((key) => {
        const [device, stream] = key.split(' ');
        return {
          title: this.titles.get(key) ?? `thread ${key}`,
          kind: 'slices',
          at: stream === undefined ? [0, 0, 0] : [1, Number(device), Number(stream)],
        };
      }),
    };
  }

  private async gpuWork(table: string): Promise<void> {
    const labels = table.endsWith('_MEMCPY') ? this.labels('ENUM_CUDA_MEMCPY_OPER') : null;
    const plain = table
      .replace(/^CUPTI_ACTIVITY_KIND_/, '')
      .replaceAll('_', ' ')
      .toLowerCase();
    await this.file.each(`SELECT * FROM ${table} WHERE globalPid = ?`, [this.globalPid], (row) => {
      const name =
        this.text(row.shortName) ??
        this.text(row.demangledName) ??
        (labels === null ? plain : `memcpy ${labels.get(row.copyKind ?? null) ?? textOf(row.copyKind)}`);
      const { deviceId, streamId, correlationId } = row;
      const key = `${textOf(deviceId)} ${textOf(streamId)}`;
      this.titles.set(key, `GPU ${textOf(deviceId)} stream ${textOf(streamId)}`);
      const demangledName = this.text(row.demangledName);
      const added = this.slice(row, key, name, {
        table,
        ...(demangledName === null ? {} : { demangledName }),
      });
      if (added === null) return;
      this.made.addGpuTrack(added.track);
      if (table === KERNELS) this.made.addKernel(added.row, name, added.duration, correlationId);
      if (typeof correlationId !== 'number' || correlationId <= 0) return;
      this.made.arrows.add(added.track, added.at, correlationId, true);
      (this.launched as number[]).push(correlationId);
    });
  }

  private async calls(table: string): Promise<void> {
    const sql = `SELECT * FROM ${table} WHERE globalTid ${OF_PROCESS} = ?`;
    await this.file.each(sql, [this.globalPid], (row) => {
      const name = this.text(row.nameId) ?? '';
      const added = this.slice(row, this.thread(row.globalTid), name, { table });
      const { correlationId } = row;
      if (added === null || table !== CALLS || typeof correlationId !== 'number') return;
      if (!isIn(this.launched as Float64Array, correlationId)) return;
      this.made.arrows.add(added.track, added.at, correlationId, false);
      this.made.addCall(correlationId, added.row);
    });
  }

  private async ranges(): Promise<void> {
    const ofProcess = `FROM ${RANGES} WHERE globalTid ${OF_PROCESS} = ?`;
    const domains = new Map(
      this.file
        .all(`SELECT domainId, text ${ofProcess} AND eventType = ${DOMAIN} LIMIT 10000`, this.globalPid)
        .map(({ domainId, text }) => [domainId, text]),
    );
    await this.file.each(`SELECT * ${ofProcess}`, [this.globalPid], (row) => {
      const { eventType, domainId } = row;
      const isMark = MARKS.has(eventType ?? null);
      if (!isMark && !SPANS.has(eventType ?? null)) return;
      const name = row.text ?? this.text(row.textId) ?? '';
      const domain = domains.get(domainId ?? null);
      const more = { table: RANGES, ...(typeof domain === 'string' ? { domain } : {}) };
      const added = this.slice(row, this.thread(row.globalTid), textOf(name), more, isMark);
      if (added !== null && !isMark) this.made.addStep(added.row, textOf(name), added.duration);
    });
  }

  private slice(row: SqlRow, key: string, name: string, more: object, isInstant = false) {
    const { start, end } = row;
    const from = timeOf(start);
    const to = timeOf(end);
    const duration = isInstant ? NaN : from === null || to === null ? null : spanOf(minus(to, from));
    if (duration === null) {
      this.made.leave('slices without a duration');
      return null;
    }
    const at = this.made.timeOf(from);
    const track = at === null ? null : this.made.track(key);
    if (at === null || track === null) return null;
    const stored: Stored = [name, { ...more, ...argsOf(row) }];
    const added = this.made.add(track, at, duration, JSON.stringify(stored));
    return { row: added, track, at, duration };
  }

  private thread(globalTid: SqlValue | undefined): string {
    return String((bigintOf(globalTid) ?? 0n) & THREAD);
  }

  private nameThreads(): void {
    if (!this.file.has('ThreadNames', 'nameId', 'globalTid')) return;
    const sql = `SELECT nameId, globalTid FROM ThreadNames WHERE globalTid ${OF_PROCESS} = ? LIMIT 100000`;
    for (const { nameId, globalTid } of this.file.all(sql, this.globalPid)) {
      const thread = this.thread(globalTid);
      const name = this.text(nameId);
      if (name !== null) this.titles.set(thread, `${name} ${thread}`);
    }
  }

  /** Counts the rows of a table that is not drawn: those of this process, if the table says whose they are. */
  private leaveOut(table: string): void {
    const columns = this.file.columns(table);
    if (!columns.has('start') && !columns.has('timestamp')) return;
    const whose = columns.has('globalPid')
      ? 'WHERE globalPid = ?'
      : columns.has('globalTid')
        ? `WHERE globalTid ${OF_PROCESS} = ?`
        : '';
    const values = whose === '' ? [] : [this.globalPid];
    const count = Number(this.file.all(`SELECT count(*) AS rows FROM ${table} ${whose}`, ...values)[0]!.rows);
    if (count > 0) this.made.leave(`rows of ${table}`, count);
  }

  private labels(table: string): ReadonlyMap<SqlValue, string> {
    if (!this.file.has(table, 'id', 'label')) return new Map();
    const rows = this.file.all(`SELECT id, label FROM ${table} LIMIT 1000`);
    return new Map(rows.map(({ id, label }) => [id ?? null, textOf(label)]));
  }

  /** A text by its number; null: it has none. */
  private text(id: SqlValue | undefined): string | null {
    if (id === null || id === undefined) return null;
    const known = this.texts.get(id);
    if (known !== undefined) return known;
    const [found] = this.file.all('SELECT value FROM StringIds WHERE id = ?', id);
    if (found === undefined) return null;
    if (this.texts.size === MOST_TEXTS) this.texts.clear();
    const text = textOf(found.value);
    this.texts.set(id, text);
    return text;
  }

  private host(): string | null {
    if (!this.file.has('TARGET_INFO_SYSTEM_ENV', 'name', 'value')) return null;
    const sql = "SELECT DISTINCT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname' LIMIT 2";
    const [{ value } = {}, ...others] = this.file.all(sql);
    return typeof value === 'string' && others.length === 0 ? value : null;
  }

  private origin(): bigint {
    const { path, file, made } = this;
    const { first } = made;
    if (first === null || made.isEmpty)
      throw new Refusal('not-a-trace', {
        path,
        what: 'the file has no events of this process',
        advice: 'export it again',
      });
    const shift = this.exported('EXPORT_PARAM_TIME_SHIFT') ?? '0';
    const unknown = {
      path,
      what: 'the file does not say from when its times count',
      advice: 'export it again with a newer nsys, without --ts-shift',
    };
    if (Number(shift) !== 0)
      throw new Refusal('times-unknown', { ...unknown, expected: 'no --ts-shift', found: shift });
    if (first >= BigInt(SINCE_1970)) return first;
    const table = 'TARGET_INFO_SESSION_START_TIME';
    const [begin] = file.has(table, 'utcEpochNs') ? file.all(`SELECT utcEpochNs FROM ${table} LIMIT 1`) : [];
    const epoch = bigintOf(begin?.utcEpochNs);
    if (epoch === null || epoch < BigInt(SINCE_1970))
      throw new Refusal('times-unknown', { ...unknown, expected: `utcEpochNs in ${table}`, found: 'none' });
    return epoch + first;
  }

  private exported(name: string): string | null {
    if (!this.file.has('META_DATA_EXPORT', 'name', 'value')) return null;
    const [found] = this.file.all('SELECT value FROM META_DATA_EXPORT WHERE name = ? LIMIT 1', name);
    return found === undefined ? null : textOf(found.value);
  }
}

/** What is shown otherwise, or stands for a text elsewhere. */
const NOT_SHOWN = new Set([
  ...['start', 'end', 'globalPid', 'globalTid', 'deviceId', 'streamId', 'nameId', 'text', 'textId'],
  ...['shortName', 'demangledName', 'mangledName', 'callchainId', 'eventType', 'eventClass'],
]);

function argsOf(row: SqlRow): Record<string, string | number> {
  const args: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(row))
    if (value !== null && !NOT_SHOWN.has(name))
      args[name] = typeof value === 'number' ? value : textOf(value);
  return args;
}

type Stored = readonly [name: string, args: Readonly<Record<string, unknown>>];

const shown: ForeignTrace['shown'] = (stored, argument) => {
  const [name, args] = stored as Stored;
  for (const key of Object.keys(args)) argument(key, args[key]);
  return name;
};

const timeOf = (value: SqlValue | undefined): number | bigint | null =>
  typeof value === 'bigint' || Number.isSafeInteger(value) ? (value as number | bigint) : null;

const minus = (a: number | bigint, b: number | bigint): number | bigint =>
  typeof a === 'number' && typeof b === 'number' ? a - b : BigInt(a) - BigInt(b);

const bigintOf = (value: SqlValue | undefined): bigint | null =>
  typeof value === 'bigint' ? value : Number.isSafeInteger(value) ? BigInt(value as number) : null;

/** Bytes as hexadecimal digits. */
const textOf = (value: SqlValue | undefined): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value ?? '');

/** `sorted`: ascending. */
function isIn(sorted: Float64Array, value: number): boolean {
  const at = firstIndex(sorted.length, (i) => sorted[i]! >= value);
  return sorted[at] === value;
}
