/**
 * The picture of one rank. The kernel pairs the file's records and draws them (src/kernel/draw). Here it is told what else is known of the
 * rank, and the rare tracks are drawn: communicators, and the recorder itself.
 */

import type { Ticks, TraceNs } from '../base/time.js';
import type { GpuLines } from '../clocks/evidence/gpu_clocks.js';
import type { ClockMap } from '../clocks/clock_map.js';
import { traceTime, type TickScale } from '../clocks/domains.js';
import type { OriginTable } from '../cluster/pxn.js';
import { flowEnds, WORK_ENDS, writeWorkEnds } from '../kernel/host/drawn_rows.js';
import { addTexts, type KernelFile } from '../kernel/host/kernel_file.js';
import type { KernelExports } from '../kernel/host/load.js';
import { addRings } from '../kernel/host/scan_kernel.js';
import { commKey, readTransferName, workCorrelation } from '../model/identity.js';
import type { PeerTraffic } from '../model/peer_traffic.js';
import { type Communicator, recordsKernels } from '../model/recording.js';
import { outcomeAt, type WorkEndTable } from '../model/work_end_table.js';
import { WORK_OUTCOMES } from '../model/work_end.js';
import type { RankFileStream } from '../rankfile/index.js';
import type { RankScan } from '../scan/scan.js';
import { BlockWriter, type BlockOptions, type RankAnswers } from './perfetto/block_writer.js';
import { commLabel, drawCommunicators } from './tracks/comm_groups.js';
import type { FlowEnds } from './tracks/flow_census.js';
import type { RankNames } from './tracks/rank_names.js';
import { describeRecorder, drawRecorder, type Silence } from './tracks/recorder_tracks.js';
import type { DrawPlan } from './tracks/selection.js';
import type { TrackRef } from './tracks/sink.js';
import { specOf, type Named } from './tracks/specs.js';

/** What is known of the rank besides its file. */
export interface RankFacts {
  readonly names: RankNames;
  readonly map: ClockMap;
  readonly scale: TickScale;
  readonly gpuLines: GpuLines;
  readonly workEnds: WorkEndTable;
  readonly standInSteps: Uint32Array;
  /** The newest heartbeat, record or poll of the file; null: none. */
  readonly lastSign: Ticks | null;
  /** What is drawn from `lastSign` on, because the run went on; null: nothing. */
  readonly silence: Silence | null;
  /** Calls without further events, by row. */
  readonly bareCalls: ReadonlyMap<number, string>;
  readonly endlessConnections: RankScan['endlessConnections'];
  readonly origins: Pick<OriginTable, 'contexts' | 'works'>;
  /**
   * Whether an arrow to that rank of the communicator (by commId) can be drawn. Its file must be on the same axis. With `needsCounter` it
   * must be on the same counter, for transfers that were not checked against their other end.
   */
  readonly sharesClock: (commId: bigint, commRank: number, needsCounter: boolean) => boolean;
  /** Transfers with contradicting ends: they get no arrow. Ids as `transferName`. */
  readonly brokenTransfers: ReadonlySet<string>;
  /** Connections (`transferName` of their transfers' shared name) without arrows from the operation with this ordinal on. */
  readonly outOfStep: ReadonlyMap<string, number>;
  /** Peers with byte counters of their own. */
  readonly busiestPeers: readonly PeerTraffic[];
  /** Ids of arrows to what another tool recorded of the works begin with this; null: there are none. */
  readonly workArrows: bigint | null;
  /** ns: width of the rates' bins, and the shortest time between drawn samples of totals. */
  readonly rateBinNs: number;
  readonly sampleNs: number;
  /** null: everything is drawn, of all communicators. */
  readonly plan: DrawPlan | null;
  /** Rings whose records are drawn; null: all. */
  readonly rings: ReadonlySet<number> | null;
}

export interface DrawnRank {
  /** Ends of arrows. */
  readonly flows: FlowEnds;
  readonly suspectKernels: number;
  /** Records that are drawn later than recorded, at the time of the record before them in the ring. */
  readonly reordered: number;
}

/** A file with its rings. Its strings, names of communicators and threads are those to be drawn. */
export type DrawnFile = RankFileStream<true>;

export class RankPicture {
  readonly writer: BlockWriter;
  private readonly exports: KernelExports;
  private readonly time: (tick: number) => TraceNs;
  private readonly recorder: TrackRef;
  /** Communicators for which the process executes sends, by number. */
  private readonly origins = new Map<number, Communicator>();

  /** `kernel`: has begun the file. */
  constructor(
    private readonly kernel: KernelFile,
    private readonly file: DrawnFile,
    private readonly facts: RankFacts,
    block: BlockOptions,
  ) {
    const { exports } = kernel.kernel;
    this.exports = exports;
    this.time = traceTime(facts.map, facts.scale);
    const windows = facts.plan?.windows;
    const answers = this.answers();
    this.writer = new BlockWriter({ ...block, windows }, { kernel: kernel.kernel, answers });
    this.begin();
    this.recorder = describeRecorder(this.writer);
    drawCommunicators(
      this.writer,
      this.chosen(),
      this.time,
      ({ number }) => exports.groupOf(number) as TrackRef,
    );
  }

  /** Draws all records. */
  draw(): DrawnRank {
    const { exports, file } = this;
    const { rings } = this.facts;
    const byRing = new Map(file.rings.map((ring) => [ring.ring, ring]));
    this.kernel.kernel.nextSegment = (ring) => byRing.get(ring)!.next() === true;
    exports.beginDrawing();
    addRings(exports, file, (ring) => rings?.has(ring) ?? true);
    exports.run();
    const reordered = exports.finishDrawing(this.recorder);
    const { names, lastSign, silence } = this.facts;
    drawRecorder({ sink: this.writer, file, names, time: this.time, lastSign, silence }, this.recorder);
    this.writer.finishPart();
    return { flows: flowEnds(exports), suspectKernels: exports.suspectBlocks(), reordered };
  }

  /** Tells the kernel all that it does not find in the records. */
  private begin(): void {
    const { exports, facts, file } = this;
    const { scale, map, gpuLines, lastSign } = facts;
    addTexts(exports, file.strings);
    exports.setClock(scale.offset, scale.nsPerTick);
    for (const { from, to, offset, drift } of map.segments) exports.addClockSegment(from, to, offset, drift);
    for (const [comm, { offset, drift }] of gpuLines) exports.addGpuLine(comm, offset, drift);
    const isOver = file.header.life === 'closed' || facts.silence !== null;
    const knownUntil = isOver ? (lastSign ?? NaN) : NaN;
    exports.newPicture(recordsKernels(file), facts.rateBinNs, facts.sampleNs, knownUntil);
    if (facts.workArrows !== null) exports.drawWorkArrows(facts.workArrows);
    this.beginComms();
    for (const { comm, channel, peer, user } of facts.endlessConnections)
      exports.addEndless(comm, channel, peer, user);
    this.beginThreads();
    for (const row of facts.bareCalls.keys()) exports.addBareCall(row);
    const steps = exports.standInSteps(facts.standInSteps.length);
    new Uint32Array(exports.memory.buffer, steps, facts.standInSteps.length).set(facts.standInSteps);
    for (const name of facts.brokenTransfers) exports.addBrokenTransfer(readTransferName(name));
    for (const [name, from] of facts.outOfStep) exports.addOutOfStep(readTransferName(name), from);
    const { communicators } = this.chosen();
    facts.busiestPeers.forEach(({ comm, peer, isSend }, place) => {
      if (communicators.has(comm)) exports.addBusyPeer(place, comm, peer, isSend);
    });
  }

  private beginComms(): void {
    const { exports, file, facts, writer } = this;
    const comms = facts.plan?.comms ?? null;
    for (const [context, { process, comm }] of facts.origins.contexts) {
      const { commId, rank, nRanks, finalized, abi } = comm;
      const owner = writer.text(process);
      const number = exports.addOrigin(context, commId, rank, nRanks, finalized ?? NaN, abi, owner);
      this.origins.set(number, comm);
    }
    for (const [number, comm] of [...file.communicators, ...this.origins]) {
      exports.labelCommunicator(number, writer.text(commLabel(comm)));
      if (comms?.has(commKey(comm)) === false) exports.leaveOut(number);
    }
    if (comms !== null) exports.leaveOutUnknown();
    for (const [parent, work] of facts.origins.works)
      exports.addOriginWork(parent, writer.text(work.func), work.seq ?? NaN, workCorrelation(work) ?? 0);
  }

  private beginThreads(): void {
    const { exports, file } = this;
    const leases = file.leases.map((lease, number) => ({ ...lease, number }));
    leases.sort((a, b) => a.fromTick - b.fromTick);
    for (const { ring, number, fromTick, endTick, fromPosition, tid } of leases)
      exports.addLease(ring, number, fromTick, endTick ?? NaN, fromPosition, tid);
    for (const ring of file.rings) if (ring.class === 'overflow') exports.addOverflowRing(ring.ring);
  }

  private answers(): RankAnswers {
    const { file, facts } = this;
    const { names, busiestPeers, rateBinNs: binNs } = facts;
    const commOf = (number: number): Communicator | null =>
      file.communicators.get(number) ?? this.origins.get(number) ?? null;
    const originator: Named['originator'] = (context) => facts.origins.contexts.get(context) ?? null;
    const named = { file, names, commOf, originator, busiestPeers, binNs };
    return {
      specOf: (what, numbers) => specOf(named, what, numbers),
      sharesClock: (comm, peer, needsCounter) =>
        facts.sharesClock(commOf(comm)!.commId, peer, Boolean(needsCounter)),
      readWorkEnds: (first) => {
        this.writeWorkEnds(first);
      },
    };
  }

  private writeWorkEnds(first: number): void {
    const { exports, facts, writer } = this;
    const { workEnds: ends } = facts;
    const rows = Math.min(WORK_ENDS, ends.outcome.length - first);
    const written = Array.from({ length: rows }, (_, i) => {
      const row = first + i;
      const elsewhere = ends.elsewhere.get(row);
      return {
        outcome: WORK_OUTCOMES.indexOf(outcomeAt(ends, row)),
        lastOp: ends.lastOp[row]!,
        noticed: ends.noticed[row]!,
        until: ends.finalized.get(row) ?? ends.cutOff.get(row) ?? NaN,
        firstStamp: ends.firstStamp[row]!,
        lastStamp: ends.lastStamp[row]!,
        executed: elsewhere?.ops ?? 0,
        executedEnd: elsewhere?.lastEnd ?? NaN,
        executors: elsewhere ? writer.text(elsewhere.executors.join(', ')) : 0,
      };
    });
    writeWorkEnds(exports, written);
  }

  /** The selected communicators. */
  private chosen(): Pick<DrawnFile, 'communicators'> {
    const { communicators } = this.file;
    const comms = this.facts.plan?.comms ?? null;
    if (comms === null) return { communicators };
    return { communicators: new Map([...communicators].filter(([, comm]) => comms.has(commKey(comm)))) };
  }
}

/** The rings with calls and collectives, if only these are drawn: the scan knows when work ended. null: all. */
export function ringsToRead(
  plan: DrawPlan | null,
  callRings: ReadonlySet<number>,
): ReadonlySet<number> | null {
  return plan === null || plan.windows.op || plan.windows.step ? null : callRings;
}
