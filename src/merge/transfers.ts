/**
 * The two ends of every network transfer between two hosts, side by side: rows of the scans' side files joined by
 * (communicator, channel, source, destination, ordinal of the operation, step), never by counting. A pair counts only
 * where size, number of steps and the work behind the operation agree at both ends (agreement.ts); what does not is counted by cause.
 */

import { closeSync, openSync } from 'node:fs';
import { agreementOf, Neighbours, type Agreement, type Decided } from './agreement.js';
import { readStepRows, ROW_WIDTH, STEP_ROW, type StepRows } from './step_file.js';

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
  untold: number;
  /** The operation's work is not known at one end, and no neighbours confirm the pair. */
  unconfirmed: number;
}

const noCounts = (): JoinCounts => ({
  pairs: 0,
  single: 0,
  sizesDiffer: 0,
  operationsDiffer: 0,
  untold: 0,
  unconfirmed: 0,
});

/** Connections of which both ends are in files, and `isWanted` by these. */
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

/** Ends that wait for their other end, at most: steps of a connection come nearly in order. */
const WAITING = 4096;

/** `mostRows`: of each connection, for a first look. */
export function joinTransfers(
  sources: readonly StepSource[],
  links: readonly TransferLink[],
  visit: VisitPair,
  mostRows = Infinity,
): JoinCounts {
  const counts = noCounts();
  const files = new Map<number, number>();
  const open = (file: number): number => {
    let fd = files.get(file);
    if (fd === undefined) files.set(file, (fd = openSync(sources[file]!.path, 'r')));
    return fd;
  };
  try {
    for (const link of links) joinLink(link, open(link.sender), open(link.receiver), visit, counts, mostRows);
  } finally {
    for (const fd of files.values()) closeSync(fd);
  }
  return counts;
}

interface Side {
  readonly rows: Generator<Float64Array, void, undefined>;
  /** Rows without their other end so far, by operation and step, oldest first. */
  readonly waiting: Map<number, Float64Array>;
  read: number;
  done: boolean;
}

const newSide = (rows: Side['rows']): Side => ({ rows, waiting: new Map(), read: 0, done: false });

function joinLink(
  link: TransferLink,
  sendFile: number,
  receiveFile: number,
  visit: VisitPair,
  counts: JoinCounts,
  mostRows: number,
): void {
  const decided: Decided = (send, receive, agreement) => {
    counts[agreement === 'agree' ? 'pairs' : agreement]++;
    visit(link, send, receive, agreement);
  };
  const neighbours = new Neighbours(decided);
  const sides: readonly [Side, Side] = [
    newSide(readStepRows(sendFile, link.sends)),
    newSide(readStepRows(receiveFile, link.receives)),
  ];
  for (;;) {
    // The side that has come less far reads on, so that both stay near each other.
    const turn = sides[1].done || (!sides[0].done && sides[0].read <= sides[1].read) ? 0 : 1;
    const side = sides[turn];
    const other = sides[turn === 0 ? 1 : 0];
    if (side.done || side.read >= mostRows) break;
    const block = side.rows.next();
    if (block.done) {
      side.done = true;
      continue;
    }
    side.read += block.value.length / ROW_WIDTH;
    for (let at = 0; at < block.value.length; at += ROW_WIDTH) {
      const row = block.value.subarray(at, at + ROW_WIDTH);
      const key = row[STEP_ROW.ordinal]! * STEPS + row[STEP_ROW.step]!;
      const partner = other.waiting.get(key);
      if (!partner) {
        side.waiting.set(key, row.slice());
        continue;
      }
      other.waiting.delete(key);
      const [send, receive] = turn === 0 ? [row, partner] : [partner, row];
      neighbours.judge(send, receive, agreementOf(send, receive));
    }
    dropOldest(side.waiting, counts);
  }
  neighbours.end();
  counts.single += sides[0].waiting.size + sides[1].waiting.size;
}

/** More than an operation ever has. */
const STEPS = 2 ** 22;

function dropOldest(waiting: Map<number, Float64Array>, counts: JoinCounts): void {
  if (waiting.size <= WAITING) return;
  for (const key of waiting.keys()) {
    waiting.delete(key);
    counts.single++;
    if (waiting.size <= WAITING / 2) return;
  }
}
