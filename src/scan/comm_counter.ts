/**
 * Counts the slices and tracks of one communicator in the trace. Operations lie in lanes as in the trace: the lowest free one, per channel,
 * direction and peer. Operations that began their work at the same time have step slots of their own, as many as the largest operation
 * needs.
 */

import { LaneNumbers } from '../base/lane_numbers.js';
import type { Ticks } from '../base/time.js';
import { seenUntil } from '../model/stand_ins.js';
import { NCCL_STEPS } from '../model/step_table.js';
import type { Kernel, Op } from '../model/types.js';
import { KINDS, type CommSize, type DrawnKind, type Threads } from './drawn_size.js';
import { QuietConnections } from './quiet_connections.js';
import { TimeCounter, type TimeCounts } from './time_counts.js';

/** One channel, direction and peer. */
interface Connection {
  /** Stand-ins. Their ends are known only after the last record. */
  readonly standIns: Op[];
  /** All other operations, each in the lowest free lane, as in the trace. */
  readonly lanes: LaneNumbers;
  inLanes: number;
  readonly slotSets: LaneNumbers;
  /** By set: step slots of its largest operation. */
  readonly slots: number[];
}

export class CommCounter {
  private readonly counters = Object.fromEntries(KINDS.map((kind) => [kind, new TimeCounter()])) as Record<
    DrawnKind,
    TimeCounter
  >;
  /** Tracks of proxy threads. */
  private readonly tracks = new Set<number>();
  private readonly threads: Readonly<Record<Threads, Set<number>>> = { coll: new Set(), step: new Set() };
  /** The file's table names the communicator, so it has a track of its own. */
  isInFile = false;
  /** By channel, and whether they are phases: the end of the last kernel in each lane. */
  private readonly kernels = new Map<number, LaneNumbers>();
  private readonly connections = new Map<number, Connection>();
  private readonly quiet = new QuietConnections();
  /** A field of its own, because steps are the most frequent events. */
  readonly steps = this.counters.step;
  readonly phases = this.counters.phase;

  constructor(private readonly comm: string) {}

  add(kind: DrawnKind, at: Ticks): void {
    this.counters[kind].add(at);
  }

  track(number: number): void {
    this.tracks.add(number);
  }

  thread(detail: Threads, ring: number): void {
    this.threads[detail].add(ring);
  }

  kernelStart(kernel: Kernel, at: Ticks): void {
    this.add('kernel', at);
    const channel = channelOf(kernel);
    if (!this.kernels.has(channel)) this.kernels.set(channel, new LaneNumbers());
  }

  /**
   * Kernels are counted as they are drawn: by the GPU's stamps, in the first lane whose last kernel ended before. Kernels without stamps
   * hardly overlap.
   */
  kernelStop(kernel: Kernel): void {
    const { timerStart, timerStop } = kernel;
    const lanes = this.kernels.get(channelOf(kernel));
    if (!lanes || timerStart === null || timerStop === null) return;
    lanes.release(lanes.acquire(timerStart), timerStop);
  }

  opStart(op: Op, at: Ticks): void {
    if (op.lost) this.connectionOf(op).standIns.push(op);
    else if (!this.quiet.started(op, at)) this.takeLane(op);
  }

  opAlive(op: Op): void {
    for (const waiting of this.quiet.alive(op)) this.takeLane(waiting);
    if (op.lane >= 0) op.slotSet = this.connectionOf(op).slotSets.acquire();
  }

  private takeLane(op: Op): void {
    const connection = this.connectionOf(op);
    if (connection.inLanes >= MOST_LANES) return;
    connection.inLanes++;
    op.lane = connection.lanes.acquire();
  }

  opStop(op: Op): void {
    const { lane, slotSet } = op;
    if (lane < 0) return;
    const connection = this.connectionOf(op);
    op.lane = -1;
    connection.inLanes--;
    connection.lanes.release(lane);
    if (slotSet < 0) return;
    connection.slotSets.release(slotSet);
    connection.slots[slotSet] = Math.max(connection.slots[slotSet] ?? 0, slotsOf(op));
  }

  /** Call it after `opStop` was called for all open operations. `works`: lanes of its works. */
  finish(works: number, endless: ReadonlySet<string>, peers: number): CommSize {
    const { comm, counters, tracks, threads } = this;
    const { instants, instantTracks, waiting } = this.quiet.finish(endless);
    for (const op of waiting) this.takeLane(op);
    const counts = Object.fromEntries(KINDS.map((kind) => [kind, counters[kind].finish()]));
    const connections = [...this.connections.values()];
    const standIns = connections.flatMap((connection) => slotsOfStandIns(connection.standIns));
    const kernels = [...this.kernels.values()].reduce((sum, { count }) => sum + Math.max(1, count), 0);
    const lanes = connections.reduce((sum, connection) => sum + connection.lanes.count, standIns.length);
    const sets = connections.flatMap((connection) => connection.slots);
    const slots = [...sets, ...standIns].reduce((sum, set) => sum + set, 0);
    return {
      comm,
      counts: counts as Record<DrawnKind, TimeCounts>,
      instants,
      tracks: {
        coll: works,
        op: tracks.size + kernels + lanes + instantTracks,
        step: slots,
      },
      threads: { coll: [...threads.coll], step: [...threads.step] },
      isInFile: this.isInFile,
      peers,
    };
  }

  private connectionOf({ channel, isSend, peer, lost }: Op): Connection {
    const key = ((peer & 0x3fffff) * 512 + (channel & 0xff) * 2 + (isSend ? 1 : 0)) * 2 + (lost ? 1 : 0);
    let connection = this.connections.get(key);
    if (!connection) {
      connection = {
        standIns: [],
        lanes: new LaneNumbers(),
        inLanes: 0,
        slotSets: new LaneNumbers(),
        slots: [],
      };
      this.connections.set(key, connection);
    }
    return connection;
  }
}

const channelOf = ({ channel, phase }: Kernel): number => channel * 2 + Number(phase !== null);

/** Further lanes are not counted. This bounds memory. */
const MOST_LANES = 1024;

/** Slots for the steps in the file. */
const slotsOf = ({ stepsDone, openSteps }: Op): number => Math.min(stepsDone + openSteps.length, NCCL_STEPS);

/** By lane. */
function slotsOfStandIns(standIns: readonly Op[]): number[] {
  const lanes = new LaneNumbers();
  const slots: number[] = [];
  for (const op of [...standIns].sort((a, b) => a.start - b.start)) {
    const lane = lanes.acquire(op.start);
    lanes.release(lane, seenUntil(op) ?? Infinity);
    slots[lane] = Math.max(slots[lane] ?? 0, slotsOf(op));
  }
  return slots;
}
