/**
 * The network transfers that the scan keeps: all of them, for the clocks, or only the first one of each operation, if ranks are on one
 * counter and only arrows are checked. If there are too many, a share is kept (`ConnectionRows.keeps`). One row per step and end: ten numbers, in the order
 * of src/scan/step_file.ts (STEP_ROW). The host sorts them and writes them to the side file.
 */

import { lowHalf } from './bits';
import { ConnectionRows } from './connection_rows';
import { Op, Phase, Step, Work } from './event';
import { Comm } from './comm';
import { file } from './file';
import { TextFlag } from './file_texts';
import { newHash } from './hash';

/** A send's size if its record is lost. */
const SIZE_LOST: f64 = -1;
export class StepRows {
  readonly connections: ConnectionRows[] = [];
  private readonly places: Map<u64, ConnectionRows> = new Map<u64, ConnectionRows>();
  private readonly joined: Comm[] = [];
  private readonly counts: StaticArray<i32> = new StaticArray<i32>(2);
  /** The same for most operations of a work. */
  private lastWork: Work | null = null;
  private lastSteps: i32 = 0;
  private lastCheck: f64 = 0;

  /** `mostRows`: of first steps, and as many of later ones. */
  constructor(
    private readonly everyStep: bool,
    private readonly mostRows: i32,
  ) {}

  /** `at`: the tick of state 9. */
  sendBegan(step: Step, at: f64): void {
    if (this.isWanted(step) && !isNaN(step.bytes)) this.addSend(step, at, step.bytes);
  }

  stopped(step: Step, at: f64): void {
    if (!this.isWanted(step)) return;
    // For a send without state 9, only the arrow is checked.
    if (step.phase == Phase.PeerWait) this.addSend(step, at, SIZE_LOST);
    if (step.op.isSend || isNaN(step.arrived) || isNaN(step.bytes)) return;
    this.add(step, step.bytes, step.start, step.arrived, at, 0);
  }

  /** Called at the file's end, when all polls are counted. A send that never ended has an arrow if its receiver has the data. */
  isOpen(step: Step): void {
    if (this.isWanted(step) && step.phase == Phase.PeerWait)
      this.addSend(step, isNaN(step.lastPoll) ? step.start : step.lastPoll, SIZE_LOST);
  }

  private isWanted(step: Step): bool {
    const number = step.number;
    return this.everyStep || number == 0;
  }

  private addSend(step: Step, seen: f64, bytes: f64): void {
    this.add(step, bytes, isNaN(step.lastPoll) ? step.start : step.lastPoll, seen, 0, step.polls);
  }

  private add(step: Step, bytes: f64, before: f64, seen: f64, stop: f64, polls: f64): void {
    if (bytes == 0) return;
    const op = step.op;
    const number = step.number;
    const connection = this.rowsOf(op);
    if (connection === null) return;
    if (!connection.keeps(op.ordinal, <u32>number)) {
      connection.sampledOut += 1;
      return;
    }
    const row = connection.next();
    store<f64>(row, <f64>op.ordinal);
    store<f64>(row, <f64>number, 8);
    store<f64>(row, bytes, 16);
    store<f64>(row, op.rowCheck, 24);
    store<f64>(row, before, 32);
    store<f64>(row, seen, 40);
    store<f64>(row, stop, 48);
    store<f64>(row, polls, 56);
    store<f64>(row, <f64>op.nSteps, 64);
    store<f64>(row, op.rowArrives, 72);
    const kind = number == 0 ? 0 : 1;
    connection.counts[kind]++;
    if (++this.counts[kind] > this.mostRows) this.halve(kind);
  }

  /** Halves the share of the connections with the most rows. */
  private halve(kind: i32): void {
    let most = 0;
    for (let i = 0; i < this.connections.length; i++) most = max(most, this.connections[i].counts[kind]);
    for (let i = 0; i < this.connections.length; i++) {
      const connection = this.connections[i];
      const before = connection.counts[kind];
      if (before * 2 <= most) continue;
      connection.halve(kind);
      const gone = before - connection.counts[kind];
      connection.sampledOut += <f64>gone;
      this.counts[kind] -= gone;
    }
  }

  /** null: its other end is not known. */
  private rowsOf(op: Op): ConnectionRows | null {
    if (op.hasRows) return op.rows;
    op.hasRows = true;
    if (!isJoinable(op)) return null;
    const work = op.work;
    op.rowArrives = work === null ? -1 : file().hasText(work.proto, TextFlag.IsSimple) ? 1 : 0;
    op.rowCheck = work === null ? 0 : this.checkOf(work, op.nSteps);
    return (op.rows = this.connectionOf(op));
  }

  private connectionOf(op: Op): ConnectionRows {
    const comm = this.joinedComm(op.comm);
    const key =
      (lowHalf(comm.number) << 42) |
      (lowHalf(op.peer) << 10) |
      ((<u64>(op.channel & 0xff)) << 1) |
      (op.isSend ? 1 : 0);
    if (this.places.has(key)) return this.places.get(key);
    const made = new ConnectionRows(comm.number, op.channel, op.peer, op.isSend);
    this.places.set(key, made);
    this.connections.push(made);
    return made;
  }

  /** The file's table may contain a communicator twice. */
  private joinedComm(comm: Comm): Comm {
    for (let i = 0; i < this.joined.length; i++) {
      const one = this.joined[i];
      if (one === comm || (one.commId == comm.commId && one.rank == comm.rank)) return one;
    }
    this.joined.push(comm);
    return comm;
  }

  /** Hash of the facts about the operation that both ends know, and rarely equal for two operations. */
  private checkOf(work: Work, nSteps: i32): f64 {
    if (work !== this.lastWork || nSteps != this.lastSteps) {
      this.lastWork = work;
      this.lastSteps = nSteps;
      const hash = newHash();
      hash.addLong(<u64>work.count);
      hash.addWord(<u32>nSteps);
      if (work.isColl) {
        hash.addWord(<u32>(<u64>work.seq));
        hash.addText(work.func);
      }
      this.lastCheck = hash.number;
    }
    return this.lastCheck;
  }
}

/** The other end must know the same operation. */
function isJoinable(op: Op): bool {
  const isLost = op.isLost;
  const comm = op.comm;
  const isOrdinalAbsolute = op.isOrdinalAbsolute;
  const isForeign = op.isForeign;
  return !isLost && comm.isKnown && comm.commId != 0 && isOrdinalAbsolute && !isForeign;
}
