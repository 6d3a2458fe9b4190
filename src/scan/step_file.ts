/**
 * The network transfers that the scan keeps: all of them, for the clocks, or only the first one of each operation, if ranks are on one
 * counter and only arrows are checked. If there are more than mostRows, a share is kept (step_sample.ts). There is one row per step and
 * end. The rows are on disk, because a run has many files. Those of one rank file are sorted by connection, operation and step, so that the
 * two ends of a connection can be read side by side. A row is ten doubles (STEP_ROW). Ticks are the file's own.
 */

import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { maxOf } from '../base/extremes.js';
import { FileMemory } from '../base/file_memory.js';
import { nearlySorted } from '../base/nearly_sorted.js';
import { addBigint, addText, addWord, HASH_SEED, toSafeInteger } from '../base/hash.js';
import { STOPPED, type StepEvents, type StepListener } from '../model/step_events.js';
import { NONE, type StepTable } from '../model/step_table.js';
import { opClaim } from '../model/parents.js';
import { StepPhase, type Op, type Work } from '../model/types.js';
import type { Communicator } from '../rankfile/types.js';
import { isKept, mostRows, type Halved } from './step_sample.js';

export const STEP_ROW = {
  /** Ordinal of the operation on its connection. */
  ordinal: 0,
  step: 1,
  /** Send: SIZE_LOST if it is not known. */
  bytes: 2,
  /** Hash of the facts about the operation that both ends know. 0: its work is not known. */
  check: 3,
  /** Send: the last state 20 before 9 (before interface v4 the start). Receive: the start. */
  before: 4,
  /** Send: state 9, or the stop if the size is SIZE_LOST. Receive: state 11. */
  seen: 5,
  /** Receive: the stop. Send: 0. */
  stop: 6,
  /** Send: polls of state 20. Receive: 0. */
  polls: 7,
  /** Number of the operation's steps. */
  steps: 8,
  /** 1: in the operation's protocol state 11 means arrival. 0: it may not. -1: its work is not known. */
  arrives: 9,
} as const;
export const ROW_WIDTH = 10;

/** One end of a connection in one file. */
export interface StepRows {
  readonly commId: bigint;
  readonly channel: number;
  /** Ranks in the communicator. */
  readonly source: number;
  readonly destination: number;
  readonly isSend: boolean;
  readonly rows: number;
  /** How many rows were not kept. */
  readonly sampledOut: number;
  /** Where they lie in the side file. */
  readonly offset: number;
  readonly halved: Halved;
}

/** A send's size if its record is lost. */
export const SIZE_LOST = -1;

/** More steps than an operation ever has. */
const STEPS = 2 ** 22;

/** The order of the rows of a connection, at both ends. */
export const stepKey = (rows: Float64Array, at: number): number =>
  rows[at + STEP_ROW.ordinal]! * STEPS + rows[at + STEP_ROW.step]!;

interface OpenConnection {
  readonly key: Omit<StepRows, 'rows' | 'sampledOut' | 'offset' | 'halved'>;
  rows: Float64Array;
  /** First steps, and later ones. */
  readonly counts: [number, number];
  readonly halved: [number, number];
  sampledOut: number;
}

/** Op.drawing during the scan; null: its other end is not known. */
type OpRows = {
  readonly connection: OpenConnection;
  readonly check: number;
  readonly arrives: number;
} | null;

/** Listens to the steps of one file. */
export class StepFileWriter implements StepListener {
  /** By communicator, then by peer, channel and direction in one number. */
  private readonly connections = new Map<Communicator, Map<number, OpenConnection>>();
  private readonly checks = new OperationChecks();
  /** Rows of all connections: first steps, and later ones. */
  private readonly counts: [number, number] = [0, 0];
  private readonly mostRows: number;
  private readonly memory = new FileMemory();

  /** `path`: rows are added at its end. `ranks`: of the job, as far as the file knows. */
  constructor(
    private readonly path: string,
    private readonly everyStep: boolean,
    ranks: number,
  ) {
    this.mostRows = mostRows(ranks);
  }

  steps(steps: StepTable, { what, row: rows, at, length }: StepEvents): void {
    for (let i = 0; i < length; i++) {
      const row = rows[i]!;
      if (!this.isWanted(steps, row)) continue;
      if (what[i] === StepPhase.SendWait) this.sendBegan(steps, row, at[i]!);
      else if (what[i]! >= STOPPED) this.stopped(steps, row, at[i]!);
    }
  }

  /** `at`: the tick of state 9. */
  private sendBegan(steps: StepTable, row: number, at: number): void {
    const bytes = steps.bytes[row]!;
    if (bytes !== NONE) this.addSend(steps, row, at, bytes);
  }

  private stopped(steps: StepTable, row: number, at: number): void {
    // For a send without state 9, only the arrow is checked.
    if (steps.phase[row] === StepPhase.PeerWait) this.addSend(steps, row, at, SIZE_LOST);
    const [arrived, bytes] = [steps.arrived[row]!, steps.bytes[row]!];
    if (steps.op[row]!.isSend || arrived === NONE || bytes === NONE) return;
    this.add(steps, row, bytes, steps.start[row]!, arrived, at, 0);
  }

  /** Called at the file's end, when all polls are counted. A send that never ended has an arrow if its receiver has the data. */
  stepOpen(steps: StepTable, row: number): void {
    const polled = steps.lastPoll[row]!;
    const last = polled === NONE ? steps.start[row]! : polled;
    if (this.isWanted(steps, row) && steps.phase[row] === StepPhase.PeerWait)
      this.addSend(steps, row, last, SIZE_LOST);
  }

  close(): StepRows[] {
    const fd = openSync(this.path, 'a', 0o600);
    try {
      let end = fstatSync(fd).size;
      return this.all().map((connection): StepRows => {
        const { key, rows, halved, sampledOut } = connection;
        const offset = end;
        const sorted = inOrder(rows.subarray(0, rowsOf(connection) * ROW_WIDTH));
        const bytes = new Uint8Array(sorted.buffer, sorted.byteOffset, sorted.byteLength);
        for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
        end += bytes.length;
        return { ...key, rows: rowsOf(connection), sampledOut, offset, halved };
      });
    } finally {
      closeSync(fd);
      this.memory.release();
    }
  }

  private all(): OpenConnection[] {
    return [...new Set(this.connections.values())].flatMap((connections) => [...connections.values()]);
  }

  private isWanted(steps: StepTable, row: number): boolean {
    return this.everyStep || steps.number[row] === 0;
  }

  private addSend(steps: StepTable, row: number, seen: number, bytes: number): void {
    const polled = steps.lastPoll[row]!;
    this.add(steps, row, bytes, polled === NONE ? steps.start[row]! : polled, seen, 0, steps.polls[row]!);
  }

  private add(
    steps: StepTable,
    row: number,
    bytes: number,
    before: number,
    seen: number,
    stop: number,
    polls: number,
  ): void {
    const number = steps.number[row]!;
    if (bytes === 0) return;
    const op = steps.op[row]!;
    if (op.drawing === undefined) op.drawing = this.rowsOf(op) satisfies OpRows;
    const own = op.drawing as OpRows;
    if (own === null) return;
    const { connection, check, arrives } = own;
    if (!isKept(op.ordinal, number, connection.halved)) {
      connection.sampledOut++;
      return;
    }
    const to = rowsOf(connection) * ROW_WIDTH;
    if (to === connection.rows.length) connection.rows = this.withRoom(connection.rows);
    const { rows: pending } = connection;
    pending[to + STEP_ROW.ordinal] = op.ordinal;
    pending[to + STEP_ROW.step] = number;
    pending[to + STEP_ROW.bytes] = bytes;
    pending[to + STEP_ROW.check] = check;
    pending[to + STEP_ROW.before] = before;
    pending[to + STEP_ROW.seen] = seen;
    pending[to + STEP_ROW.stop] = stop;
    pending[to + STEP_ROW.polls] = polls;
    pending[to + STEP_ROW.steps] = op.nSteps;
    pending[to + STEP_ROW.arrives] = arrives;
    const kind = number === 0 ? 0 : 1;
    connection.counts[kind]++;
    if (++this.counts[kind] > this.mostRows) this.halve(kind);
  }

  private withRoom(rows: Float64Array): Float64Array {
    const larger = this.memory.doubles(2 * rows.length);
    larger.set(rows);
    return larger;
  }

  /** Halves the share of the connections with the most rows. */
  private halve(kind: 0 | 1): void {
    const all = this.all();
    const most = maxOf(all.map(({ counts }) => counts[kind]));
    for (const connection of all) {
      if (connection.counts[kind] <= most / 2) continue;
      connection.halved[kind]++;
      const before = connection.counts[kind];
      keepShare(connection, kind);
      const gone = before - connection.counts[kind];
      connection.sampledOut += gone;
      this.counts[kind] -= gone;
    }
  }

  private rowsOf(op: Op): OpRows {
    if (!isJoinable(op)) return null;
    const { commId, rank } = op.comm!;
    const connections = this.connectionsOf(op.comm!);
    const number = opClaim(op.channel, op.isSend, op.peer);
    let connection = connections.get(number);
    if (!connection) {
      const [source, destination] = op.isSend ? [rank, op.peer] : [op.peer, rank];
      connection = {
        key: { commId, channel: op.channel, source, destination, isSend: op.isSend },
        rows: this.memory.doubles(FIRST_ROWS * ROW_WIDTH),
        counts: [0, 0],
        halved: [0, 0],
        sampledOut: 0,
      };
      connections.set(number, connection);
    }
    return { connection, check: this.checks.of(op), arrives: arrivesByProtocol(op) };
  }

  /** The file's table may contain a communicator twice. */
  private connectionsOf(comm: Communicator): Map<number, OpenConnection> {
    let connections = this.connections.get(comm);
    if (!connections) {
      const same = [...this.connections].find(
        ([{ commId, rank }]) => commId === comm.commId && rank === comm.rank,
      );
      connections = same?.[1] ?? new Map<number, OpenConnection>();
      this.connections.set(comm, connections);
    }
    return connections;
  }
}

const FIRST_ROWS = 32;

const rowsOf = ({ counts }: OpenConnection): number => counts[0] + counts[1];

/** Keeps the share in place, in the order in which the rows came. */
function keepShare(connection: OpenConnection, kind: 0 | 1): void {
  const { rows, counts, halved } = connection;
  const end = rowsOf(connection) * ROW_WIDTH;
  let to = 0;
  for (let from = 0; from < end; from += ROW_WIDTH) {
    if (!isKept(rows[from + STEP_ROW.ordinal]!, rows[from + STEP_ROW.step]!, halved)) continue;
    rows.copyWithin(to, from, from + ROW_WIDTH);
    to += ROW_WIDTH;
  }
  counts[kind] -= (end - to) / ROW_WIDTH;
}

/** Sorts rows that are nearly in order, because NCCL works on several operations of a connection at once. */
export function inOrder(rows: Float64Array): Float64Array {
  const keys = new Float64Array(rows.length / ROW_WIDTH);
  let isSorted = true;
  for (let row = 0; row < keys.length; row++) {
    keys[row] = stepKey(rows, row * ROW_WIDTH);
    if (row > 0 && keys[row - 1]! > keys[row]!) isSorted = false;
  }
  if (isSorted) return rows;
  const order = new Uint32Array(keys.length);
  nearlySorted(keys, keys.length, order);
  const sorted = new Float64Array(rows.length);
  let to = 0;
  for (const row of order)
    for (let from = row * ROW_WIDTH; from < (row + 1) * ROW_WIDTH; from++) sorted[to++] = rows[from]!;
  return sorted;
}

/** The other end must know the same operation. */
function isJoinable(op: Op): boolean {
  return !op.lost && op.comm !== null && op.comm.commId !== 0n && op.ordinalAbsolute && op.foreign === null;
}

/**
 * Low-latency protocols write data and flag together. On some networks NCCL does not wait for such a receive, so its state 11 proves
 * nothing.
 */
const arrivesByProtocol = ({ work }: Op): number =>
  work === null ? -1 : work.proto.toUpperCase() === 'SIMPLE' ? 1 : 0;

/** Equal at both ends of an operation, and rarely equal for two operations. The same for most operations of a work. */
class OperationChecks {
  private work: Op['work'] = null;
  private nSteps = 0;
  private check = 0;

  of({ work, nSteps }: Op): number {
    if (work === null) return 0;
    if (work !== this.work || nSteps !== this.nSteps) {
      this.work = work;
      this.nSteps = nSteps;
      this.check = operationCheck(work, nSteps);
    }
    return this.check;
  }
}

function operationCheck(work: Work, nSteps: number): number {
  let hash = addWord(addBigint(HASH_SEED, BigInt(work.count)), nSteps);
  if (work.kind === 'Coll') hash = addText(addWord(hash, work.seq ?? 0), work.func);
  return toSafeInteger(hash);
}
