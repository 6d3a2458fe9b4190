/**
 * SQLite exports as Nsight Systems 2026.2 makes them (schema 3.25), of ranks whose collectives are known: NVTX ranges, calls of the CUDA runtime
 * and kernels, of one process or several. Table and column names, types and numbers of kinds are those of its exports.
 */

import { rmSync } from 'node:fs';
import sqlite from 'node-sqlite3-wasm';
import type { ViewSlice } from '../traces/trace_view.js';

export interface NsysProcess {
  readonly pid: number;
  readonly works: readonly ViewSlice[];
}

export interface NsysOptions {
  readonly host?: string;
  /** ns: how much the host's clock is ahead. */
  readonly shift?: bigint;
  /** As with --ts-normalize: all times since 1970. */
  readonly isNormalized?: boolean;
  /** The kernels of another job. */
  readonly func?: string;
}

type Value = string | number | bigint | null;

const TABLES = `
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL, nameEnum INTEGER NOT NULL, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT, systemClockNs INTEGER);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
  streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL,
  mangledName INTEGER, gridX INTEGER NOT NULL, blockX INTEGER NOT NULL, graphNodeId INTEGER, tensorSizeMinusOneElements TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
  streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER,
  text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, doubleValue REAL, binaryData TEXT);
`;

const HARDWARE = 1n << 48n;
const globalPid = (pid: number): bigint => HARDWARE + (BigInt(pid) << 24n);

/** Makes the file anew. */
export function writeNsys(
  path: string,
  processes: readonly NsysProcess[],
  { host = 'vm', shift = 0n, isNormalized = false, func }: NsysOptions = {},
): void {
  rmSync(path, { force: true });
  const db = new sqlite.Database(path);
  db.exec(TABLES);
  db.exec('BEGIN');
  const insert = (table: string, ...rows: readonly (readonly Value[])[]): void => {
    for (const row of rows) db.run(`INSERT INTO ${table} VALUES (${row.map(() => '?').join()})`, [...row]);
  };
  const texts = new Map<string, number>();
  const text = (value: string): number => {
    // Real numbers are not dense.
    if (!texts.has(value)) texts.set(value, 331_000 + 7 * texts.size);
    return texts.get(value)!;
  };
  const session =
    processes.map(({ works }) => works[0]!.ts).reduce((a, b) => (a < b ? a : b)) - 90_000_000_000n;
  const at = (ns: bigint): bigint => ns + shift - (isNormalized ? 0n : session);
  for (const { pid, works } of processes) {
    const [process, thread] = [globalPid(pid), globalPid(pid) + BigInt(pid)];
    const first = works[0]!.ts;
    const nvtx = (type: number, from: bigint, to: bigint | null, name: string | null, more: Value[] = []) => {
      const [textId = null, domainId = 0] = more;
      const end = to === null ? null : at(to);
      insert('NVTX_EVENTS', [
        ...[at(from), end, type, null, null, null, name, thread, null, textId, domainId],
        ...[null, null, null],
      ]);
    };
    insert('PROCESSES', [process, pid, 'python3']);
    insert('ThreadNames', [text('python3'), 20, thread]);
    nvtx(75, first, null, 'NCCL', [null, 1]);
    nvtx(33, first, null, 'a category');
    nvtx(59, first, works.at(-1)!.ts, 'step 7');
    nvtx(34, first + 500n, null, 'mark');
    nvtx(60, first, null, 'never ended');
    let earliest = 0n;
    works.forEach(({ name, ts, dur }, i) => {
      const ran = func ?? name ?? '';
      const type = ran === 'AllReduce' ? 'f32' : 'int8_t';
      const kernel = `ncclDevKernel_${ran}_Sum_${type}_RING_LL`;
      const start = earliest > ts + dur / 2n ? earliest : ts + dur / 2n;
      earliest = ts + dur;
      nvtx(59, ts, ts + 4000n, null, [text(`nccl${ran}`), 1]);
      insert('CUPTI_ACTIVITY_KIND_RUNTIME', [
        ...[at(ts + 1000n), at(ts + 3000n), 0, thread, 1000 + i, text('cudaLaunchKernelExC_v11060'), 0, null],
      ]);
      insert('CUPTI_ACTIVITY_KIND_KERNEL', [
        ...[at(start), at(ts + dur), 0, 1, 20, 1000 + i, process],
        ...[
          text(`${kernel}(ncclDevKernelArgsStorage<(unsigned long)4096>)`),
          text(kernel),
          null,
          8,
          512,
          null,
          '[]',
        ],
      ]);
    });
    // It covers the last tenth of the first kernel of NCCL.
    const end = works[0]!.ts + works[0]!.dur;
    insert('CUPTI_ACTIVITY_KIND_KERNEL', [
      ...[at(end - coveredOf(works)), at(end + 50n), 0, 1, 7, 8, process],
      ...[text('gemm<float>(float*)'), text('gemm'), null, 8, 512, null, '[]'],
    ]);
    // No kernel, so no arrow.
    insert('CUPTI_ACTIVITY_KIND_RUNTIME', [
      ...[at(first), at(first + 100n), 0, thread, 7, text('cudaEventQuery_v3020'), 600, null],
    ]);
    insert('CUPTI_ACTIVITY_KIND_MEMCPY', [at(first), at(first + 4000n), 0, 1, 7, 9, process, 4096, 1]);
    insert('CUPTI_ACTIVITY_KIND_SYNCHRONIZATION', [at(first), at(first + 9n), 0, 1, 20, 9, process, 2]);
  }
  insert('ENUM_CUDA_MEMCPY_OPER', [1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device']);
  insert('StringIds', ...[...texts].map(([value, id]) => [id, value] as const));
  insert('TARGET_INFO_SYSTEM_ENV', [HARDWARE, 'Local (CLI)', 'Hostname', 619, host]);
  insert('TARGET_INFO_SESSION_START_TIME', [session, '', '', 35_255_823_190]);
  insert('META_DATA_EXPORT', ['EXPORT_SCHEMA_VERSION', '3.25.0'], ['EXPORT_PARAM_TIME_SHIFT', '0']);
  db.exec('COMMIT');
  db.close();
}

/** ns of NCCL's time that a computation covers. */
export const coveredOf = ([first]: readonly ViewSlice[]): bigint => first!.dur / 10n;

/** Changes a file that was made. */
export function changeNsys(path: string, sql: string): void {
  const db = new sqlite.Database(path);
  db.exec(sql);
  db.close();
}
