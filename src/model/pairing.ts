/**
 * Pairs the records of one file: every start, state and stop becomes part of a host span, work, op, step or kernel, and
 * a listener is told in the order of ticks. One pass, streaming: only what is still open, and recent parents, are kept.
 *
 * Both passes of `merge` run this: the scan to learn when work ended, the conversion to draw it.
 */

import { ticks, type Ticks } from '../base/time.js';
import { Kind } from '../format/constants.js';
import { tagBits } from '../format/handle.js';
import type { FileFacts, OpenFold, RecordColumns, RingFacts, Run } from '../reader/types.js';
import { EventFactory } from './event_factory.js';
import { EventTable, type Event } from './event_table.js';
import { KernelClock } from './kernel_clock.js';
import {
  applyCtrlState,
  applyOpState,
  applyStepState,
  checkHostState,
  foldPeerWait,
  isKernelStop,
} from './states.js';
import {
  extra64,
  extraBigint,
  handleKey,
  keyPosition,
  keyRing,
  readState,
  startKey,
  type HandleKey,
  type StateFields,
} from './record_fields.js';
import type { Ctrl, Op, Unplaced, Work, WorkListener } from './types.js';

/** ProxyCtrl events of one thread that a fold may still speak of. */
const RECENT_CTRL = 64;

export interface PairedFile extends Pick<FileFacts, 'header' | 'communicators' | 'strings'> {
  readonly rings: readonly Pick<RingFacts, 'ring' | 'class'>[];
}

export class Pairing {
  readonly unplaced: Unplaced = {
    beganBefore: 0,
    afterStop: 0,
    foreign: 0,
    repeatedStates: 0,
    unknownStates: new Map(),
    unknownKinds: new Map(),
  };
  readonly kernelClock = new KernelClock();

  /** Open events, and those whose children may still come. */
  private readonly known: EventTable;
  private readonly factory: EventFactory;
  private readonly tag17: number;
  private readonly recentCtrl = new Map<number, HandleKey[]>();
  /** Position of each ring's first record; before it comes, all that others speak of is older. */
  private readonly windowStart = new Map<number, number>();
  private readonly stateFields: StateFields = { state: 0, value: null };

  constructor(
    file: PairedFile,
    private readonly listener: Partial<WorkListener>,
  ) {
    this.tag17 = tagBits(file.header.tag);
    this.known = new EventTable(file.rings);
    this.factory = new EventFactory(file, this.kernelClock, (key) => this.known.get(key));
    for (const { ring } of file.rings) this.windowStart.set(ring, Infinity);
  }

  run({ ring, records, from, end }: Run): void {
    if (this.windowStart.get(ring) === Infinity) this.windowStart.set(ring, records.position[from]!);
    for (let i = from; i < end; i++) this.record(ring, records, i);
  }

  /** Repeats that were still going on when the file was last written. */
  openFolds(folds: readonly OpenFold[]): void {
    for (const fold of folds) {
      const event = this.known.get(handleKey(fold.handleLow, fold.handleHigh, this.tag17));
      if (event?.type === 'step' && fold.state !== 'start')
        foldPeerWait(event, fold.state, fold.count, fold.lastTick);
    }
  }

  private record(ring: number, records: RecordColumns, i: number): void {
    const kind = records.kind[i]!;
    const at = ticks(records.tick[i]!);
    if (kind === Kind.State) this.state(records, i, at);
    else if (kind === Kind.Stop) this.stop(records, i, at);
    else if (kind === Kind.Fold) this.fold(records, i);
    else if (kind >= Kind.StartGroup && kind <= Kind.StartUnknown) this.start(ring, kind, records, i, at);
    else count(this.unplaced.unknownKinds, kind);
  }

  private start(ring: number, kind: number, records: RecordColumns, i: number, at: Ticks): void {
    const parent = handleKey(records.word1Low[i]!, records.word1High[i]!, this.tag17);
    const event = this.factory.make(ring, kind, parent, records, i, at);
    const key = startKey(ring, records.position[i]!);
    this.known.set(key, event);
    switch (event.type) {
      case 'host':
        this.listener.hostStart?.(event, at);
        break;
      case 'work':
        this.listener.workStart?.(event, at);
        break;
      case 'op':
        if (event.work) childStarted(event.work);
        this.listener.opStart?.(event, at);
        break;
      case 'step':
        if (event.op.lost) this.standIn(parent, event.op, at);
        this.listener.stepStart?.(event, at);
        break;
      case 'kernel':
        if (event.work) childStarted(event.work);
        this.listener.kernelStart?.(event, at);
        break;
      case 'ctrl':
        this.forgetOldCtrl(ring, key);
    }
  }

  /** One stand-in serves all steps of an operation whose start was overwritten. */
  private standIn(key: HandleKey, op: Op, at: Ticks): void {
    if (this.known.get(key)) return;
    this.known.set(key, op);
    this.listener.opStart?.(op, at);
  }

  /** The recorder folds quick idle/active edges into earlier ones, so a thread's newest events stay known. */
  private forgetOldCtrl(ring: number, key: HandleKey): void {
    const recent = this.recentCtrl.get(ring) ?? [];
    recent.push(key);
    if (recent.length > RECENT_CTRL) this.known.delete(recent.shift()!);
    this.recentCtrl.set(ring, recent);
  }

  private state(records: RecordColumns, i: number, at: Ticks): void {
    const event = this.find(records, i);
    if (!event) return;
    const { stateFields, listener, unplaced } = this;
    readState(records, i, stateFields);
    switch (event.type) {
      case 'step':
        applyStepState(event, stateFields, at, listener, unplaced);
        break;
      case 'op':
        applyOpState(event, stateFields, at, listener, unplaced);
        break;
      case 'kernel':
        if (isKernelStop(stateFields, unplaced)) event.timerStop = this.kernelClock.stopStamp(records, i);
        break;
      case 'ctrl':
        applyCtrlState(event, stateFields, at, listener, unplaced);
        break;
      case 'host':
      case 'work':
        checkHostState(event.kind, stateFields, unplaced);
    }
  }

  private stop(records: RecordColumns, i: number, at: Ticks): void {
    const event = this.find(records, i);
    if (!event || event.type === 'ctrl') return; // a ProxyCtrl event's states say all
    if (event.type === 'work' ? event.enqueued !== null : event.stop !== null) {
      this.unplaced.afterStop++;
      return;
    }
    if (event.type === 'work') event.enqueued = at;
    else event.stop = at;
    this.stopped(event, at);
    // Nobody's parents, and the most frequent of all: not kept for children to come.
    if (event.type === 'step' || event.type === 'kernel') this.known.delete(this.keyOf(records, i));
  }

  private stopped(event: Exclude<Event, Ctrl>, at: Ticks): void {
    switch (event.type) {
      case 'host':
        this.listener.hostStop?.(event, at);
        break;
      case 'work':
        this.listener.workEnqueued?.(event, at);
        break;
      case 'op':
        if (event.work) event.work.openChildren--;
        this.listener.opStop?.(event, at);
        break;
      case 'step':
        this.listener.stepStop?.(event, at);
        break;
      case 'kernel':
        if (event.work) event.work.openChildren--;
        this.listener.kernelStop?.(event, at);
    }
  }

  private fold(records: RecordColumns, i: number): void {
    const event = this.find(records, i);
    if (!event) return;
    const state = records.word2Low[i]!;
    const lastTick = this.factory.relativeTick(extraBigint(records, i, 1, 0));
    if (event.type === 'step') foldPeerWait(event, state, extra64(records, i, 1, 1), lastTick);
    else if (event.type === 'ctrl')
      applyCtrlState(event, { state, value: null }, lastTick, this.listener, this.unplaced);
  }

  private keyOf(records: RecordColumns, i: number): HandleKey {
    return handleKey(records.word1Low[i]!, records.word1High[i]!, this.tag17);
  }

  /** The event a state, stop or fold speaks of; what cannot be found is counted by cause. */
  private find(records: RecordColumns, i: number): Event | undefined {
    const key = this.keyOf(records, i);
    const event = key < 0 ? undefined : this.known.get(key);
    if (event) return event;
    if (key < 0) this.unplaced.foreign++;
    else if (keyPosition(key) < (this.windowStart.get(keyRing(key)) ?? 0)) this.unplaced.beganBefore++;
    else this.unplaced.afterStop++;
    return undefined;
  }
}

function childStarted(work: Work): void {
  work.children++;
  work.openChildren++;
}

function count<K>(map: Map<K, number>, key: K): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}
