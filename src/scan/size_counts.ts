/**
 * Counts how large a file's trace would be, while its records are paired: the things to draw, their starts, their communicators, and the
 * tracks. The counts follow src/trace/tracks. There each thing is one slice, or an instant for operations whose end NCCL never reports.
 */

import { mostAtOnce } from '../base/intervals.js';
import { numberAt, type PackedNumbers } from '../base/packed_numbers.js';
import { belongsToNoComm, callComm } from '../model/host_span.js';
import { commKey } from '../model/identity.js';
import type { Ticks } from '../base/time.js';
import type { HostSpan, Kernel, Op, Work } from '../model/types.js';
import type { PeerTraffic } from '../model/peer_bytes.js';
import { STARTED, STOPPED, type StepEvents, type StepListener } from '../model/step_events.js';
import type { StepTable } from '../model/step_table.js';
import { outcomeAt, type WorkEndTable } from '../model/work_end_table.js';
import type { WorkStarts } from '../model/work_ends.js';
import type { Communicator } from '../rankfile/types.js';
import { CommCounter } from './comm_counter.js';
import { NO_COMM, UNKNOWN_COMM, type FileSize } from './drawn_size.js';

export class SizeCounter implements StepListener {
  private readonly comms = new Map<Communicator | null, CommCounter>();
  private readonly free = new CommCounter(NO_COMM);
  private readonly callRings = new Set<number>();
  /** The communicator of the last event, because events of one communicator come one after the other. */
  private lastComm: Communicator | null | undefined;
  private last = this.free;

  call(span: HostSpan, at: Ticks): void {
    const isWatched = span.kind === 'NetPlugin' || span.kind === 'unknown';
    const counter = belongsToNoComm(span) ? this.free : this.of(callComm(span));
    counter.add(isWatched ? 'net' : 'call', at);
    counter.thread(isWatched ? 'step' : 'coll', span.ring);
    if (!isWatched) this.callRings.add(span.ring);
  }

  work({ comm, ring }: Work, at: Ticks): void {
    this.of(comm).add('work', at);
    this.callRings.add(ring);
  }

  opStart(op: Op, at: Ticks): void {
    const counter = this.of(op.comm);
    counter.add('op', at);
    counter.opStart(op, at);
  }

  opAlive(op: Op): void {
    this.of(op.comm).opAlive(op);
  }

  opStop(op: Op): void {
    this.of(op.comm).opStop(op);
  }

  kernelStart(kernel: Kernel, at: Ticks): void {
    this.of(kernel.comm).kernelStart(kernel, at);
  }

  kernelStop(kernel: Kernel): void {
    this.of(kernel.comm).kernelStop(kernel);
  }

  ctrl(ring: number, at: Ticks): void {
    this.free.add('ctrl', at);
    this.free.track(ring);
  }

  steps({ op }: StepTable, { what, row, at, length }: StepEvents): void {
    for (let i = 0; i < length; i++) {
      if (what[i]! >= STOPPED) continue;
      const { steps, phases } = this.of(op[row[i]!]!.comm);
      (what[i] === STARTED ? steps : phases).addRow(at, i);
    }
  }

  /**
   * `ends`, `enqueued`: by row of work. `starts`: of all works. `open`: operations that have not stopped. `endless`: connections on which
   * nothing ever moved. `communicators`: all of the file; each has a track, also without any event.
   */
  finish(
    ends: WorkEndTable,
    enqueued: PackedNumbers,
    starts: readonly WorkStarts[],
    open: readonly Op[],
    endless: ReadonlySet<string>,
    communicators: Iterable<Communicator>,
    busiest: readonly PeerTraffic[],
    more: Pick<FileSize, 'directions' | 'recorderTracks'>,
  ): FileSize {
    for (const op of open) this.opStop(op);
    for (const comm of communicators) this.of(comm).isInFile = true;
    const lanes = lanesOf(starts, drawnUntil(ends, enqueued));
    const comms = [...this.comms].map(([comm, counter]) => {
      const peers = busiest.filter((one) => one.comm === comm?.number).length;
      return counter.finish(lanes.get(comm) ?? 0, endless, peers);
    });
    return { comms: [this.free.finish(0, endless, 0), ...comms], callRings: this.callRings, ...more };
  }

  private of(comm: Communicator | null): CommCounter {
    if (comm === this.lastComm) return this.last;
    const counter = this.lookUp(comm);
    this.lastComm = comm;
    this.last = counter;
    return counter;
  }

  private lookUp(comm: Communicator | null): CommCounter {
    let counter = this.comms.get(comm);
    if (!counter) {
      counter = new CommCounter(comm === null ? UNKNOWN_COMM : commKey(comm));
      this.comms.set(comm, counter);
    }
    return counter;
  }
}

/** How many lanes each communicator's works need. Works of one kind overlap if the host runs ahead. `until`: by row. */
function lanesOf(all: readonly WorkStarts[], until: Float64Array): ReadonlyMap<Communicator | null, number> {
  const lanes = new Map<Communicator | null, number>();
  for (const { comm, rows, starts } of all) {
    const ends = Float64Array.from(rows, (row, i) => Math.max(starts[i]!, until[row]!));
    lanes.set(comm, (lanes.get(comm) ?? 0) + mostAtOnce(starts, ends));
  }
  return lanes;
}

/** Until when each work is drawn, by row, without operations of other processes. Infinity: left open. */
function drawnUntil(ends: WorkEndTable, enqueued: PackedNumbers): Float64Array {
  const { lastOp, noticed, finalized } = ends;
  return Float64Array.from({ length: enqueued.length }, (_, row) => {
    const called = numberAt(enqueued, row);
    const outcome = outcomeAt(ends, row);
    if (outcome === 'complete' || outcome === 'aborted')
      return Math.max(numberAt(lastOp, row) || 0, numberAt(noticed, row) || 0, finalized.get(row) ?? 0);
    return outcome === 'open' || Number.isNaN(called) ? Infinity : called;
  });
}
