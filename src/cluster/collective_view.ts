/**
 * What all ranks of a communicator did together: each collective once, from the first arrival to the last completion. Files are named by
 * their index in the run. Times are on the trace's axis, as exact as its clocks. A collective stores only the table and its row, and reads
 * each field from the columns when asked.
 */

import type { TraceNs } from '../base/time.js';
import { BASES, type CollectiveTable } from './collective_table.js';
import type { Late, LateTogether } from './collective_types.js';

const NO_FILES: readonly number[] = [];

export interface ClusterComm {
  readonly commId: bigint;
  readonly name: string;
  /** As NCCL reports it; 0: not reported. */
  readonly nRanks: number;
  /** Files with this communicator. */
  readonly files: readonly number[];
  /** By first call. */
  readonly collectives: readonly Collective[];
}

export type Collective = Pick<CollectiveView, keyof CollectiveView>;

/** The same collective: files in which it is open or absent are cut off. */
export const asCutOff = (one: Collective): Collective =>
  Object.create(one, {
    open: { value: NO_FILES },
    absent: { value: NO_FILES },
    cutOff: { value: [...one.open, ...one.absent].sort((a, b) => a - b) },
  }) as Collective;

export class CollectiveView {
  constructor(
    private readonly table: CollectiveTable,
    /** In the table: the same whenever these files are joined. */
    readonly row: number,
  ) {}

  get func(): string {
    return this.table.funcs.name(this.table.columns.func[this.row]!);
  }

  get datatype(): string {
    return this.table.datatypes.name(this.table.columns.datatype[this.row]!);
  }

  /** Channels that NCCL announces; 0: not known. */
  get channels(): number {
    return this.table.columns.channels[this.row]!;
  }

  /** Algorithm and protocol, as RING/SIMPLE; several if its ranks differ: RING/SIMPLE and TREE/LL. '': NCCL names none. */
  get plan(): string {
    return this.table.plans.name(this.table.columns.plan[this.row]!);
  }

  /** As NCCL reports it: in bytes for AllGather and Broadcast. */
  get count(): number {
    return this.table.columns.count[this.row]!;
  }

  /** For Broadcast and Reduce, else -1. */
  get root(): number {
    return this.table.columns.root[this.row]!;
  }

  get seq(): number {
    return this.table.columns.seq[this.row]!;
  }

  /** Which replay of a captured graph. */
  get ordinal(): number {
    return this.table.columns.ordinal[this.row]!;
  }

  /** When the first host called it; ranks come later (arrival.ts). */
  get firstCalled(): TraceNs {
    return this.table.columns.firstCalled[this.row]! as TraceNs;
  }

  get firstArrival(): TraceNs {
    return this.table.columns.firstArrival[this.row]! as TraceNs;
  }

  get firstFile(): number {
    return this.table.columns.firstFile[this.row]!;
  }

  get lastArrival(): TraceNs {
    return this.table.columns.lastArrival[this.row]! as TraceNs;
  }

  get lastFile(): number {
    return this.table.columns.lastFile[this.row]!;
  }

  /** If the process has several GPUs: which rank of the communicator. */
  get lastRank(): number {
    return this.table.columns.lastRank[this.row]!;
  }

  /** How many ranks were seen to arrive; each GPU of a process counts. */
  get arrived(): number {
    return this.table.columns.arrived[this.row]!;
  }

  /** Of how many of these it is known when they came. The others only waited for data. */
  get known(): number {
    return this.table.columns.known[this.row]!;
  }

  /** On at least one rank, all receives (or kernels) that bring the other ranks' data had ended. */
  get isFed(): boolean {
    return this.table.columns.isFed[this.row] === 1;
  }

  /** Latest end that was seen; null: none. With `open` files it is not the end of all. */
  get end(): TraceNs | null {
    return known(this.table.columns.end[this.row]!);
  }

  /** Latest end of an enqueueing, if there is no better end. */
  get enqueued(): TraceNs | null {
    return known(this.table.columns.enqueued[this.row]!);
  }

  /** Files in which it had begun and not ended. */
  get open(): readonly number[] {
    return this.table.open.get(this.row) ?? NO_FILES;
  }

  /** Files of silent ranks that end before the others finished it, or began it (study/cut_off.ts). */
  get cutOff(): readonly number[] {
    return NO_FILES;
  }

  /** Files in which it had not ended when the communicator was finalized. */
  get aborted(): readonly number[] {
    return this.table.aborted.get(this.row) ?? NO_FILES;
  }

  /** Files that entered it with another count, datatype or root than the first of the files did. */
  get different(): readonly number[] {
    return this.table.different.get(this.row) ?? NO_FILES;
  }

  /** Files that were recording this communicator before and after it began, and never saw it. */
  get absent(): readonly number[] {
    return this.table.absent.get(this.row) ?? NO_FILES;
  }

  /** Files that did not see it, and whose records of this communicator begin later: not known. */
  get notKnown(): readonly number[] {
    return this.table.notKnown.get(this.row) ?? NO_FILES;
  }

  /**
   * The last on the GPU and the last caller. Mostly they are the same rank. They differ if the last caller delayed the last rank on the
   * GPU.
   */
  get late(): { readonly onGpu: Late; readonly onHost: Late } {
    return { onGpu: this.lateOnGpu(), onHost: this.lateOnHost() };
  }

  /** Ranks that came later than all others, of `size` ranks: up to half of them. Empty for old collectives of a long run. */
  together(size: number): Record<'onGpu' | 'onHost', readonly LateTogether[]> {
    const { table, row } = this;
    return { onGpu: table.onGpu.together(row, size), onHost: table.onHost.together(row, size) };
  }

  private lateOnGpu(): Late {
    const { table, row } = this;
    const { lastFile, lastRank, gpuBasis, gpuCalled, gpuEarliest, gpuIdleFrom, gpuIdleTo } = table.columns;
    const [file, rank, to] = [lastFile[row]!, lastRank[row]!, gpuEarliest[row]! as TraceNs];
    return {
      file,
      rank,
      basis: BASES[gpuBasis[row]!]!,
      called: gpuCalled[row]! as TraceNs,
      others: table.came.but(row, file, rank) ?? to,
      idle: { from: gpuIdleFrom[row]!, to: gpuIdleTo[row]! as TraceNs },
      to,
    };
  }

  private lateOnHost(): Late {
    const { table, row } = this;
    const { hostFile, hostRank, hostCalled, hostAt, hostIdleFrom, hostIdleTo } = table.columns;
    const [file, rank, called] = [hostFile[row]!, hostRank[row]!, hostCalled[row]! as TraceNs];
    const others = table.waited.but(row, file, rank) ?? called;
    // If its GPU had other work for longer than the others waited, its call is not the reason.
    const isReason = hostAt[row]! - called <= called - others;
    return {
      file,
      rank,
      basis: 'call',
      called,
      others: isReason ? others : called,
      idle: { from: hostIdleFrom[row]!, to: hostIdleTo[row]! as TraceNs },
      to: called,
    };
  }
}

const known = (at: number): TraceNs | null => (Number.isNaN(at) ? null : (at as TraceNs));
