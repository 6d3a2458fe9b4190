/**
 * Joins the two ends of every transfer between two hosts: rows of the scans' side files, by (communicator, channel, source, destination,
 * ordinal of the operation, step), never by counting. A pair counts only if size, number of steps and the work behind the operation agree
 * at both ends (agreement.ts). Others are counted by cause.
 */

import { closeSync, openSync } from 'node:fs';
import { agreementOf, Neighbours, type Agreement } from './agreement.js';
import { DISORDER_BLOCKS, StepCursor, stepKey } from './step_cursor.js';
import { ROW_WIDTH, type StepRows } from '../../scan/step_file.js';

/** What a scanned file has of its steps. */
export interface StepSource {
  readonly path: string;
  readonly connections: readonly StepRows[];
}

/** A connection with both ends at hand. */
export interface TransferLink {
  /** Indices of files. */
  readonly sender: number;
  readonly receiver: number;
  readonly sends: StepRows;
  readonly receives: StepRows;
}

export interface JoinCounts {
  pairs: number;
  /** Ends whose other end is not in its file: lost, or outside its window. */
  single: number;
  /** Both ends are there and disagree. */
  sizesDiffer: number;
  operationsDiffer: number;
  /** The sender's size is not known. */
  sizeLost: number;
  /** The operation's work is not known at one end, and no neighbours confirm the pair. */
  unconfirmed: number;
}

const noCounts = (): JoinCounts => ({
  pairs: 0,
  single: 0,
  sizesDiffer: 0,
  operationsDiffer: 0,
  sizeLost: 0,
  unconfirmed: 0,
});

/** Connections with both ends in files, and `isWanted` by these files. */
export function linksBetween(
  sources: readonly StepSource[],
  isWanted: (sender: number, receiver: number) => boolean,
): TransferLink[] {
  const senders = new Map<string, { file: number; sends: StepRows }>();
  const key = ({ commId, channel, source, destination }: StepRows): string =>
    `${commId} ${channel} ${source} ${destination}`;
  sources.forEach(({ connections }, file) => {
    for (const sends of connections) if (sends.isSend) senders.set(key(sends), { file, sends });
  });
  return sources.flatMap(({ connections }, receiver) =>
    connections.flatMap((receives) => {
      const sender = receives.isSend ? undefined : senders.get(key(receives));
      if (!sender || !isWanted(sender.file, receiver)) return [];
      return [{ sender: sender.file, receiver, sends: sender.sends, receives }];
    }),
  );
}

/** Rows as subarrays that are only valid during the call. 'agree': the pair counts. */
export type VisitPair = (
  link: TransferLink,
  send: Float64Array,
  receive: Float64Array,
  agreement: Agreement,
) => void;

/** Ends that wait for their other end, at most. */
const WAITING = 4096;

/** `mostPairs`: of each connection so many that agree, for a first look. */
export function joinTransfers(
  sources: readonly StepSource[],
  links: readonly TransferLink[],
  visit: VisitPair,
  mostPairs = Infinity,
): JoinCounts {
  const counts = noCounts();
  const files = new Map<number, number>();
  const open = (file: number): number => {
    let fd = files.get(file);
    if (fd === undefined) files.set(file, (fd = openSync(sources[file]!.path, 'r')));
    return fd;
  };
  try {
    for (const link of links) {
      const sides = [new Side(open(link.sender), link.sends), new Side(open(link.receiver), link.receives)];
      joinLink(link, sides as [Side, Side], visit, counts, mostPairs);
    }
  } finally {
    for (const fd of files.values()) closeSync(fd);
  }
  return counts;
}

/** What is read of one end. */
class Side {
  /** Rows without their other end so far, oldest first. */
  readonly waiting = new Map<number, Float64Array>();
  private readonly cursor: StepCursor;
  /** The lowest key of the newest block, and the highest one of all blocks so far. */
  lowest: number;
  highest = -Infinity;
  rowsRead = 0;
  isDone = false;

  constructor(fd: number, end: StepRows) {
    this.cursor = new StepCursor(fd, end);
    this.lowest = this.cursor.peek();
  }

  /** The next block, without those that lie before all that `other` can still have. null: nothing is left. */
  read(other: Side, counts: JoinCounts): Float64Array | null {
    if (other.lowest > this.highest) counts.single += this.cursor.passTo(other.lowest);
    const block = this.cursor.read();
    if (block === null) {
      this.isDone = true;
      return null;
    }
    this.lowest = Infinity;
    for (let at = 0; at < block.length; at += ROW_WIDTH) {
      const key = stepKey(block, at);
      this.lowest = Math.min(this.lowest, key);
      this.highest = Math.max(this.highest, key);
    }
    this.rowsRead += block.length / ROW_WIDTH;
    return block;
  }

  waitFor(key: number, row: Float64Array, counts: JoinCounts): void {
    if (this.waiting.has(key)) counts.single++;
    this.waiting.set(key, row.slice());
    if (this.waiting.size <= WAITING) return;
    this.waiting.delete(this.waiting.keys().next().value!);
    counts.single++;
  }

  /** Nothing more is read. */
  finish(counts: JoinCounts): void {
    counts.single += this.waiting.size + this.cursor.passAll();
  }
}

/**
 * The side that has come less far, by operation and step, reads on: so both stay near each other whatever either of them lacks,
 * and only rows that are out of place wait for long.
 */
function joinLink(
  link: TransferLink,
  sides: readonly [Side, Side],
  visit: VisitPair,
  counts: JoinCounts,
  mostPairs: number,
): void {
  const before = counts.pairs;
  const neighbours = new Neighbours((send, receive, agreement) => {
    counts[agreement === 'agree' ? 'pairs' : agreement]++;
    visit(link, send, receive, agreement);
  });
  // Rows of operations that nothing confirms are no pairs: a first look gives them up some time.
  const mostRows = ROWS_PER_PAIR * mostPairs;
  let blocksBeyond = 0;
  while (counts.pairs - before < mostPairs && sides[0].rowsRead + sides[1].rowsRead < mostRows) {
    const turn = sides[1].isDone || (!sides[0].isDone && sides[0].highest <= sides[1].highest) ? 0 : 1;
    const side = sides[turn];
    const other = sides[turn === 0 ? 1 : 0];
    if (side.isDone || blocksBeyond > DISORDER_BLOCKS) break;
    const block = side.read(other, counts);
    if (block === null) continue;
    if (other.isDone && side.lowest > other.highest) blocksBeyond++;
    for (let at = 0; at < block.length; at += ROW_WIDTH) {
      const row = block.subarray(at, at + ROW_WIDTH);
      const key = stepKey(block, at);
      const partner = other.waiting.get(key);
      if (!partner) {
        side.waitFor(key, row, counts);
        continue;
      }
      other.waiting.delete(key);
      const [send, receive] = turn === 0 ? [row, partner] : [partner, row];
      neighbours.judge(send, receive, agreementOf(send, receive));
    }
  }
  neighbours.end();
  for (const side of sides) side.finish(counts);
}

/** A first look reads at most so many rows of both ends together, for each pair that it wants. */
const ROWS_PER_PAIR = 64;
