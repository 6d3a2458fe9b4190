/**
 * What the scan keeps of network transfers: all of them, for the clocks, or only each operation's first one, if ranks are on one counter
 * and only arrows are checked. One row per step and end, on disk, because the number grows with the run. Rows lie in blocks by connection,
 * so that its two ends can be read side by side, a block at a time. A row is ten doubles (STEP_ROW); ticks are the file's own.
 */

import { closeSync, openSync, writeSync } from 'node:fs';
import { addBigint, addText, addWord, HASH_SEED, toSafeInteger } from '../base/hash.js';
import type { Ticks } from '../base/time.js';
import { NONE, type StepTable } from '../model/step_table.js';
import { opClaim } from '../model/parents.js';
import { StepPhase, type Op, type Work } from '../model/types.js';
import type { Communicator } from '../rankfile/types.js';

export const STEP_ROW = {
  /** Of the operation on its connection. */
  ordinal: 0,
  step: 1,
  /** Send: SIZE_LOST if it is not known. */
  bytes: 2,
  /** What both ends know of the operation, hashed; 0: its work is not known. */
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
  /** Start of each block in the side file, and its rows. */
  readonly blocks: readonly (readonly [offset: number, rows: number])[];
}

/** As a send's size: its record is lost. */
export const SIZE_LOST = -1;

/** Rows of a block, at most. */
export const BLOCK_ROWS = 128;

interface OpenConnection {
  readonly key: Omit<StepRows, 'rows' | 'blocks'>;
  readonly pending: Float64Array;
  filled: number;
  rows: number;
  readonly blocks: [number, number][];
}

/** Op.drawing during the scan; null: its other end is not known. */
type OpRows = {
  readonly connection: OpenConnection;
  readonly check: number;
  readonly arrives: number;
} | null;

/** Listens to the steps of one file. */
export class StepFileWriter {
  private readonly fd: number;
  /** By communicator, then by peer, channel and direction in one number. */
  private readonly connections = new Map<Communicator, Map<number, OpenConnection>>();
  private readonly checks = new OperationChecks();
  private end = 0;

  constructor(
    path: string,
    private readonly everyStep: boolean,
  ) {
    this.fd = openSync(path, 'wx', 0o600);
  }

  /** `at`: the tick of the state that began the phase. */
  stepPhase(steps: StepTable, row: number, at: Ticks): void {
    const bytes = steps.bytes[row]!;
    if (steps.phase[row] === StepPhase.SendWait && bytes !== NONE) this.addSend(steps, row, at, bytes);
  }

  stepStop(steps: StepTable, row: number, at: Ticks): void {
    // A send without state 9: only its arrow is checked.
    if (steps.phase[row] === StepPhase.PeerWait) this.addSend(steps, row, at, SIZE_LOST);
    const [arrived, bytes] = [steps.arrived[row]!, steps.bytes[row]!];
    if (steps.op[row]!.isSend || arrived === NONE || bytes === NONE) return;
    this.add(steps, row, bytes, steps.start[row]!, arrived, at, 0);
  }

  /** At the file's end, when all polls are counted: a send that never ended has an arrow once its receiver has the data. */
  stepOpen(steps: StepTable, row: number): void {
    const polled = steps.lastPoll[row]!;
    const last = polled === NONE ? steps.start[row]! : polled;
    if (steps.phase[row] === StepPhase.PeerWait) this.addSend(steps, row, last, SIZE_LOST);
  }

  close(): StepRows[] {
    const all = [...new Set(this.connections.values())].flatMap((connections) => [...connections.values()]);
    for (const connection of all) this.flush(connection);
    closeSync(this.fd);
    return all.map(({ key, rows, blocks }) => ({ ...key, rows, blocks }));
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
    if (bytes === 0 || (!this.everyStep && number !== 0)) return;
    const op = steps.op[row]!;
    if (op.drawing === undefined) op.drawing = this.rowsOf(op) satisfies OpRows;
    const own = op.drawing as OpRows;
    if (own === null) return;
    const { connection, check, arrives } = own;
    const { pending } = connection;
    const to = connection.filled * ROW_WIDTH;
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
    connection.filled++;
    connection.rows++;
    if (connection.filled === BLOCK_ROWS) this.flush(connection);
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
        pending: new Float64Array(BLOCK_ROWS * ROW_WIDTH),
        filled: 0,
        rows: 0,
        blocks: [],
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

  private flush(connection: OpenConnection): void {
    if (connection.filled === 0) return;
    const bytes = new Uint8Array(connection.pending.buffer, 0, connection.filled * ROW_WIDTH * 8);
    for (let at = 0; at < bytes.length;) at += writeSync(this.fd, bytes, at);
    connection.blocks.push([this.end, connection.filled]);
    this.end += bytes.length;
    connection.filled = 0;
  }
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
