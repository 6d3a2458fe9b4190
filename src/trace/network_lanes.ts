/**
 * What the network transfers of a file waited for in a stretch of time, by peer: for a picture of that stretch. It is cut into columns, and each
 * is given what its transfers waited for longest, so no transfer is left out. Runs on a worker thread.
 */

import { exactNumbers, isKnown } from '../base/exact_numbers.js';
import { entryOf } from '../base/grouped.js';
import { KernelFile } from '../kernel/host/kernel_file.js';
import { type KnownNumbers, readStepTable, type StepBlock } from '../kernel/host/step_table.js';
import { Wait } from '../model/waits.js';
import { inJob } from '../runs/job_ranks.js';
import { readScanned } from './scanned_file.js';
import type { TransfersJob } from './transfers_job.js';

export interface NetworkJob extends TransfersJob {
  /** ns of the trace. */
  readonly from: number;
  readonly to: number;
  readonly columns: number;
  readonly mostLanes: number;
}

export interface NetworkLane {
  readonly isSend: boolean;
  /** In the job; null: not known. */
  readonly peer: number | null;
  readonly transfers: number;
  /** In columns. */
  readonly spans: readonly { readonly from: number; readonly to: number; readonly wait: Wait }[];
}

/** In the order of a transfer. */
const WAITS = {
  send: [
    ['gpuWait', Wait.Gpu],
    ['peerWait', Wait.Peer],
    ['sendWait', Wait.Send],
  ],
  recv: [
    ['recvWait', Wait.Recv],
    ['flushWait', Wait.Flush],
    ['gpuWait', Wait.Gpu],
  ],
} as const;

class Lane {
  transfers = 0;
  total = 0;
  /** By wait. */
  private readonly times: readonly Float64Array[];

  constructor(
    readonly isSend: boolean,
    readonly peer: number | null,
    private readonly columns: number,
  ) {
    this.times = [0, 1, 2].map(() => new Float64Array(columns));
  }

  /** From and to in columns. */
  add(wait: number, from: number, to: number): void {
    const times = this.times[wait]!;
    const [start, end] = [Math.max(0, from), Math.min(this.columns, to)];
    for (let column = Math.floor(start); column < end; column++)
      times[column]! += Math.min(end, column + 1) - Math.max(start, column);
    this.total += Math.max(0, end - start);
  }

  spans(): NetworkLane['spans'] {
    const waits = WAITS[this.isSend ? 'send' : 'recv'];
    const made: { from: number; to: number; wait: Wait }[] = [];
    for (let column = 0; column < this.columns; column++) {
      let longest = 0;
      this.times.forEach((times, i) => {
        if (times[column]! > this.times[longest]![column]!) longest = i;
      });
      if (this.times[longest]![column] === 0) continue;
      const wait = waits[longest]![1];
      const before = made.at(-1);
      if (before?.to === column && before.wait === wait) before.to++;
      else made.push({ from: column, to: column + 1, wait });
    }
    return made;
  }
}

/** The busiest first. Peers beyond `mostLanes` are not in it; `others`: their transfers. */
export function networkLanes(job: NetworkJob): { readonly lanes: NetworkLane[]; readonly others: number } {
  const lanes = new Map<string, Lane>();
  const kernel = new KernelFile();
  readScanned(kernel, job, (file) => {
    const rankOf = inJob(job.jobRanks);
    const peerOf = (comm: number, peer: number): number | null => {
      const found = file.communicators.get(comm);
      return found === undefined || Number.isNaN(peer) ? null : rankOf(found, peer);
    };
    readStepTable(kernel, file, job, (block) => {
      addBlock(block, job, (isSend, comm, peer) => {
        const rank = peerOf(comm, peer);
        return entryOf(lanes, `${isSend} ${rank}`, () => new Lane(isSend, rank, job.columns));
      });
    });
  });
  const busiest = [...lanes.values()].sort((a, b) => b.total - a.total);
  return {
    lanes: busiest.slice(0, job.mostLanes).map((lane) => ({
      isSend: lane.isSend,
      peer: lane.peer,
      transfers: lane.transfers,
      spans: lane.spans(),
    })),
    others: busiest.slice(job.mostLanes).reduce((sum, { transfers }) => sum + transfers, 0),
  };
}

function addBlock(
  block: StepBlock,
  { from, to, columns }: NetworkJob,
  laneOf: (isSend: boolean, comm: number, peer: number) => Lane,
): void {
  const [start, end, isSend, comm, peer] = (['start', 'end', 'isSend', 'comm', 'peer'] as const).map((name) =>
    numbersOf(block[name]),
  ) as [Numbers, Numbers, Numbers, Numbers, Numbers];
  const waits = {
    send: WAITS.send.map(([name]) => numbersOf(block[name])),
    recv: WAITS.recv.map(([name]) => numbersOf(block[name])),
  };
  const inColumns = (at: number): number => ((at - from) * columns) / (to - from);
  for (let row = 0; row < block.rows; row++) {
    const begin = start(row);
    // What is in flight ends with the picture.
    const over = orElse(end(row), to);
    if (begin >= to || over <= from || Number.isNaN(isSend(row))) continue;
    const direction = isSend(row) === 1 ? 'send' : 'recv';
    const lane = laneOf(direction === 'send', comm(row), peer(row));
    lane.transfers++;
    let at = begin;
    waits[direction].forEach((wait, i) => {
      const length = orElse(wait(row), 0);
      lane.add(i, inColumns(at), inColumns(at + length));
      at += length;
    });
  }
}

type Numbers = (row: number) => number;

const orElse = (number: number, other: number): number => (Number.isNaN(number) ? other : number);

/** NaN: not known. */
function numbersOf({ numbers, known }: KnownNumbers): Numbers {
  const number = exactNumbers(numbers);
  return (row) => (isKnown(known, row) ? number(row) : NaN);
}
