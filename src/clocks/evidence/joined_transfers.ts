/**
 * Joins the two ends of every transfer between two hosts: rows of the scans' side files, by (communicator, channel, source, destination,
 * ordinal of the operation, step), never by counting. A pair counts only if size, number of steps and the work behind the operation agree
 * at both ends (agreement.ts). Others are counted by cause.
 */

import { closeSync, openSync, readSync } from 'node:fs';
import { agreementOf, Neighbours, type Agreement } from './agreement.js';
import { ROW_WIDTH, STEP_ROW, stepKey, type StepRows } from '../../scan/step_file.js';
import { isKept, smallerShare, type Halved } from '../../scan/step_sample.js';

/** The side file of a scanned file's steps. */
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
  /** Both ends are recorded and disagree. */
  sizesDiffer: number;
  operationsDiffer: number;
  /** The sender's size is not known. */
  sizeLost: number;
  /** The operation's work is not known at one end, and no neighbours confirm the pair. */
  unconfirmed: number;
  /** Transfers that only one end kept, because the scan keeps a share of too many. */
  sampledOut: number;
}

const noCounts = (): JoinCounts => ({
  pairs: 0,
  single: 0,
  sizesDiffer: 0,
  operationsDiffer: 0,
  sizeLost: 0,
  unconfirmed: 0,
  sampledOut: 0,
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

/** Rows are only valid during the call. 'agree': the pair counts. */
export type VisitPair = (
  link: TransferLink,
  send: Float64Array,
  receive: Float64Array,
  agreement: Agreement,
) => void;

/** `mostPairs`: stop after this many agreeing pairs per connection, for a first look. */
export function joinTransfers(
  sources: readonly StepSource[],
  links: readonly TransferLink[],
  visit: VisitPair,
  mostPairs = Infinity,
): JoinCounts {
  const counts = noCounts();
  const files = new Map<string, number>();
  const open = (file: number): number => {
    const { path } = sources[file]!;
    let fd = files.get(path);
    if (fd === undefined) files.set(path, (fd = openSync(path, 'r')));
    return fd;
  };
  const [sends, receives] = [new Side(), new Side()];
  try {
    for (const link of links) {
      // If only one end had to keep a row, the row is not lost.
      const kept = smallerShare(link.sends.halved, link.receives.halved);
      sends.load(open(link.sender), link.sends, kept);
      receives.load(open(link.receiver), link.receives, kept);
      joinLink(link, sends, receives, visit, counts, mostPairs);
      counts.sampledOut += link.receives.sampledOut + receives.skipped;
    }
  } finally {
    for (const fd of files.values()) closeSync(fd);
  }
  return counts;
}

/** One end of a connection. */
class Side {
  /** The `stepKey` of the current row. Infinity: all rows are read. */
  key = Infinity;
  /** Rows that the other end did not keep. */
  skipped = 0;
  private rows = new Float64Array(0);
  private end = 0;
  private at = 0;
  private kept: Halved = [0, 0];
  private readonly own = new Float64Array(ROW_WIDTH);

  load(fd: number, { rows, offset }: StepRows, kept: Halved): void {
    this.end = rows * ROW_WIDTH;
    if (this.end > this.rows.length) this.rows = new Float64Array(this.end);
    const bytes = new Uint8Array(this.rows.buffer, 0, this.end * 8);
    for (let at = 0; at < bytes.length;) {
      const read = readSync(fd, bytes, at, bytes.length - at, offset + at);
      if (read === 0) throw new Error('a side file of the scan was cut short');
      at += read;
    }
    this.kept = kept;
    this.skipped = 0;
    this.at = -ROW_WIDTH;
    this.next();
  }

  next(): void {
    const { rows, end, kept } = this;
    this.at += ROW_WIDTH;
    while (
      this.at < end &&
      !isKept(rows[this.at + STEP_ROW.ordinal]!, rows[this.at + STEP_ROW.step]!, kept)
    ) {
      this.at += ROW_WIDTH;
      this.skipped++;
    }
    this.key = this.at < end ? stepKey(rows, this.at) : Infinity;
  }

  /** Always the same array, because a view for each row would be half of the work. */
  row(): Float64Array {
    for (let column = 0; column < ROW_WIDTH; column++) this.own[column] = this.rows[this.at + column]!;
    return this.own;
  }
}

/** Rows are in the order of their keys. */
function joinLink(
  link: TransferLink,
  sends: Side,
  receives: Side,
  visit: VisitPair,
  counts: JoinCounts,
  mostPairs: number,
): void {
  const before = counts.pairs;
  const neighbours = new Neighbours((send, receive, agreement) => {
    counts[agreement === 'agree' ? 'pairs' : agreement]++;
    visit(link, send, receive, agreement);
  });
  while (counts.pairs - before < mostPairs && (sends.key < Infinity || receives.key < Infinity)) {
    if (sends.key === receives.key) {
      const [send, receive] = [sends.row(), receives.row()];
      neighbours.judge(send, receive, agreementOf(send, receive));
      sends.next();
      receives.next();
      continue;
    }
    counts.single++;
    (sends.key < receives.key ? sends : receives).next();
  }
  neighbours.end();
}
