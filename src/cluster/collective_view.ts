/**
 * A row of the table of collectives as a `Collective`. It stores only the table and the row, and reads each field from the columns when
 * asked.
 */

import type { TraceNs } from '../base/time.js';
import { BASES, type CollectiveTable } from './collective_table.js';
import type { Collective, Late } from './collective_types.js';

const NO_FILES: readonly number[] = [];

/** The same collective: files in which it is open or absent are cut off. */
export const asCutOff = (one: Collective): Collective =>
  Object.create(one, {
    open: { value: NO_FILES },
    absent: { value: NO_FILES },
    cutOff: { value: [...one.open, ...one.absent].sort((a, b) => a - b) },
  }) as Collective;

export class CollectiveView implements Collective {
  constructor(
    private readonly table: CollectiveTable,
    private readonly row: number,
  ) {}

  get func(): string {
    return this.table.funcs.name(this.table.columns.func[this.row]!);
  }

  get datatype(): string {
    return this.table.datatypes.name(this.table.columns.datatype[this.row]!);
  }

  get channels(): number {
    return this.table.columns.channels[this.row]!;
  }

  get plan(): string {
    return this.table.plans.name(this.table.columns.plan[this.row]!);
  }

  get count(): number {
    return this.table.columns.count[this.row]!;
  }

  get root(): number {
    return this.table.columns.root[this.row]!;
  }

  get seq(): number {
    return this.table.columns.seq[this.row]!;
  }

  get ordinal(): number {
    return this.table.columns.ordinal[this.row]!;
  }

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

  get lastRank(): number {
    return this.table.columns.lastRank[this.row]!;
  }

  get arrived(): number {
    return this.table.columns.arrived[this.row]!;
  }

  get isFed(): boolean {
    return this.table.columns.isFed[this.row] === 1;
  }

  get end(): TraceNs | null {
    return known(this.table.columns.end[this.row]!);
  }

  get enqueued(): TraceNs | null {
    return known(this.table.columns.enqueued[this.row]!);
  }

  get open(): readonly number[] {
    return this.table.open.get(this.row) ?? NO_FILES;
  }

  get cutOff(): readonly number[] {
    return NO_FILES;
  }

  get aborted(): readonly number[] {
    return this.table.aborted.get(this.row) ?? NO_FILES;
  }

  get different(): readonly number[] {
    return this.table.different.get(this.row) ?? NO_FILES;
  }

  get absent(): readonly number[] {
    return this.table.absent.get(this.row) ?? NO_FILES;
  }

  get notKnown(): readonly number[] {
    return this.table.notKnown.get(this.row) ?? NO_FILES;
  }

  get late(): Collective['late'] {
    return { onGpu: this.lateOnGpu(), onHost: this.lateOnHost() };
  }

  together(size: number): ReturnType<Collective['together']> {
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
