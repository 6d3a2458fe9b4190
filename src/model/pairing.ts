/**
 * Pairs the records of one file: every start, state and stop becomes part of a host span, work, op, step or kernel. A listener is called in
 * the order of ticks. One streaming pass keeps only open events and recent parents. Both passes of `merge` run this: the scan learns when
 * work ended, the conversion draws it.
 */

import { ticks, type Ticks } from '../base/time.js';
import { Kind } from '../rankfile/format/constants.js';
import { tagBits } from '../rankfile/format/handle.js';
import { State } from '../rankfile/format/nccl.js';
import type { FileFacts, OpenFold, RecordColumns, RingFacts, RowRange } from '../rankfile/types.js';
import { countKernelStart, countKernelStop, countOpStart, countOpStop } from './children.js';
import { EventFactory, type Known } from './event_factory.js';
import { EventTable, type Event, type StepName } from './event_table.js';
import { groupEnd } from './host_factory.js';
import { KernelClock } from './kernel_clock.js';
import { OddRecords, type OddCounts } from './odd_records.js';
import { checkHostStart, checkInterfaces, checkStart } from './odd_starts.js';
import { NO_ORIGINATORS, type Originators } from './pxn.js';
import { lostOp } from './op_factory.js';
import { applyCtrlState, applyOpState, isHostState, type Sinks } from './states.js';
import { StepPairing, type Surroundings } from './step_pairing.js';
import type { StepListener } from './step_events.js';
import type { StepTable } from './step_table.js';
import {
  foldOf,
  handleKey,
  keyPosition,
  keyRing,
  readState,
  startKey,
  word1,
  type HandleKey,
  type StateFields,
} from './record_fields.js';
import { hasStopped, typeOf, type Stoppable } from './stoppable.js';
import { StampOwners } from './stamp_owners.js';
import type { HostSpan, Kernel, Op, WorkListener } from './types.js';

const TWO_31 = 2 ** 31;

/** ProxyCtrl events per thread that a fold may still refer to. */
const RECENT_CTRL = 64;

export interface PairedFile extends Pick<FileFacts, 'header' | 'communicators' | 'strings'> {
  readonly rings: readonly Pick<RingFacts, 'ring' | 'class' | 'capacity' | 'chunks'>[];
}

/**
 * It passes itself, not functions, to the objects that call it back. Otherwise V8 discards compiled code together with the functions of one
 * file, and compiles the same code again for the next file.
 */
export class Pairing implements Surroundings, Known {
  /** Open events, and those whose children may still come. */
  private readonly known: EventTable;
  private readonly stepPairing: StepPairing;
  private readonly factory: EventFactory;
  private readonly kernelClock: KernelClock;
  private readonly stampOwners: StampOwners;
  private readonly odd: OddRecords;
  private readonly sinks: Sinks;
  readonly tag17: number;
  readonly tickBase: bigint;
  private readonly recentCtrl = new Map<number, HandleKey[]>();
  /** Position of each ring's first record. A reference to an earlier position means an overwritten record. */
  private readonly windowStart = new Map<number, number>();
  private readonly stateFields: StateFields = { state: 0, value: null };
  private standIns = 0;

  /**
   * `originators`: what other files know about foreign operations. `neverEnds`: whether NCCL never reports an operation's end, if already
   * known.
   */
  constructor(
    file: PairedFile,
    private readonly listener: Partial<WorkListener & StepListener>,
    originators: Originators = NO_ORIGINATORS,
    private readonly neverEnds: (op: Op) => boolean = () => false,
  ) {
    this.odd = new OddRecords(listener);
    this.sinks = { listener, odd: this.odd };
    this.tag17 = tagBits(file.header.tag);
    this.tickBase = file.header.tickBase;
    this.kernelClock = new KernelClock(file.header.startRealtime);
    this.stampOwners = new StampOwners(file.header.tickHz);
    this.known = new EventTable(file.rings);
    this.stepPairing = new StepPairing(listener, this.odd, this);
    this.factory = new EventFactory(file, this.kernelClock, originators, this);
    for (const { ring } of file.rings) this.windowStart.set(ring, Infinity);
    checkInterfaces(file.communicators.values(), this.odd);
  }

  /** The steps in flight. */
  get steps(): StepTable {
    return this.stepPairing.table;
  }

  /** Number of step records that get the time of the record before them. */
  get reorderedSteps(): number {
    return this.stepPairing.reordered;
  }

  get oddCounts(): OddCounts {
    return this.odd.counts;
  }

  read({ ring, records, from, end }: RowRange): void {
    if (this.windowStart.get(ring) === Infinity) this.windowStart.set(ring, records.position[from]!);
    this.stepPairing.read(ring, records, from, end);
  }

  /** Repeats that were still going on at the file's last write. Returns the newest of known steps; null: none. */
  openFolds(folds: readonly OpenFold[]): Ticks | null {
    let newest: Ticks | null = null;
    for (const fold of folds) {
      const row = this.steps.find(fold.handleLow, fold.handleHigh);
      if (row < 0) continue;
      this.stepPairing.addRepeats(row, fold);
      if (newest === null || fold.lastTick > newest) newest = fold.lastTick;
    }
    return newest;
  }

  other(ring: number, records: RecordColumns, i: number): void {
    const kind = records.kind[i]!;
    const at = tickOf(records, i);
    if (kind === Kind.State) this.state(records, i, at);
    else if (kind === Kind.Stop) this.stop(records, i, at);
    else if (kind === Kind.Fold) this.fold(records, i);
    else if (kind >= Kind.StartGroup && kind <= Kind.StartUnknown) this.start(ring, kind, records, i, at);
    else this.odd.unknownKind(kind, at);
  }

  private start(ring: number, kind: number, records: RecordColumns, i: number, at: Ticks): void {
    const parent = this.keyOf(records, i);
    const event = this.factory.make(ring, kind, parent, records, i, at);
    const key = startKey(ring, records.position[i]!);
    const { listener, odd } = this;
    this.known.set(key, event);
    switch (event.type) {
      case 'host':
        checkHostStart(event, at, odd);
        listener.hostStart?.(event, at);
        break;
      case 'work':
        checkStart(event, at, odd);
        listener.workStart?.(event, at);
        break;
      case 'op':
        if (event.mayBeOtherDirection && this.neverEnds(event)) event.parent = 'known';
        checkStart(event, at, odd);
        countOpStart(event);
        listener.opStart?.(event, at);
        break;
      case 'kernel':
        checkStart(event, at, odd);
        countKernelStart(event);
        this.stampOwners.judge(event, at);
        listener.kernelStart?.(event, at);
        break;
      case 'ctrl':
        this.forgetOldCtrl(ring, key);
    }
  }

  opOf(ring: number, records: RecordColumns, i: number): Op {
    const parent = this.keyOf(records, i);
    const known = this.known.get(parent);
    const op =
      known?.type === 'op' ? known : lostOp(ring, this.factory.commOf(records, i), this.stepPairing.now);
    if (op.lost) this.standIn(parent, op, this.stepPairing.now);
    if (!op.isAlive) this.showLife(op);
    return op;
  }

  named(key: HandleKey): Event | StepName | undefined {
    return this.known.get(key) ?? this.stepNamed(key);
  }

  /** A step as parent of a plugin's event. */
  private stepNamed(key: HandleKey): StepName | undefined {
    if (key < 0) return undefined;
    const low = ((key % TWO_31) * 2) >>> 0;
    const row = this.steps.find(low, ((this.tag17 << 15) | Math.floor(key / TWO_31)) >>> 0);
    return row < 0 ? undefined : { type: 'step', number: this.steps.number[row]!, op: this.steps.op[row]! };
  }

  /** One stand-in serves all steps of an operation whose start was overwritten. */
  private standIn(key: HandleKey, op: Op, at: Ticks): void {
    if (this.known.get(key)) return;
    this.stepPairing.flush();
    op.standIn = this.standIns++;
    this.known.set(key, op);
    this.listener.opStart?.(op, at);
  }

  private showLife(op: Op): void {
    if (op.isAlive) return;
    op.isAlive = true;
    if (!op.lost) this.listener.opAlive?.(op);
  }

  /** The recorder folds quick idle/active changes into earlier events, so a thread's newest events stay known. */
  private forgetOldCtrl(ring: number, key: HandleKey): void {
    const recent = this.recentCtrl.get(ring) ?? [];
    recent.push(key);
    if (recent.length > RECENT_CTRL) this.known.delete(recent.shift()!);
    this.recentCtrl.set(ring, recent);
  }

  private state(records: RecordColumns, i: number, at: Ticks): void {
    const event = this.find(records, i, at);
    if (!event) return;
    const { stateFields, sinks } = this;
    readState(records, i, stateFields);
    if (event.type === 'kernel') {
      this.kernelState(event, records, i, at);
      return;
    }
    if (event.type !== 'ctrl' && hasStopped(event) && event.type !== 'work') {
      this.odd.afterStop(typeOf(event), stateFields.state, at);
      return;
    }
    switch (event.type) {
      case 'op':
        this.showLife(event);
        applyOpState(event, stateFields, at, sinks);
        break;
      case 'ctrl':
        applyCtrlState(event, stateFields, at, sinks);
        break;
      case 'host':
        this.hostState(event, stateFields.state, at);
        break;
      case 'work':
        this.odd.unknownState(event.kind, stateFields.state, at);
    }
  }

  /** A kernel's one state carries the GPU's stop stamp. NCCL may report a completion under the previous kernel's name. */
  private kernelState(kernel: Kernel, records: RecordColumns, i: number, at: Ticks): void {
    const { state } = this.stateFields;
    const stop = kernel.phase === null ? State.KernelChStop : State.KernelPhaseStop;
    if (state !== stop) this.odd.unknownState(typeOf(kernel), state, at);
    else if (kernel.stop === null) kernel.timerStop = this.kernelClock.stopStamp(records, i);
    else {
      kernel.strayCompletions++;
      this.odd.kernelWithoutStart(kernel.channel, at);
    }
  }

  private hostState(span: HostSpan, state: number, at: Ticks): void {
    if (!isHostState(span.kind, state)) this.odd.unknownState(span.kind, state, at);
    if (span.kind !== 'GroupApi' || state !== State.GroupEndApiStart) return;
    if (span.ending) {
      this.odd.stateAgain(span.kind, state, at);
      return;
    }
    span.ending = groupEnd(span, at);
    this.listener.hostStart?.(span.ending, at);
  }

  private stop(records: RecordColumns, i: number, at: Ticks): void {
    const event = this.find(records, i, at);
    if (!event || event.type === 'ctrl') return; // the states of a ProxyCtrl event are all it has
    if (hasStopped(event)) {
      this.stopAgain(event, at);
      return;
    }
    switch (event.type) {
      case 'host':
        if (event.ending) this.hostStop(event.ending, at);
        this.hostStop(event, at);
        break;
      case 'work':
        event.enqueued = at;
        this.listener.workEnqueued?.(event, at);
        break;
      case 'op':
        this.opStop(event, at);
        break;
      case 'kernel':
        this.kernelStop(event, at);
    }
  }

  private stopAgain(event: Stoppable, at: Ticks): void {
    if (event.type === 'host' && event.kind === 'NetPlugin') this.odd.counts.netStopsAgain++;
    else if (event.type === 'kernel' && event.strayCompletions > 0) event.strayCompletions--;
    else this.odd.afterStop(typeOf(event), null, at);
  }

  private hostStop(span: HostSpan, at: Ticks): void {
    span.stop = at;
    this.listener.hostStop?.(span, at);
  }

  /** All steps of an operation stop before it does, but NCCL 2.24 to 2.26 may lose the stops of receives. */
  private opStop(op: Op, at: Ticks): void {
    this.showLife(op);
    while (op.openSteps.length > 0) {
      this.odd.counts.stepsWithoutStop++;
      this.stepPairing.leave(op.openSteps.at(-1)!, at);
    }
    this.stepPairing.flush();
    op.stop = at;
    countOpStop(op);
    this.listener.opStop?.(op, at);
  }

  private kernelStop(kernel: Kernel, at: Ticks): void {
    kernel.stop = at;
    countKernelStop(kernel);
    this.listener.kernelStop?.(kernel, at);
  }

  private fold(records: RecordColumns, i: number): void {
    const event = this.find(records, i, tickOf(records, i));
    if (event?.type !== 'ctrl') return;
    const { state, lastTick } = foldOf(records, i, this.tickBase);
    if (state !== 'start') applyCtrlState(event, { state, value: null }, lastTick, this.sinks);
  }

  private keyOf(records: RecordColumns, i: number): HandleKey {
    return handleKey(records.word1Low[i]!, records.word1High[i]!, this.tag17);
  }

  /** The event of a state, stop or fold. Records without an event are counted by cause. */
  private find(records: RecordColumns, i: number, at: Ticks): Event | undefined {
    const key = this.keyOf(records, i);
    const event = key < 0 ? undefined : this.known.get(key);
    if (event) return event;
    if (key < 0) this.odd.foreign(word1(records, i), at);
    else if (keyPosition(key) < (this.windowStart.get(keyRing(key)) ?? 0)) this.odd.counts.beganBefore++;
    else this.odd.noSuchEvent(word1(records, i), at);
    return undefined;
  }
}

const tickOf = (records: RecordColumns, i: number): Ticks => ticks(records.tick[i]!);
